"""Stores of secrets."""
