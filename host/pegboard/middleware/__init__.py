"""Middleware: helpers for authors, the check of its methods, and the chain around each handler."""
