"""Helpers that several plugins share. They are private to this distribution, and have no access to the host."""
