"""Facts about a configuration and a loaded host that several commands print."""
