"""`pegboard doctor`: checks of the configuration, the plugins, and all that a server needs."""
