"""The client as authorization servers know it: its id, its credentials, and its registration (RFC 7591)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from secrets import token_urlsafe
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote

from pegboard_client.oauth.json_requests import JsonRequests, LoginFailedError, names_this_machine
from pegboard_client.oauth.refusals import refusal
from pegboard_client.oauth.server_metadata import ServerMetadata

ASSERTION_SECONDS = 60
"""The lifetime of a signed assertion."""
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_WITH_SECRET = ("client_secret_basic", "client_secret_post")


class OAuthClient(NamedTuple):
    """A client that is registered at an authorization server.

    Attributes:
        client_id: its id.
        client_secret: its secret; None for a public client.
        issuer: the authorization server at which it is registered; "" for the one that the MCP server names.
        private_key: a private key in PEM form that signs assertions (private_key_jwt) instead of a secret.
        algorithm: the algorithm of the key, such as "ES256" or "RS256".
        method: the way to authenticate at the token endpoint; "" for the first that the authorization server supports.
        redirect_uri: the redirect URI of a dynamic registration.
        expires_at: the time at which the secret of a dynamic registration expires; 0 for never.
    """

    client_id: str
    client_secret: str | None = None
    issuer: str = ""
    private_key: str | None = None
    algorithm: str = "ES256"
    method: str = ""
    redirect_uri: str = ""
    expires_at: float = 0

    def __repr__(self) -> str:
        """Return the id. Credentials must not reach logs."""
        return f"OAuthClient({self.client_id!r})"


def at_server(client: OAuthClient, server: ServerMetadata) -> OAuthClient:
    """Return a client with the method by which it authenticates at a server."""
    if client.method:
        return client
    if client.private_key is not None:
        return client._replace(method="private_key_jwt")
    if client.client_secret is None:
        return client._replace(method="none")
    return client._replace(method=_first_supported(server) or _WITH_SECRET[0])


def _first_supported(server: ServerMetadata) -> str | None:
    return next((method for method in _WITH_SECRET if method in server.auth_methods), None)


def credentials(client: OAuthClient, issuer: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the headers and the form fields that authenticate a client at the token endpoint."""
    if client.method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret or '', safe='')}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}, {}
    fields = {"client_id": client.client_id}
    if client.method == "client_secret_post":
        fields["client_secret"] = client.client_secret or ""
    elif client.method == "private_key_jwt":
        fields |= {"client_assertion_type": _ASSERTION_TYPE, "client_assertion": _assertion(client, issuer)}
    return {}, fields


def _assertion(client: OAuthClient, issuer: str) -> str:
    import jwt

    now = int(time())
    claims = {
        "iss": client.client_id,
        "sub": client.client_id,
        "aud": issuer,
        "iat": now,
        "exp": now + ASSERTION_SECONDS,
        "jti": token_urlsafe(16),
    }
    try:
        return jwt.encode(claims, client.private_key or "", algorithm=client.algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, NotImplementedError):
        raise LoginFailedError(f"the private key is not a PEM key for {client.algorithm}.") from None


async def register(requests: JsonRequests, server: ServerMetadata, name: str, redirect_uri: str) -> OAuthClient:
    """Register a client for one redirect URI.

    Raises:
        LoginFailedError: the authorization server rejects the registration.
    """
    wanted = "none"
    if server.auth_methods and "none" not in server.auth_methods:
        wanted = _first_supported(server) or "none"
    renewable = not server.grant_types or "refresh_token" in server.grant_types
    metadata = {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", *(["refresh_token"] if renewable else [])],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "native" if names_this_machine(redirect_uri) else "web",
    }
    status, document = await requests.post_json(server.registration_endpoint, metadata)
    if status not in (200, 201) or document is None:
        raise LoginFailedError(refusal(f"{server.issuer} rejects the registration of this client", status, document))
    return _registered(document, server.issuer, wanted, redirect_uri)


def _registered(document: Mapping[str, Any], issuer: str, wanted: str, redirect_uri: str) -> OAuthClient:
    client_id, secret = document.get("client_id"), document.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        raise LoginFailedError(f"{issuer} registered this client without a client_id.")
    method, expires_at = document.get("token_endpoint_auth_method"), document.get("client_secret_expires_at")
    secret = secret if isinstance(secret, str) and secret else None
    if method not in ("none", *_WITH_SECRET):
        method = wanted if wanted != "none" or secret is None else _WITH_SECRET[0]
    return OAuthClient(
        client_id=client_id,
        client_secret=secret,
        issuer=issuer,
        method=method,
        redirect_uri=redirect_uri,
        expires_at=expires_at if isinstance(expires_at, int | float) else 0,
    )
