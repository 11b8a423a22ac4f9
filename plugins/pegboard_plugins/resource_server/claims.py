"""What a token says, whoever vouches for it: its audience, and whom it stands for. It checks no signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard.plugin import is_scope
from pegboard.types import Caller
from pegboard_plugins.resource_server.settings import canonical_url, with_implied

if TYPE_CHECKING:
    from pegboard_plugins.resource_server import ResourceServerConfig

MAX_TIMESTAMP_SECONDS = 1e12
"""The last time that a token may name, in seconds since 1970."""
_TOLD = frozenset(("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp", "client_id"))
"""Claims that a caller has fields for, and those that say nothing of them."""


class InvalidTokenError(Exception):
    """A token is no good; the message is for the client's developer and repeats nothing of it."""


class CheckUnavailableError(Exception):
    """Whether a token is good cannot be said at present.

    Args:
        seconds: after which it is worth asking again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class VerifiedToken(NamedTuple):
    """A token that is good.

    Attributes:
        caller: whom it stands for.
        until: for how long it need not be checked again, in seconds since 1970.
        holds: whether what it was checked by is still what counts.
    """

    caller: Caller
    until: float
    holds: Callable[[], bool]


def check_audience(given: Any, expected: frozenset[str]) -> None:
    """Check that a token is meant for us.

    Args:
        given: what the token says as `aud`.
        expected: what it must name one of, as `canonical_url` has it.

    Raises:
        InvalidTokenError: it is not.
    """
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidTokenError("The token is for another audience.")
    if expected.isdisjoint(map(canonical_url, listed)):
        raise InvalidTokenError("The token is for another audience.")


def check_unbound(claims: Mapping[str, Any]) -> None:
    """Check that whoever has a token may use it: the proof that a bound one needs is not checked here.

    Raises:
        InvalidTokenError: it is bound to a key (RFC 7800), as those for DPoP and mutual TLS are (RFC 9449, RFC 8705).
    """
    if claims.get("cnf") is not None:
        raise InvalidTokenError("The token is bound to a key, of which there is no proof (cnf).")


def caller_of(claims: Mapping[str, Any], subject: str, issuer: str, config: ResourceServerConfig) -> Caller:
    """Whom the claims of a good token stand for.

    Args:
        claims: the claims, `exp` a number where it is there.
        subject: who it is.
        issuer: who says so.
        config: of the plugin.
    """
    given = claims.get("scope", claims.get("scp"))
    scopes = given.split(" ") if isinstance(given, str) else given if isinstance(given, list) else ()
    client = claims.get("client_id", claims.get("azp"))
    end = claims.get("exp")
    return Caller(
        subject,
        scopes=with_implied(filter(is_scope, scopes), config.implied_scopes),
        client_id=client if isinstance(client, str) else None,
        expires_at=None if end is None else float(end),
        resource=config.resource,
        extra=MappingProxyType({name: value for name, value in claims.items() if name not in _TOLD}),
        issuer=issuer,
    )
