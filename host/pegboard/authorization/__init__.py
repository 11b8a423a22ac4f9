"""Tokens, scopes, secrets and metadata that tools require of a call."""
