"""Claims of access tokens, from JWTs and from introspection responses. No signature is checked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pegboard.types import Caller
from pegboard_plugins.auth.resource_server.conversions import canonical_url, with_implied
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig
from pegboard_plugins.support.bearer import is_scope

MAX_TIMESTAMP_SECONDS = 1e12
"""The latest time that a token may contain, in seconds since 1970."""
_CALLER_FIELDS = frozenset(("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp", "client_id"))
"""Claims that are fields of a caller, or describe only the token."""


class InvalidTokenError(Exception):
    """The token is invalid. The message is for the developer of the client and contains nothing of the token."""


class CheckUnavailableError(Exception):
    """The token cannot be checked at present.

    Args:
        seconds: the time after which a retry makes sense.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class VerifiedToken(NamedTuple):
    """A valid token.

    Attributes:
        caller: the caller of requests with this token.
        until: the time until which it is not checked again, in seconds since 1970.
        holds: a function that returns False once the keys that verified it have changed.
    """

    caller: Caller
    until: float
    holds: Callable[[], bool]


def check_audience(audience: Any, expected: frozenset[str]) -> None:
    """Check that a token is for this resource.

    Args:
        given: the claim `aud`.
        expected: the accepted audiences, normalized by `canonical_url`.

    Raises:
        InvalidTokenError: the token is for another audience.
    """
    listed = [audience] if isinstance(audience, str) else audience
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise InvalidTokenError("The token is for another audience.")
    if expected.isdisjoint(map(canonical_url, listed)):
        raise InvalidTokenError("The token is for another audience.")


def check_unbound(claims: Mapping[str, Any]) -> None:
    """Check that a token is a bearer token, because proofs of possession are not supported.

    Raises:
        InvalidTokenError: the token is bound to a key (RFC 7800), such as one for DPoP (RFC 9449) or mutual TLS.
    """
    if claims.get("cnf") is not None:
        raise InvalidTokenError("The token is bound to a key (cnf), which is not supported.")


def caller_of(claims: Mapping[str, Any], subject: str, issuer: str, config: ResourceServerConfig) -> Caller:
    """Return the caller for the claims of a valid token.

    Args:
        claims: the claims. `exp` is a number if present.
        subject: the caller's subject.
        issuer: the issuer of the token.
        config: the plugin's settings.
    """
    claim = claims.get("scope", claims.get("scp"))
    scopes = claim.split(" ") if isinstance(claim, str) else claim if isinstance(claim, list) else ()
    client = claims.get("client_id", claims.get("azp"))
    end = claims.get("exp")
    return Caller(
        subject,
        scopes=with_implied(filter(is_scope, scopes), config.implied_scopes),
        client_id=client if isinstance(client, str) else None,
        expires_at=None if end is None else float(end),
        resource=config.resource,
        extra=MappingProxyType({name: value for name, value in claims.items() if name not in _CALLER_FIELDS}),
        issuer=issuer,
    )
