"""A login of a program without a person (extension `io.modelcontextprotocol/oauth-client-credentials`)."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard_client.http_exchange import HttpExchange
from pegboard_client.oauth.json_requests import JsonRequests
from pegboard_client.oauth.oauth_client import OAuthClient, at_server
from pegboard_client.oauth.saved_login import Login, TokenStore
from pegboard_client.oauth.token_auth import Grant, TokenAuth
from pegboard_client.oauth.token_endpoint import request_token


class ClientCredentials(TokenAuth):
    """OAuth for a program: a registered client obtains tokens with its secret or its private key.

    Args:
        client: the client. It needs a `client_secret` or a `private_key`.
        scopes: scopes to request instead of those that the server suggests. Missing scopes are added on demand.
        store: keeps tokens between starts; None for memory only.
        exchange: sends the requests of the login; None for aiohttp.

    Raises:
        ValueError: the client has neither a secret nor a private key.
    """

    def __init__(
        self,
        client: OAuthClient,
        *,
        scopes: Sequence[str] | None = None,
        store: TokenStore | None = None,
        exchange: HttpExchange | None = None,
    ) -> None:
        if client.client_secret is None and client.private_key is None:
            raise ValueError("the client needs a client_secret or a private_key")
        super().__init__(client, scopes, store, exchange)
        self._registered = client

    @property
    def _can_log_in(self) -> bool:
        return True

    async def _obtain(self, grant: Grant, requests: JsonRequests, earlier: Login | None) -> Login:
        server, resource = grant.server, grant.resource.resource
        client = at_server(self._registered, server)
        fields = {"grant_type": "client_credentials", "resource": resource}
        if grant.scopes:
            fields["scope"] = " ".join(grant.scopes)
        token = await request_token(requests, server.token_endpoint, server.issuer, client, fields)
        return Login(server.issuer, server.token_endpoint, resource, client, token, grant.scopes)
