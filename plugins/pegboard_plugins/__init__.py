"""Built-in plugins of pegboard; each folder or module is one plugin, loaded by its own entry point."""
