"""The authorization code grant with PKCE (OAuth 2.1, section 4.1) and the check of its response (RFC 9207)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from pegboard_client.oauth.json_requests import LoginFailedError, ServerUnavailableError
from pegboard_client.oauth.refusals import refusal
from pegboard_client.oauth.server_metadata import ServerMetadata

_OUTAGES = ("server_error", "temporarily_unavailable")


class AuthorizationRequest(NamedTuple):
    """A request for the person's consent.

    Attributes:
        url: the page to open.
        state: the value that the response must repeat.
        verifier: the PKCE code verifier; "" without PKCE.
        redirect_uri: the redirect URI.
        server: the authorization server, which must send the response.
    """

    url: str
    state: str
    verifier: str
    redirect_uri: str
    server: ServerMetadata

    def __repr__(self) -> str:
        """Return the redirect URI. The other values must not reach logs."""
        return f"AuthorizationRequest(redirect_uri={self.redirect_uri!r})"


def authorization_request(
    server: ServerMetadata,
    client_id: str,
    redirect_uri: str,
    state: str,
    fields: Mapping[str, str],
    *,
    requires_pkce: bool = True,
) -> AuthorizationRequest:
    """Return a request with a new code verifier.

    Args:
        server: the authorization server.
        client_id: the id of the client.
        redirect_uri: the redirect URI.
        state: the value that the response must repeat.
        fields: more parameters, such as `scope`.
        requires_pkce: False to omit PKCE if the authorization server does not support it.

    Raises:
        LoginFailedError: the authorization server does not support PKCE with S256.
    """
    has_pkce = "S256" in server.challenge_methods
    if requires_pkce and not has_pkce:
        raise LoginFailedError(f"the authorization server {server.issuer} does not support PKCE with S256.")
    if not server.authorization_endpoint:
        raise LoginFailedError(f"the authorization server {server.issuer} has no authorization endpoint.")
    verifier = token_urlsafe(48) if has_pkce else ""
    sent = {"response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "state": state}
    if has_pkce:
        sent["code_challenge"] = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        sent["code_challenge_method"] = "S256"
    parts = urlsplit(server.authorization_endpoint)
    query = "&".join(text for text in (parts.query, urlencode({**sent, **fields})) if text)
    return AuthorizationRequest(parts._replace(query=query).geturl(), state, verifier, redirect_uri, server)


def received_code(request: AuthorizationRequest, fields: Mapping[str, str]) -> str:
    """Return the authorization code of a response.

    Raises:
        ServerUnavailableError: the authorization server fails at present (RFC 6749, section 4.1.2.1).
        LoginFailedError: another server sent the response, or the person or the server refused consent.
    """
    server = request.server
    if not compare_digest(fields.get("state", "").encode(), request.state.encode()):
        raise LoginFailedError("the response belongs to another login.")
    issuer = fields.get("iss")
    if issuer is None and server.sends_issuer:
        raise LoginFailedError(f"the response lacks `iss`, although {server.issuer} announces it.")
    if issuer is not None and issuer != server.issuer:
        raise LoginFailedError("the response does not come from the authorization server of this login.")
    if "error" in fields:
        failed = ServerUnavailableError if fields["error"] in _OUTAGES else LoginFailedError
        raise failed(refusal(f"{server.issuer} does not authorize this client", None, fields))
    if not fields.get("code"):
        raise LoginFailedError(f"{server.issuer} sent no authorization code.")
    return fields["code"]


def with_offline_access(scopes: tuple[str, ...], server: ServerMetadata) -> tuple[str, ...]:
    """Add the scope for a refresh token, if the authorization server has it."""
    wants = scopes and "offline_access" in server.scopes and "offline_access" not in scopes
    return (*scopes, "offline_access") if wants else scopes


def scope_fields(scopes: Sequence[str]) -> dict[str, str]:
    """Return the parameters of an authorization request for scopes."""
    if not scopes:
        return {}
    consent = {"prompt": "consent"} if "offline_access" in scopes else {}  # OpenID Connect Core, section 11
    return {"scope": " ".join(scopes), **consent}
