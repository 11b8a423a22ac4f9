"""Introspection of access tokens by their authorization server (RFC 7662), once for all requests with a token.

Requests are limited for each server and for each peer. Known tokens have their own limits, so that invented tokens do
not delay known callers. Active tokens are remembered by `token_authenticator.py`.
"""

from __future__ import annotations

import asyncio
import logging
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic, time
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from pegboard_plugins.auth.resource_server.claims import (
    MAX_TIMESTAMP_SECONDS,
    CheckUnavailableError,
    InvalidTokenError,
    VerifiedToken,
    caller_of,
    check_audience,
    check_unbound,
)
from pegboard_plugins.auth.resource_server.conversions import canonical_url
from pegboard_plugins.auth.resource_server.documents import FetchError, discover, fetch
from pegboard_plugins.auth.resource_server.settings import AuthorizationServer, Introspection, ResourceServerConfig
from pegboard_plugins.support.fair_limit import FairLimit, peer_network
from pegboard_plugins.support.latest_entries import LatestEntries

MAX_CONCURRENT = 10
"""The number of concurrent requests to one server about unknown tokens, and the number about known tokens."""
MAX_CONCURRENT_PER_PEER = 5
"""The number of concurrent requests about unknown tokens of one peer."""
CLIENT_PREFIX = "client:"
"""The prefix of subjects of programs that act for no user."""
_RESPONSE_MEMBERS = frozenset(("active", "token_type"))
"""Members of a response that do not describe the caller."""

logger = logging.getLogger("pegboard.plugins.resource_server")


class Introspector:
    """An authorization server with an introspection endpoint.

    Args:
        server: the settings of the server.
        login: the settings of its introspection.
        config: the plugin's settings.
    """

    def __init__(self, server: AuthorizationServer, login: Introspection, config: ResourceServerConfig) -> None:
        self._issuer = server.issuer
        self._login = login
        self._config = config
        self._audiences = frozenset(canonical_url(name) for name in server.audiences or (config.resource,))
        self._leeway = config.leeway_seconds if server.leeway_seconds is None else server.leeway_seconds
        self._new = FairLimit(MAX_CONCURRENT, MAX_CONCURRENT_PER_PEER)
        self._renewals = FairLimit(MAX_CONCURRENT, MAX_CONCURRENT)
        self._lookup_lock = asyncio.Lock()
        self._url = login.url
        self._found_at: float | None = None
        self._logged_at: float | None = None

    async def verify(self, token: str, peer: str, *, known: bool) -> VerifiedToken | None:
        """Introspect a token. Return None if the server does not know it.

        Args:
            token: the token.
            peer: the address of the client, for limits.
            known: True if the token was accepted before.

        Raises:
            InvalidTokenError: the token is active but not valid here.
            CheckUnavailableError: the server does not respond.
        """
        lane = self._renewals if known else self._new
        try:
            async with asyncio.timeout(self._config.fetch_seconds), lane.place(peer):
                response = await self.ask(token)
        except (FetchError, TimeoutError) as error:
            self._log_problem(str(error) or f"no response within {self._config.fetch_seconds:g} seconds")
            raise CheckUnavailableError(self._config.refresh_interval_seconds) from None
        return self._accept(response) if response["active"] else None

    async def ask(self, token: str) -> Mapping[str, Any]:
        """Return the introspection response for a token (RFC 7662, section 2), without a time limit.

        Raises:
            FetchError: there is no usable response.
        """
        url = await self._find_endpoint()
        try:
            response = await fetch(url, {"token": token, "token_type_hint": "access_token"}, _basic(self._login))
            if not isinstance(response, dict) or type(response.get("active")) is not bool:
                raise FetchError(f"{url} returned no valid member 'active'")
        except BaseException as error:
            if isinstance(error, FetchError) or self._may_look_again():
                self._url = self._login.url  # it may have moved
            raise
        return response

    async def _find_endpoint(self) -> str:
        async with self._lookup_lock:
            if self._url is None:
                self._url = await discover(self._issuer, "introspection_endpoint")
                self._found_at = monotonic()
            return self._url

    def _may_look_again(self) -> bool:
        """Return True if the endpoint may be looked up again after a request without response."""
        return self._found_at is None or monotonic() - self._found_at >= self._config.refresh_interval_seconds

    def _log_problem(self, problem: str) -> None:
        """Log a problem, at most once per interval."""
        now = monotonic()
        if self._logged_at is None or now - self._logged_at >= self._config.refresh_interval_seconds:
            self._logged_at = now
            logger.warning("%s cannot validate tokens: %s", self._issuer, problem)

    def _accept(self, response: Mapping[str, Any]) -> VerifiedToken:
        """Return an active token if it is for this resource and time."""
        if response.get("iss", self._issuer) != self._issuer:
            raise InvalidTokenError("The token is from another issuer.")
        self._check_use(response)
        end = self._expiry(response)
        claims = {name: value for name, value in response.items() if name not in _RESPONSE_MEMBERS}
        caller = caller_of(claims, _subject(response), self._issuer, self._config)
        until = min(end, time() + self._config.introspected_seconds)
        return VerifiedToken(caller=caller, until=until, holds=lambda: True)

    def _check_use(self, response: Mapping[str, Any]) -> None:
        """Check that a token is an access token for this resource."""
        kind = response.get("token_type")
        is_bearer = isinstance(kind, str) and kind.lower() == "bearer"
        if not (kind is None or is_bearer):
            raise InvalidTokenError("The token is not of an accepted type.")
        check_unbound(response)
        audience = response.get("aud")
        if audience is not None:
            check_audience(audience, self._audiences)
        elif not self._login.proves_audience:
            raise InvalidTokenError("The token lacks aud.")
        elif not is_bearer:  # without both it may be any token, even a refresh token
            raise InvalidTokenError("The token lacks aud and token_type.")

    def _expiry(self, response: Mapping[str, Any]) -> float:
        """Return the expiry of a token, or raise `InvalidTokenError` if it is not valid now."""
        now = time()
        if _time(response, "exp", MAX_TIMESTAMP_SECONDS) <= now - self._leeway:
            raise InvalidTokenError("The token has expired.")
        if max(_time(response, "nbf", 0), _time(response, "iat", 0)) > now + self._leeway:
            raise InvalidTokenError("The token is not valid yet.")
        return _time(response, "exp", MAX_TIMESTAMP_SECONDS)


def _basic(login: Introspection) -> Mapping[str, str]:
    """Return the header with the client's credentials (RFC 6749, section 2.3.1)."""
    pair = ":".join(quote_plus(part) for part in (login.client_id, login.client_secret.get_secret_value()))
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _time(response: Mapping[str, Any], name: str, default: float) -> float:
    value = response.get(name)
    if value is None:
        return default
    if type(value) not in (int, float) or not 0 <= value <= MAX_TIMESTAMP_SECONDS:
        raise InvalidTokenError("The token is invalid.")
    return float(value)


def _subject(response: Mapping[str, Any]) -> str:
    """Return the subject: a user, or else a program with a prefix that no user has."""
    subject, client = response.get("sub"), response.get("client_id")
    if subject is None and isinstance(client, str) and client:
        return CLIENT_PREFIX + client
    if not isinstance(subject, str) or not subject or subject.startswith(CLIENT_PREFIX):
        raise InvalidTokenError("The token lacks sub.")
    return subject


# --- Introspection once for all requests with a token, and with limits for each peer.


MAX_ASKED = 1000
"""The number of unknown tokens that may wait for a response at once."""
MAX_ASKED_PER_PEER = 50
"""The number of these tokens from one peer."""
MAX_KNOWN = 10_000
"""The number of tokens that are remembered as known."""
MAX_REFUSED = 10_000
"""The number of remembered refusals."""
REFUSED_SECONDS = 5.0
"""The maximum time for which a refusal is remembered. The token may be valid a moment later."""
RETRY_SECONDS = 1.0
"""The time after which a client may repeat a request whose token was not introspected."""

_Result = VerifiedToken | InvalidTokenError | CheckUnavailableError


class PresentedToken(NamedTuple):
    """A token to introspect.

    Attributes:
        token: the token.
        digest: its digest, the key of all caches.
        peer: the address of the client.
    """

    token: str
    digest: bytes
    peer: str


class IntrospectionQueue:
    """Introspection of tokens. Refusals are remembered briefly.

    Args:
        refused_seconds: the time for which a refusal is remembered.
    """

    def __init__(self, refused_seconds: float) -> None:
        self._refused_seconds = min(refused_seconds, REFUSED_SECONDS)
        self._known: LatestEntries[bytes, None] = LatestEntries(MAX_KNOWN)
        self._refused: LatestEntries[bytes, tuple[float, str]] = LatestEntries(MAX_REFUSED)
        self._running: dict[bytes, asyncio.Task[_Result]] = {}
        self._waiting: Counter[str] = Counter()

    async def close(self) -> None:
        """Cancel running requests. Their callers get a `CheckUnavailableError`."""
        if tasks := list(self._running.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def introspect(self, presented: PresentedToken, servers: Sequence[Introspector]) -> VerifiedToken:
        """Return a token that one of the servers accepts.

        Raises:
            InvalidTokenError: the token is invalid.
            CheckUnavailableError: no server responded, or the peer has too many tokens waiting.
        """
        task = self._running.get(presented.digest)
        if task is None:
            self._check_refused(presented.digest)
            task = self._begin(presented._replace(peer=peer_network(presented.peer)), servers)
        result = await asyncio.shield(task)
        if isinstance(result, VerifiedToken):
            return result
        raise (
            InvalidTokenError(str(result))
            if isinstance(result, InvalidTokenError)
            else CheckUnavailableError(result.seconds)
        )

    def _check_refused(self, digest: bytes) -> None:
        refused = self._refused.get(digest)
        if refused is not None:
            if monotonic() < refused[0]:
                raise InvalidTokenError(refused[1])
            del self._refused[digest]

    def _begin(self, presented: PresentedToken, servers: Sequence[Introspector]) -> asyncio.Task[_Result]:
        known = presented.digest in self._known
        if not known:
            if self._waiting[presented.peer] >= MAX_ASKED_PER_PEER or self._waiting.total() >= MAX_ASKED:
                raise CheckUnavailableError(RETRY_SECONDS)
            self._waiting[presented.peer] += 1
        task = asyncio.get_running_loop().create_task(self._introspect_once(presented, servers, known=known))
        self._running[presented.digest] = task
        return task

    async def _introspect_once(
        self, presented: PresentedToken, servers: Sequence[Introspector], *, known: bool
    ) -> _Result:
        try:
            verified = await _first_result(presented, servers, known=known)
            self._known.keep(presented.digest, None)
            return verified
        except InvalidTokenError as error:
            self._known.pop(presented.digest, None)
            if self._refused_seconds:
                self._refused.keep(presented.digest, (monotonic() + self._refused_seconds, str(error)))
            return error
        except CheckUnavailableError as error:
            return error
        except asyncio.CancelledError:  # only `close` cancels this task
            return CheckUnavailableError(RETRY_SECONDS)
        finally:
            del self._running[presented.digest]
            if not known:
                self._release(presented.peer)

    def _release(self, peer: str) -> None:
        self._waiting[peer] -= 1
        if not self._waiting[peer]:
            del self._waiting[peer]


async def _first_result(presented: PresentedToken, servers: Sequence[Introspector], *, known: bool) -> VerifiedToken:
    """Return the result of the first server that knows the token. Later servers do not see the token.

    Raises:
        InvalidTokenError: the token is invalid, or no server knows it.
        CheckUnavailableError: a server that may know it does not respond, and no other server knows it.
    """
    missing: CheckUnavailableError | None = None
    for server in servers:
        try:
            verified = await server.verify(presented.token, presented.peer, known=known)
        except CheckUnavailableError as error:
            missing = error
            continue
        if verified is not None:
            return verified
    raise missing or InvalidTokenError("The token is not active.")
