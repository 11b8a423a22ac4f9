"""A login by a person in a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from inspect import isawaitable
from secrets import token_urlsafe
from time import time

from pegboard_client.http_exchange import HttpExchange
from pegboard_client.oauth.authorization_code import (
    authorization_request,
    received_code,
    scope_fields,
    with_offline_access,
)
from pegboard_client.oauth.json_requests import JsonRequests, LoginFailedError, UnregisteredError
from pegboard_client.oauth.loopback_redirect import LoopbackRedirect, RedirectReceiver
from pegboard_client.oauth.oauth_client import OAuthClient, at_server, register
from pegboard_client.oauth.saved_login import Login, TokenStore
from pegboard_client.oauth.server_metadata import ServerMetadata
from pegboard_client.oauth.token_auth import Grant, RenewalLock, StoreVersion, TokenAuth
from pegboard_client.oauth.token_endpoint import FORGOTTEN_CLIENT, TokenRefusedError, request_token

MAX_LOGIN_SECONDS = 600.0
"""The limit of the time that a person has for a login."""
SEGMENT_CHARACTERS = 16


class OAuth(TokenAuth):
    """OAuth for a person: authorization code with PKCE, renewal, and more scopes on demand.

    The object serves any number of MCP servers. It keeps a token for each, and sends it to no other.

    Args:
        open_page: receives the URL of the page on which the person logs in. It shows or opens the page, and may be
            async. None for no login: the object then only uses and renews tokens of the store.
        client: a client that is registered at the authorization server.
        client_metadata_url: the https URL of a client id metadata document, for authorization servers that read it.
            `{issuer}` in it stands for the last segment of the redirect URI for one authorization server.
        client_name: the name for a dynamic registration.
        scopes: scopes to request instead of those that the server suggests. Missing scopes are added on demand.
        store: keeps logins between starts; None for memory only.
        redirect: receives the response at the end of the login; None for a free port of this machine.
        exchange: sends the requests of the login; None for aiohttp.
        announce: receives the issuer and the scopes of a login before its page opens.
        registrations: keeps dynamic registrations by issuer and redirect URI, for several objects with one redirect
            URI. None to keep them with the logins.
        renewing: returns a lock by the URL of a server. It is held during a renewal, so that processes that share the
            store renew a token once. None for no lock.
        version: returns a value that changes with the logins in the store, so that a login which another object has
            removed or replaced is noticed at the next request. None to notice it when the server refuses the token.

    Raises:
        ValueError: `client_metadata_url` is not an https URL with a path.
    """

    def __init__(
        self,
        open_page: Callable[[str], Awaitable[None] | object] | None,
        *,
        client: OAuthClient | None = None,
        client_metadata_url: str = "",
        client_name: str = "pegboard",
        scopes: Sequence[str] | None = None,
        store: TokenStore | None = None,
        redirect: RedirectReceiver | None = None,
        exchange: HttpExchange | None = None,
        announce: Callable[[str, Sequence[str]], object] | None = None,
        registrations: TokenStore | None = None,
        renewing: RenewalLock | None = None,
        version: StoreVersion | None = None,
    ) -> None:
        super().__init__(client, scopes, store, exchange, renewing, version)
        rest = client_metadata_url.removeprefix("https://")
        if client_metadata_url and (rest == client_metadata_url or not rest.partition("/")[2]):
            raise ValueError("client_metadata_url must be an https URL with a path")
        self._open_page = open_page
        self._client_metadata_url = client_metadata_url
        self._client_name = client_name
        self._announce = announce
        self._registrations = registrations
        self._redirect = LoopbackRedirect() if redirect is None else redirect
        self._person = asyncio.Lock()

    @property
    def _can_log_in(self) -> bool:
        return self._open_page is not None

    async def _obtain(
        self, grant: Grant, requests: JsonRequests, earlier: Login | None, *, is_second: bool = False
    ) -> Login:
        server, scopes = grant.server, with_offline_access(grant.scopes, grant.server)
        async with self._person:  # one login at a time
            state, used = token_urlsafe(32), earlier.client.redirect_uri if earlier else ""
            try:
                redirect_uri = await self._redirect.start(state, used, self._own_segment(server))
            except OSError as error:
                raise LoginFailedError(str(error)) from error
            try:
                known = None if is_second else await self._known(server, redirect_uri, earlier)
                client = known or await self._identified(server, requests, redirect_uri)
                resource = grant.resource.resource
                fields = {"resource": resource, **scope_fields(scopes)}
                request = authorization_request(server, client.client_id, redirect_uri, state, fields)
                requests.check(request.url)
                requests.check(server.token_endpoint)
                if self._announce is not None:
                    self._announce(server.issuer, scopes)
                assert self._open_page is not None
                opened = self._open_page(request.url)
                if isawaitable(opened):
                    await opened
                async with asyncio.timeout(MAX_LOGIN_SECONDS):
                    received = await self._redirect.receive()
            except TimeoutError:
                await self._keep_registration(server, redirect_uri, None)  # the issuer may have forgotten it
                raise LoginFailedError(f"it was not completed within {MAX_LOGIN_SECONDS / 60:.0f} minutes.") from None
            finally:
                await self._redirect.close()
        form = {
            "grant_type": "authorization_code",
            "code": received_code(request, received),
            "redirect_uri": redirect_uri,
            "code_verifier": request.verifier,
            "resource": resource,
        }
        try:
            token = await request_token(requests, server.token_endpoint, server.issuer, client, form)
        except TokenRefusedError as error:
            if known is None or error.code not in FORGOTTEN_CLIENT:
                raise
            return await self._obtain(grant, requests, None, is_second=True)  # with a new registration
        return Login(server.issuer, server.token_endpoint, resource, client, token, scopes)

    async def _known(self, server: ServerMetadata, redirect_uri: str, earlier: Login | None) -> OAuthClient | None:
        """Return an earlier dynamic registration, if the authorization server may still know it."""
        if self._client is not None or self._document(server):
            return None
        if self._registrations is None:
            known = None if earlier is None else earlier.client
        else:
            saved = await self._registrations.load(_registration(server, redirect_uri))
            known = None if saved is None else OAuthClient(**saved)
            if known and earlier and not earlier.client.redirect_uri and known.client_id == earlier.client.client_id:
                return None  # a renewal has shown that it is forgotten
        return known if known is not None and known.redirect_uri == redirect_uri and not _is_over(known) else None

    async def _identified(self, server: ServerMetadata, requests: JsonRequests, redirect_uri: str) -> OAuthClient:
        """Return the client for an authorization server, in the order of the specification."""
        if self._client is not None:
            return at_server(self._client, server)
        if document := self._document(server):
            return at_server(OAuthClient(document), server)
        if server.registration_endpoint:
            client = await register(requests, server, self._client_name, redirect_uri)
            await self._keep_registration(server, redirect_uri, client)
            return client
        raise UnregisteredError(
            f"{server.issuer} registers no clients itself: register one there, and pass its client id."
        )

    def _document(self, server: ServerMetadata) -> str:
        """Return the URL of the client id metadata document for an authorization server; "" if it reads none."""
        return self._client_metadata_url.replace("{issuer}", _segment(server)) if server.reads_client_metadata else ""

    def _own_segment(self, server: ServerMetadata) -> str:
        """Return the last segment of the redirect URI for one authorization server; "" if the redirect URI is fixed."""
        document = self._document(server)
        is_fixed = self._client is not None or (document and document == self._client_metadata_url)
        return "" if is_fixed else _segment(server)

    async def _keep_registration(self, server: ServerMetadata, redirect_uri: str, client: OAuthClient | None) -> None:
        if self._registrations is not None:
            saved = None if client is None else client._asdict()
            await self._registrations.save(_registration(server, redirect_uri), saved)


def _segment(server: ServerMetadata) -> str:
    return sha256(server.issuer.encode()).hexdigest()[:SEGMENT_CHARACTERS]


def _registration(server: ServerMetadata, redirect_uri: str) -> str:
    return f"registration at {server.issuer} for {redirect_uri}"


def _is_over(client: OAuthClient) -> bool:
    return client.expires_at != 0 and client.expires_at <= time()
