"""The strength of secrets that strangers may try to guess."""

from __future__ import annotations

SECRET_BYTES = 32
"""The minimum size in bytes of such a secret (RFC 7518, section 3.2, for HS256)."""
_LEAST_VARIED = 8
"""The minimum number of different characters in a random secret."""


def is_weak_secret(secret: str) -> bool:
    """Return True if a token or key is too short or too uniform to resist guessing."""
    return len(secret.encode("utf-8", "surrogatepass")) < SECRET_BYTES or len(set(secret)) < _LEAST_VARIED
