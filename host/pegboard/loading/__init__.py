"""From entry points to plugins that run, or the reason why not."""
