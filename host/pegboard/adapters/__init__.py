"""Helpers for error adapters, which convert failures of services to typed errors."""
