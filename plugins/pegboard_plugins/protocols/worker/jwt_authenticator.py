"""The authenticator of the worker: callers with a JSON Web Token of the shared secret (HS256, RFC 7519)."""

from __future__ import annotations

import json
import logging
from math import inf
from time import time
from typing import Any

from pegboard.plugin import Authenticator
from pegboard.types import Caller, Request, Response
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.support.latest_entries import LatestEntries
from pegboard_plugins.support.secret_strength import SECRET_BYTES, is_weak_secret

logger = logging.getLogger("pegboard.plugins.worker")

AUDIENCE = "worker"
_VERSION = "1"
ENGINE = Caller(client_id="worker", service=True)
"""The caller of every request with a token. The request names the user."""
_UNCHECKED = Caller(client_id="worker")
"""The caller of every request if tokens are not checked."""

_MAX_KEPT_TOKENS = 1000
"""The number of valid tokens that are remembered and not checked again."""


class WorkerAuthenticator(Authenticator):
    """The authenticator of the worker's routes.

    Attributes:
        only_local: the reason to admit callers on this machine only, or None if there is none.
        needs_token: True if callers need a token.
    """

    policy = "worker"

    def __init__(self, config: WorkerConfig) -> None:
        assert config.secret is not None  # the plugin registers no authenticator without it
        self._secret = config.secret.get_secret_value()
        self._config = config
        self._scheme = BearerScheme()
        self._expiries: LatestEntries[bytes, float] = LatestEntries(_MAX_KEPT_TOKENS)
        self.only_local = _only_local(config, self._secret)
        self.needs_token = not config.auth_disabled

    async def authenticate(self, request: Request) -> Caller | Response:
        """Return the caller of a valid token, or a refusal (RFC 6750, section 2.1)."""
        if self._config.auth_disabled:
            return _UNCHECKED
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return _refused("Not authenticated")  # the wording of the protocol
        problem = self._problem(token)
        return ENGINE if problem is None else _refused(f"Invalid token. Error: {problem}")

    def known_caller(self, request: Request) -> Caller | None:
        """Return the engine if its token was checked before."""
        if self._config.auth_disabled:
            return _UNCHECKED
        token = self._scheme.token(request)
        return None if isinstance(token, Response) or not self._is_known(self._scheme.digest(token)) else ENGINE

    def _is_known(self, digest: bytes) -> bool:
        return self._expiries.get(digest, 0) > time() - self._config.leeway_seconds

    def _problem(self, token: str) -> str | None:
        """Return the problem of a token, or None if it is valid."""
        digest = self._scheme.digest(token)
        if self._is_known(digest):
            return None
        import jwt

        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                _key(self._secret),
                algorithms=["HS256"],
                audience=AUDIENCE,
                leeway=self._config.leeway_seconds,
                options={"require": ["exp", "aud"] if self._config.require_exp else ["aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            return str(error) or type(error).__name__
        if claims.get("ver") != _VERSION:
            return f"Unsupported token version: {claims.get('ver')}"
        self._expiries.keep(digest, int(claims["exp"]) if "exp" in claims else inf)
        return None


def create_token(secret: str, seconds: int) -> str:
    """Return a token that is valid for `seconds`."""
    import jwt

    now = int(time())
    claims = {"aud": AUDIENCE, "ver": _VERSION, "iat": now, "exp": now + seconds}
    return jwt.encode(claims, _key(secret), algorithm="HS256")


def _key(secret: str) -> bytes:
    # HMAC pads short keys with zeros (RFC 2104). The library would warn of them; `only_local` restricts them
    return secret.encode().ljust(SECRET_BYTES, b"\0")


def _refused(detail: str) -> Response:
    body = json.dumps({"detail": detail}).encode()
    return Response(401, body, headers={"WWW-Authenticate": "Bearer"})


def _only_local(config: WorkerConfig, secret: str) -> str | None:
    if config.auth_disabled:
        reason = (
            "the worker admits callers without a token: ARCADE_AUTH_DISABLED, or [plugins.worker] auth_disabled, is set"
        )
        if not config.auth_disabled_anywhere:
            return reason
        logger.warning("%s, from anywhere", reason)
        return None
    if config.weak_secrets_anywhere or not is_weak_secret(secret):
        return None
    return (
        f"the worker's secret is weak; set ARCADE_WORKER_SECRET to {SECRET_BYTES} random bytes or more, "
        "for example from `openssl rand -hex 32`"
    )
