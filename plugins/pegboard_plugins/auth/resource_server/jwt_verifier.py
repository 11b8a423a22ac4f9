"""Verification of JWT access tokens with the keys of one authorization server (RFC 9068)."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import partial
from time import time
from typing import Any

from pegboard_plugins.auth.resource_server.claims import (
    MAX_TIMESTAMP_SECONDS,
    InvalidTokenError,
    VerifiedToken,
    caller_of,
    check_audience,
    check_unbound,
)
from pegboard_plugins.auth.resource_server.conversions import canonical_url
from pegboard_plugins.auth.resource_server.documents import fetch_keys
from pegboard_plugins.auth.resource_server.keys import KeySet
from pegboard_plugins.auth.resource_server.settings import AuthorizationServer, ResourceServerConfig


def unverified(token: str) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the header and the claims of a JWT without verifying it, or None if the token is not a signed JWT.

    The library refuses to read some invalid tokens, but the issuer of every token must be known.
    """
    parts = token.split(".")
    try:
        read = [json.loads(b64decode(part + "=" * (-len(part) % 4), b"-_", validate=True)) for part in parts[:2]]
    except (ValueError, RecursionError):
        return None
    return (read[0], read[1]) if len(parts) == 3 and all(isinstance(part, dict) for part in read) else None


class JwtVerifier:
    """A verifier for the tokens of one authorization server.

    Args:
        server: the settings of the server.
        config: the plugin's settings.
    """

    def __init__(self, server: AuthorizationServer, config: ResourceServerConfig) -> None:
        self._issuer = server.issuer
        self._config = config
        self._keys = KeySet(server.issuer, partial(fetch_keys, server, config.fetch_seconds), config)
        self._audiences = frozenset(canonical_url(name) for name in server.audiences or (config.resource,))
        self._leeway = config.leeway_seconds if server.leeway_seconds is None else server.leeway_seconds
        self._types = frozenset(name.lower() for name in config.token_types)
        newer = ("Ed25519",) if "EdDSA" in server.algorithms else ()
        self._algorithms = [*server.algorithms, *newer]

    async def close(self) -> None:
        await self._keys.close()

    async def verify(self, token: str, header: Mapping[str, Any]) -> VerifiedToken:
        """Verify a token that names this issuer.

        Raises:
            InvalidTokenError: the token is invalid.
            CheckUnavailableError: the keys cannot be fetched.
        """
        self._check_header(header)
        claims = await self._signed_claims(token, header.get("kid"), header["alg"])
        self._check_claims(claims)
        until = min(float(claims["exp"]) + self._leeway, time() + self._config.verified_seconds)
        caller = caller_of(claims, claims["sub"], self._issuer, self._config)
        return VerifiedToken(caller=caller, until=until, holds=partial(self._is_current, self._keys.generation))

    async def _signed_claims(self, token: str, kid: str | None, algorithm: str) -> Mapping[str, Any]:
        """Return the claims of a token that a key of the issuer has signed."""
        keys = await self._keys.find(kid, algorithm)
        if not keys:
            raise InvalidTokenError("The issuer does not have the key that signed the token.")
        generation = self._keys.generation
        claims = self._first_claims(token, keys)
        if claims is None:
            claims = self._first_claims(token, await self._keys.find_newer(kid, algorithm, generation))
        if claims is None:
            raise InvalidTokenError("The signature of the token is wrong.")
        return claims

    def _first_claims(self, token: str, keys: Iterable[Any]) -> Mapping[str, Any] | None:
        results = (self._decode(token, key) for key in keys)
        return next((claims for claims in results if claims is not None), None)

    def _is_current(self, generation: int) -> bool:
        return self._keys.usable() and generation == self._keys.generation

    def _check_header(self, header: Mapping[str, Any]) -> None:
        if header.get("alg") not in self._algorithms:
            raise InvalidTokenError("The token is signed with an algorithm that is not allowed.")
        if not isinstance(header.get("kid"), str | None):
            raise InvalidTokenError("The token is invalid.")
        kind = header.get("typ", "")
        if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in self._types:
            raise InvalidTokenError("The token is not of an accepted type.")
        if "crit" in header or "b64" in header:
            raise InvalidTokenError("The token has unsupported critical headers (crit).")

    def _check_claims(self, claims: Mapping[str, Any]) -> None:
        if claims["iss"] != self._issuer:
            raise InvalidTokenError("The token is from another issuer.")
        check_audience(claims["aud"], self._audiences)
        check_unbound(claims)
        if not claims["sub"]:
            raise InvalidTokenError("The token lacks sub.")
        if type(claims["exp"]) not in (int, float) or claims["exp"] > MAX_TIMESTAMP_SECONDS:
            raise InvalidTokenError("The token is invalid.")

    def _decode(self, token: str, key: Any) -> Mapping[str, Any] | None:
        """Return the claims of a token with valid times, or None if another key signed it."""
        import jwt

        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=self._algorithms,
                leeway=self._leeway,
                options={"require": ["iss", "sub", "aud", "exp"], "verify_aud": False},
            )
        except jwt.ExpiredSignatureError:
            raise InvalidTokenError("The token has expired.") from None
        except jwt.ImmatureSignatureError:
            raise InvalidTokenError("The token is not valid yet.") from None
        except jwt.MissingRequiredClaimError as error:
            raise InvalidTokenError(f"The token lacks {error.claim}.") from None
        except jwt.InvalidSignatureError:
            return None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
            raise InvalidTokenError("The token is invalid.") from None
        return claims
