"""Encrypted state that a client returns with its next request and can neither read nor change.

AES-256-GCM under keys derived with HKDF-SHA256 (RFC 5869). The context of a state is authenticated but never
sent. The first request for input imports this module.
"""

from __future__ import annotations

import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard.plugin import decode, encode

STATE_VERSION = "v1."
NONCE_BYTES = 12


class Sealer:
    """A sealer that encrypts and decrypts states.

    Args:
        keys: secrets of any length. The first encrypts, all decrypt. Without keys, the process creates a random key.
        seconds: how long a state is valid.
    """

    def __init__(self, keys: Sequence[str], seconds: float) -> None:
        self._ciphers = [AESGCM(_derived(key.encode())) for key in keys or (secrets.token_urlsafe(32),)]
        self._seconds = seconds

    def seal(self, state: Any, bound_to: Any) -> str:
        """Encrypt JSON values. Return a printable ASCII token that is valid only with the same `bound_to`."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        plain = encode([time.time() + self._seconds, state])
        sealed = nonce + self._ciphers[0].encrypt(nonce, plain, _context(bound_to))
        return STATE_VERSION + urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, token: str, bound_to: Any) -> Any:
        """Return the state in a token.

        Raises:
            ValueError: the token was changed, made for another context or by another server, or has expired.
        """
        sealed = _unpacked(token)
        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        for cipher in self._ciphers:
            try:
                until, state = decode(cipher.decrypt(nonce, rest, _context(bound_to)))
            except InvalidTag:
                continue
            if time.time() > until:
                raise ValueError("it has expired")
            return state
        raise ValueError("it was not made by this server for this request")


def _derived(key: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=b"pegboard request state").derive(key)


def _context(bound_to: Any) -> bytes:
    return STATE_VERSION.encode() + encode(_sorted(bound_to))


def _sorted(value: Any) -> Any:
    """Return a JSON value with sorted members, because a client may change their order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _unpacked(token: str) -> bytes:
    body = token.removeprefix(STATE_VERSION)
    try:
        sealed = urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError as error:
        raise ValueError("it was not made by this server") from error
    # the decoder ignores invalid characters, so only the canonical form is accepted
    canonical = STATE_VERSION + urlsafe_b64encode(sealed).decode().rstrip("=") == token
    if not canonical or len(sealed) <= NONCE_BYTES:
        raise ValueError("it was not made by this server")
    return sealed
