"""Checks of a loaded host and its surroundings for `pegboard doctor`, and the token cost of tools."""
