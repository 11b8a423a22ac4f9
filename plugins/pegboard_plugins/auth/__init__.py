"""Callers and their rights: logins, tokens of callers and of other services, and scopes."""
