"""The tokens of the vault, and their encryption with AES-256-GCM. The owner of a token is authenticated."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard import ToolRuntimeError
from pegboard.plugin import decode, encode

NONCE_BYTES = 12


class TokenKey(NamedTuple):
    """The owner of a token, and its provider.

    Attributes:
        issuer: the issuer of the owner; "" for the operator.
        subject: the owner's subject at the issuer; "" for the operator.
        provider: the name of the registration at the provider.
    """

    issuer: str
    subject: str
    provider: str


class VaultToken(NamedTuple):
    """A token of a provider.

    Attributes:
        access_token: the token.
        refresh_token: the token that renews it; None if there is none.
        expires_at: the time from which it must be renewed, in seconds since 1970; None if it does not expire.
        scopes: the scopes that it has.
        account: the name of the user at the provider; "" if it is unknown.
    """

    access_token: str
    refresh_token: str | None = None
    expires_at: float | None = None
    scopes: tuple[str, ...] = ()
    account: str = ""

    def __repr__(self) -> str:
        """Return the scopes. Tokens must not reach logs."""
        return f"VaultToken(scopes={self.scopes!r})"


class VaultError(ToolRuntimeError):
    """The vault cannot be read."""


class VaultCipher:
    """Encrypts and decrypts rows.

    Args:
        keys: secrets. The first encrypts, all decrypt.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._ciphers = [AESGCM(_derived(key.encode())) for key in keys]

    def seal(self, key: Sequence[str], fields: Any) -> bytes:
        """Encrypt a JSON value, which can only be opened with the same `key`."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, encode(fields), encode(list(key)))

    def open(self, key: Sequence[str], sealed: bytes) -> Any:
        """Return the value of a row, or None if no key decrypts it."""
        for cipher in self._ciphers:
            with suppress(InvalidTag, TypeError, ValueError):  # not this key, or not a row of this host
                return decode(cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], encode(list(key))))
        return None


def token_of(key: TokenKey, fields: Mapping[str, Any] | None) -> VaultToken:
    """Return the token with the fields of a row.

    Raises:
        VaultError: there are none, because no key decrypts the row.
    """
    if fields is None:
        raise VaultError(
            f"the token of {key.provider} is damaged or encrypted with another key: add that key to "
            f"[plugins.vault] keys, or log in again after `pegboard logout {key.provider}`"
        )
    return VaultToken(**{**fields, "scopes": tuple(fields["scopes"])})


def _derived(key: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=b"pegboard vault").derive(key)
