"""Nothing here; each module is a plugin."""
