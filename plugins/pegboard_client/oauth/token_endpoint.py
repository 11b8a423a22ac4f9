"""Tokens of an authorization server (RFC 6749, section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from time import time
from typing import Any, NamedTuple, TypeGuard

from pegboard_client.oauth.json_requests import JsonRequests, LoginFailedError
from pegboard_client.oauth.oauth_client import OAuthClient, credentials
from pegboard_client.oauth.refusals import oauth_error, refusal

MAX_EARLY_SECONDS = 30.0
"""A token is renewed this long before it expires, or after nine tenths of a shorter lifetime."""
FORGOTTEN_CLIENT = ("invalid_client", "unauthorized_client")
"""The error codes of an authorization server that does not know a client (RFC 6749, section 5.2)."""
MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3600.0
"""The limit of the lifetime of a token."""
_SENDABLE = re.compile(r"[\x21-\x7e]+")


class Token(NamedTuple):
    """An access token.

    Attributes:
        access_token: the token.
        refresh_token: the token that renews it; None if there is none.
        expires_at: the time from which it must be renewed; None if that is unknown.
        scopes: the scopes that the authorization server granted; None if it does not name them.
    """

    access_token: str
    refresh_token: str | None = None
    expires_at: float | None = None
    scopes: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        """Return the scopes. Tokens must not reach logs."""
        return f"Token(scopes={self.scopes!r})"


class TokenRefusedError(LoginFailedError):
    """The authorization server refuses a token.

    Args:
        message: the problem.
        code: its error code, such as "invalid_grant".
    """

    code: str = ""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


async def request_token(
    requests: JsonRequests, endpoint: str, issuer: str, client: OAuthClient, fields: Mapping[str, str]
) -> Token:
    """Request a token.

    Args:
        requests: sends the request.
        endpoint: the token endpoint.
        issuer: the identifier of the authorization server.
        client: the client, with its method.
        fields: the grant and its parameters.

    Raises:
        TokenRefusedError: the authorization server refuses the token.
        LoginFailedError: it cannot be reached, or its response is invalid.
    """
    headers, own = credentials(client, issuer)
    named = {"client_id": client.client_id}  # some servers require it beside Basic authentication
    status, document = await requests.post_form(endpoint, {**fields, **named, **own}, headers)
    if status != 200 or document is None:
        problem = refusal(f"{issuer} refuses a token", status, document)
        if 400 <= status < 500 and status != 429:
            raise TokenRefusedError(problem, oauth_error(document))
        raise LoginFailedError(problem)
    return _token(document, issuer)


def _token(document: Mapping[str, Any], issuer: str) -> Token:
    access_token, refresh_token = document.get("access_token"), document.get("refresh_token")
    if not is_access_token(access_token):
        raise LoginFailedError(f"{issuer} sent no usable access token.")
    if str(document.get("token_type", "bearer")).lower() != "bearer":
        raise LoginFailedError(f"{issuer} sent a token that is not a bearer token.")
    scope = document.get("scope")
    return Token(
        access_token=access_token,
        refresh_token=refresh_token if isinstance(refresh_token, str) and refresh_token else None,
        expires_at=renewal_time(document.get("expires_in")),
        scopes=tuple(scope.split()) if isinstance(scope, str) else None,
    )


def is_access_token(value: object) -> TypeGuard[str]:
    """Return True if a member of a response is a token that a header can carry: printable ASCII without spaces."""
    return isinstance(value, str) and _SENDABLE.fullmatch(value) is not None


def renewal_time(lifetime: Any) -> float | None:
    """Return the time from which a token must be renewed, in seconds since 1970. Return None if it is unknown.

    Args:
        lifetime: the member `expires_in` of the response (RFC 6749 section 5.1). Some servers send a string.
    """
    try:
        seconds = float(lifetime)
    except (TypeError, ValueError, OverflowError):
        return None
    if not isfinite(seconds) or isinstance(lifetime, bool):
        return None
    seconds = min(seconds, MAX_LIFETIME_SECONDS)
    return time() + seconds - min(MAX_EARLY_SECONDS, seconds / 10)
