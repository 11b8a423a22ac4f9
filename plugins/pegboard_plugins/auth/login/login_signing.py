"""Signed tokens (JWT): access tokens, refresh tokens, codes, registrations, and the state of a login in the browser.

Each kind has its own key, so a token of one kind is never valid as another. Processes with the same keys accept each
other's tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from secrets import token_hex
from time import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard import ToolRuntimeError
from pegboard.plugin import StateFiles
from pegboard_plugins.auth.login.settings import LoginConfig
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret

ACCESS_KIND = "at+jwt"
REFRESH_KIND = "login-refresh+jwt"
CODE_KIND = "login-code+jwt"
CLIENT_KIND = "login-client+jwt"
CONSENT_KIND = "login-consent+jwt"
FLOW_KIND = "login-flow+jwt"
PROGRAMS_KIND = "login-programs+jwt"
MAX_CLOCK_SKEW_SECONDS = 10
"""The tolerated difference between the clocks of machines that share keys."""
KEY_NAME = "login-key"
_ALGORITHM = "HS256"


class LoginStateError(ToolRuntimeError):
    """A file of the plugin cannot be used. The message is for the operator."""


class LoginSigner:
    """Signs and reads tokens.

    Args:
        config: the plugin's settings.
    """

    def __init__(self, config: LoginConfig) -> None:
        self._config = config
        self._derived: dict[str, Sequence[bytes]] = {}

    @cached_property
    def _secrets(self) -> Sequence[bytes]:
        if self._config.keys:
            return [key.get_secret_value().encode() for key in self._config.keys]
        try:
            key = StateFiles(os.environ).create(KEY_NAME, token_hex(SECRET_BYTES).encode())
        except OSError as error:
            raise LoginStateError(f"the key that signs logins cannot be used: {error}") from error
        if is_weak_secret(key.decode("utf-8", "replace")):
            raise LoginStateError(f"the file {KEY_NAME} in the state directory is damaged: remove it")
        return [key]

    def sign(self, kind: str, claims: Mapping[str, Any], seconds: float | None = None) -> str:
        """Return a token.

        Args:
            kind: the kind of token, as its `typ`.
            claims: its claims.
            seconds: its lifetime; None for a token that does not expire.

        Raises:
            LoginStateError: there is no key.
        """
        own: dict[str, Any] = {"iss": self._config.issuer, **claims}
        if seconds is not None:
            own["exp"] = int(time() + seconds)
        return jwt.encode(own, self._keys(kind)[0], algorithm=_ALGORITHM, headers={"typ": kind})

    def read(self, kind: str, token: str) -> Mapping[str, Any] | None:
        """Return the claims of a valid token, or None.

        Raises:
            LoginStateError: there is no key.
        """
        for key in self._keys(kind):
            try:
                claims: Mapping[str, Any] = jwt.decode(
                    token,
                    key,
                    algorithms=[_ALGORITHM],
                    leeway=MAX_CLOCK_SKEW_SECONDS,
                    options={"verify_aud": False},
                )
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
                continue
            return claims if claims.get("iss") == self._config.issuer else None
        return None

    def _keys(self, kind: str) -> Sequence[bytes]:
        if kind not in self._derived:
            info = f"pegboard login {kind}".encode()
            self._derived[kind] = [
                HKDF(SHA256(), length=SECRET_BYTES, salt=None, info=info).derive(secret) for secret in self._secrets
            ]
        return self._derived[kind]
