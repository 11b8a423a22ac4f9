"""Toolkits in folders and in packages that have no entry point."""
