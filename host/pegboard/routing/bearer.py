"""The strength of the operator token, and how a request proves that it comes from the operator."""

from __future__ import annotations

SECRET_BYTES = 32
"""The minimum size in bytes of a secret that strangers may try to guess (RFC 7518, section 3.2, for HS256)."""
PROOF_WITHOUT_HEADER = (
    "connect to a Unix socket as the operator's user, or set `loopback_is_operator = true` for the HTTP server"
)
"""The proof that a request comes from the operator, for requests whose `Authorization` header has another token."""
PROOF = (
    "send the operator token as `Authorization: Bearer` (`pegboard operator-token` prints it), " + PROOF_WITHOUT_HEADER
)
"""A description for messages: how a request proves that it comes from the operator."""
_LEAST_VARIED = 8
"""The minimum number of different characters in a random secret."""


def is_weak_secret(secret: str) -> bool:
    """Return True if a token or key is too short or too uniform to resist guessing."""
    return len(secret.encode("utf-8", "surrogatepass")) < SECRET_BYTES or len(set(secret)) < _LEAST_VARIED
