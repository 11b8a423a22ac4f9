"""Exceptions of clients of other services as errors of tools."""
