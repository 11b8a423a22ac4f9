"""Modules with the names of other frameworks: a server written for one of them runs after changing its import."""
