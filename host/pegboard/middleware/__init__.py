"""Middleware: helpers to write it, rules for it, and the chain around each method."""
