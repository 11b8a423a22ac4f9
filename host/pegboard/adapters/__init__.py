"""Helpers for error adapters: failures of services as typed errors."""
