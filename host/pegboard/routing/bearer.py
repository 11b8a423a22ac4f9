"""The form of bearer tokens and scopes, and the strength of secrets that strangers may try to guess."""

from __future__ import annotations

import re

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
_SCOPE = r"[\x21\x23-\x5b\x5d-\x7e]+"
_BEARER = r"[A-Za-z0-9\-._~+/]+=*"


def is_weak_secret(secret: str) -> bool:
    """Return True if a token or key is too short or too uniform to resist guessing."""
    return len(secret.encode("utf-8", "surrogatepass")) < SECRET_BYTES or len(set(secret)) < _LEAST_VARIED


def is_scope(given: object) -> bool:
    """Return True if a string is the name of one scope (RFC 6749, section 3.3)."""
    return isinstance(given, str) and re.fullmatch(_SCOPE, given) is not None


def is_bearer_token(text: str) -> bool:
    """Return True if a header can carry a string as a token (RFC 6750, section 2.1)."""
    return re.fullmatch(_BEARER, text) is not None
