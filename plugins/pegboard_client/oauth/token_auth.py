"""`HttpAuth` with OAuth tokens: one token for each MCP server, renewed and extended as servers demand it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from time import monotonic, time
from typing import NamedTuple, TypeAlias

from pegboard_client.challenges import bearer_challenge, required_scopes
from pegboard_client.http_auth import LoginRequiredError, origin
from pegboard_client.http_exchange import HttpExchange
from pegboard_client.oauth.json_requests import (
    JsonRequests,
    LoginFailedError,
    ServerUnavailableError,
    canonical,
    names_this_machine,
    origin_of,
)
from pegboard_client.oauth.oauth_client import OAuthClient, credentials
from pegboard_client.oauth.refusals import excerpt
from pegboard_client.oauth.saved_login import Login, LoginDescription, TokenStore, from_json, to_json
from pegboard_client.oauth.server_metadata import ResourceMetadata, ServerMetadata, find_resource, find_server
from pegboard_client.oauth.token_endpoint import FORGOTTEN_CLIENT, TokenRefusedError, request_token

OUTAGE_SECONDS = 10.0
"""How long an authorization server that did not respond is not asked again. Requests would wait one after the other."""
MAX_LOGINS_PER_SCOPES = 2
"""The limit of logins for the same missing scopes at one server."""
RenewalLock: TypeAlias = "Callable[[str], AbstractAsyncContextManager[object]]"
"""Returns the lock of the login at a server, by the URL of the server."""
StoreVersion: TypeAlias = Callable[[], object]
"""Returns a value that changes with the logins in a store. It does not wait."""


class Grant(NamedTuple):
    """The parameters of a login.

    Attributes:
        resource: the metadata of the MCP server.
        server: the metadata of the authorization server.
        scopes: the scopes to request; empty for the default of the authorization server.
    """

    resource: ResourceMetadata
    server: ServerMetadata
    scopes: tuple[str, ...]


class _Session:
    """The login at one MCP server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.login: Login | None = None
        self.version: object = self
        """The version of the store from which the login is loaded; the session itself before the first time."""
        self.lock = asyncio.Lock()
        self.extensions: Counter[frozenset[str]] = Counter()
        """The number of logins for missing scopes."""
        self.renewal: asyncio.Task[bool] | None = None
        """The renewal that is under way."""
        self.renewed: str | None = None
        """The last token that a renewal returned after the server refused a token."""
        self.outage = ""
        """The reason why the authorization server did not respond the last time."""
        self.outage_ends = 0.0
        """The time until which it is not asked again."""


_sent: ContextVar[tuple[_Session, str | None] | None] = ContextVar("sent_token", default=None)
"""The token of the last request of this task."""


class TokenAuth:
    """The common part of `OAuth` and `ClientCredentials`, which obtain tokens in different ways."""

    def __init__(
        self,
        client: OAuthClient | None,
        scopes: Sequence[str] | None,
        store: TokenStore | None,
        exchange: HttpExchange | None,
        renewing: RenewalLock | None = None,
        version: StoreVersion | None = None,
    ) -> None:
        self._client = client
        self._scopes = scopes
        self._store = store
        self._exchange = exchange
        self._renewing: RenewalLock = renewing or (lambda _: nullcontext())
        self._version: StoreVersion = version or (lambda: None)
        self._sessions: dict[str, _Session] = {}

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the header with the token for a server, or no header before a login. Renew an expired token."""
        session = await self._session(url)
        if _has_expired(session.login):
            async with session.lock:
                if _has_expired(session.login):
                    await self._renew_before_use(session)
        token = session.login.token.access_token if session.login else None
        _sent.set((session, token))
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    async def challenged(self, url: str, status: int, headers: Mapping[str, str]) -> bool:
        """Renew the token, or log in. Return False if a login is required and this object cannot log in."""
        session = await self._session(url)
        sent = _sent.get()
        async with session.lock:
            current = session.login.token.access_token if session.login else None
            if sent is not None and sent[0] is session and sent[1] != current:
                return True  # another request has logged in since
            try:
                with _noted_outage(session):
                    return await self._answer(session, status, headers)
            except LoginFailedError as error:
                raise LoginRequiredError(origin(url), str(error)) from error

    async def reload(self, url: str) -> None:
        """Use the login that the store has now. Another object or process may have replaced or removed it."""
        session = await self._session(url)
        async with session.lock:
            await self._reload(session)

    async def describe(self, url: str) -> LoginDescription | None:
        """Return the login at a server without its secrets, or None if there is none."""
        login = (await self._session(url)).login
        if login is None:
            return None
        token = login.token
        scopes = login.scopes if token.scopes is None else token.scopes
        return LoginDescription(login.issuer, tuple(scopes), token.expires_at, token.refresh_token is not None)

    async def log_out(self, url: str) -> bool:
        """Forget the login at a server, and revoke its token (RFC 7009).

        Return False if the authorization server may still accept the token.
        """
        session = await self._session(url)
        async with self._renewing(session.url):  # a renewal under way would save the login again
            await self._reload(session)
            login = session.login
            if login is None:
                return True
            await self._keep(session, None)
        try:
            async with JsonRequests.opened(session.url, self._exchange) as requests:
                server = await find_server(requests, login.issuer)
                headers, own = credentials(login.client, login.issuer)
                token = login.token.refresh_token or login.token.access_token
                form = {"token": token, "client_id": login.client.client_id, **own}
                status, _ = await requests.post_form(server.revocation_endpoint, form, headers)
        except LoginFailedError:
            return False  # it cannot be reached, or offers no revocation
        return status == 200

    async def log_in(self, url: str, headers: Mapping[str, str]) -> None:
        """Log in, also if there is a login that could be renewed.

        Args:
            url: the URL of the server.
            headers: the headers of a response of the server that demands a login.

        Raises:
            LoginRequiredError: the login failed.
        """
        session = await self._session(url)
        async with session.lock:
            try:
                await self._renew(session)  # it shows if the authorization server still knows the registration
                await self._answer(session, 401, headers, renews=False)
            except LoginFailedError as error:
                raise LoginRequiredError(origin(url), str(error)) from error

    async def _answer(self, session: _Session, status: int, headers: Mapping[str, str], *, renews: bool = True) -> bool:
        if renews and await self._reload(session):
            return True
        login = session.login
        may_renew = renews and status == 401 and login is not None and login.token.refresh_token is not None
        may_renew = may_renew and login is not None and login.token.access_token != session.renewed
        if not may_renew and not self._can_log_in:
            return False
        if origin_of(session.url) is None or not (
            session.url.startswith("https://") or names_this_machine(session.url)
        ):
            raise LoginFailedError(
                "its URL must begin with https://, because others could read a token that is not encrypted."
            )
        required = required_scopes(headers)
        if status != 401:
            self._count_extension(session, required)
        async with JsonRequests.opened(session.url, self._exchange) as requests:
            named = (bearer_challenge(headers) or {}).get("resource_metadata")
            resource = await find_resource(requests, session.url, named)
            server = await find_server(requests, self._chosen_issuer(resource, login))
            if login is not None and login.issuer != server.issuer:
                if not self._can_log_in:
                    raise LoginFailedError(f"its authorization server is {server.issuer} now, and was {login.issuer}.")
                await self._keep(session, None)  # credentials of one server are not sent to another
            elif may_renew and await self._renew(session):
                session.renewed = session.login.token.access_token if session.login else None
                return True
            if not self._can_log_in:
                return False
            wanted = Grant(resource, server, self._wanted_scopes(session, resource, server, required))
            obtained = await self._obtain(wanted, requests, session.login)
            async with self._renewing(session.url):  # a renewal under way would save the earlier login again
                await self._keep(session, obtained)
            return True

    def _count_extension(self, session: _Session, required: Sequence[str]) -> None:
        scopes = frozenset(required)
        session.extensions[scopes] += 1
        if session.extensions[scopes] > MAX_LOGINS_PER_SCOPES:
            names = ", ".join(sorted(scopes)) or "more scopes"
            raise LoginFailedError(f"the server still requires {names} after {MAX_LOGINS_PER_SCOPES} logins.")

    def _chosen_issuer(self, resource: ResourceMetadata, earlier: Login | None) -> str:
        own = self._client.issuer or (earlier.issuer if earlier else "") if self._client else ""
        if own and own not in resource.issuers:
            names = excerpt(", ".join(resource.issuers))
            raise LoginFailedError(f"the client is registered at {own}, but the server requires tokens of {names}.")
        return own or resource.issuers[0]

    def _wanted_scopes(
        self, session: _Session, resource: ResourceMetadata, server: ServerMetadata, required: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the scopes to request: those of the challenge, else those of the metadata, and all earlier scopes."""
        basic = self._scopes if self._scopes is not None else [] if required else resource.scopes
        earlier = session.login.scopes if session.login else ()
        return tuple(dict.fromkeys([*earlier, *basic, *required]))

    # --- what subclasses decide

    @property
    def _can_log_in(self) -> bool:
        """True if this object can obtain a token without a refresh token."""
        raise NotImplementedError

    async def _obtain(self, grant: Grant, requests: JsonRequests, earlier: Login | None) -> Login:
        """Log in. `earlier` is the last login at the same authorization server."""
        raise NotImplementedError

    # --- renewal

    async def _renew_before_use(self, session: _Session) -> None:
        """Renew an expired token. If that fails, keep it: the server then responds with a challenge."""
        with suppress(LoginFailedError), _noted_outage(session):
            await self._renew(session)

    async def _renew(self, session: _Session) -> bool:
        """Use the refresh token. Return False if there is none, or if it is no longer valid.

        Cancelling a request does not cancel the renewal: the server may have replaced the refresh token already.
        """
        if session.renewal is None:

            def end(task: asyncio.Task[bool]) -> None:
                session.renewal = None
                if not task.cancelled():
                    task.exception()  # the request may have ended

            session.renewal = asyncio.get_running_loop().create_task(self._use_refresh_token(session))
            session.renewal.add_done_callback(end)
        return await asyncio.shield(session.renewal)

    async def _use_refresh_token(self, session: _Session) -> bool:
        async with self._renewing(session.url):
            return await self._reload(session) or await self._request_renewal(session)

    async def _request_renewal(self, session: _Session) -> bool:
        login = session.login
        if login is None or login.token.refresh_token is None:
            return False
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": login.token.refresh_token,
            "resource": login.resource,
        }
        try:
            async with JsonRequests.opened(session.url, self._exchange) as requests:
                token = await request_token(requests, login.token_endpoint, login.issuer, login.client, fields)
        except TokenRefusedError as error:
            client = login.client._replace(redirect_uri="") if error.code in FORGOTTEN_CLIENT else login.client
            await self._keep(session, login._replace(client=client, token=login.token._replace(refresh_token=None)))
            return False
        if token.refresh_token is None:  # the server does not rotate it
            token = token._replace(refresh_token=login.token.refresh_token)
        await self._keep(session, login._replace(token=token))
        return True

    async def _reload(self, session: _Session) -> bool:
        """Return True if another process that shares the store has renewed the token, or has logged in.

        Forget a login that another process has removed from the store.
        """
        saved, current = await self._load(session), session.login
        if saved is None and self._store is not None:
            session.login = None
        if saved is None or (current is not None and saved.token.access_token == current.token.access_token):
            return False
        session.login = saved
        return not _has_expired(saved)

    # --- sessions and their store

    async def _session(self, url: str) -> _Session:
        server = canonical(url)
        session = self._sessions.setdefault(server, _Session(server))
        version = self._version()
        if session.version != version:
            async with session.lock:
                if session.version != version:
                    session.login = await self._load(session)
                    session.version = version
        return session

    async def _load(self, session: _Session) -> Login | None:
        saved = None if self._store is None else await self._store.load(session.url)
        login = None if saved is None else from_json(saved)
        if login is None or self._client is None:
            return login
        own = self._client
        if own.client_id != login.client.client_id or (own.issuer and own.issuer != login.issuer):
            return None  # of another client
        return login._replace(client=own._replace(method=login.client.method))

    async def _keep(self, session: _Session, login: Login | None) -> None:
        session.login = login
        if self._store is not None:
            saved = None if login is None else to_json(login, is_registered=self._client is not None)
            await self._store.save(session.url, saved)


def _has_expired(login: Login | None) -> bool:
    return login is not None and login.token.expires_at is not None and time() >= login.token.expires_at


@contextmanager
def _noted_outage(session: _Session) -> Iterator[None]:
    """Fail at once if the authorization server did not respond a moment ago. Note if it does not respond now.

    Raises:
        ServerUnavailableError: it does not respond.
    """
    if monotonic() < session.outage_ends:
        raise ServerUnavailableError(session.outage)
    try:
        yield
    except ServerUnavailableError as error:
        session.outage, session.outage_ends = str(error), monotonic() + OUTAGE_SECONDS
        raise
