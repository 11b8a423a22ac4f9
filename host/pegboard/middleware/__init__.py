"""Middleware: helpers to write it, checks of its methods, and the chain around each handler."""
