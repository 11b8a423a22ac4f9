"""The outcome of a login, and the contract of stores for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from pegboard_client.oauth.oauth_client import OAuthClient
from pegboard_client.oauth.token_endpoint import Token


class TokenStore(Protocol):
    """Keeps logins between starts of a program. Logins are secret: only their owner may read them."""

    async def load(self, server: str) -> Mapping[str, Any] | None:
        """Return the login at a server as it was saved, or None if there is none.

        Args:
            server: the URL of the MCP server.
        """

    async def save(self, server: str, login: Mapping[str, Any] | None) -> None:
        """Replace the login at a server.

        Args:
            server: the URL of the MCP server.
            login: a JSON object; None removes the login.
        """


class Login(NamedTuple):
    """A login at one MCP server. Its credentials belong to one authorization server.

    Attributes:
        issuer: the authorization server.
        token_endpoint: its token endpoint.
        resource: the resource identifier of the MCP server.
        client: the client that logged in.
        token: the token.
        scopes: the scopes that were requested.
    """

    issuer: str
    token_endpoint: str
    resource: str
    client: OAuthClient
    token: Token
    scopes: tuple[str, ...]


class LoginDescription(NamedTuple):
    """A login without its secrets.

    Attributes:
        issuer: the authorization server.
        scopes: the scopes of the token, or those that were requested if the server names none.
        expires_at: the time from which the token must be renewed; None if that is unknown.
        is_renewable: True if the token can be renewed without the person.
    """

    issuer: str
    scopes: tuple[str, ...]
    expires_at: float | None
    is_renewable: bool


def to_json(login: Login, *, is_registered: bool) -> dict[str, Any]:
    """Return a login as a JSON object.

    Args:
        login: the login.
        is_registered: True if the program supplies the credentials of the client. Such credentials are not saved.
    """
    client = login.client._replace(client_secret=None, private_key=None) if is_registered else login.client
    return login._asdict() | {"client": client._asdict(), "token": login.token._asdict()}


def from_json(saved: Mapping[str, Any]) -> Login | None:
    """Return a saved login, or None if it is unusable."""
    try:
        token = Token(**saved["token"])
        login = Login(**{**saved, "client": OAuthClient(**saved["client"]), "token": token})
        texts: list[Any] = [login.issuer, login.token_endpoint, login.resource, login.client.client_id]
        if not all(isinstance(text, str) and text for text in [*texts, token.access_token]):
            return None
        return login._replace(scopes=tuple(map(str, login.scopes)))
    except (KeyError, TypeError):
        return None
