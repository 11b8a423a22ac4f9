"""The HTTP client for GitHub. The token is sent to the configured API only.

aiohttp is imported by the first request, because the import is slow.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pegboard import AuthorizationRequiredError, FatalToolError, NetworkTransportError, ToolExecutionError
from pegboard.plugin import decode, encode
from toolkit_github.cache import Cache, Kept
from toolkit_github.config import GithubConfig
from toolkit_github.pages import next_page
from toolkit_github.paths import Query, query_string
from toolkit_github.problems import Refused, no_answer, not_fetched, not_understood, refusal, too_large
from toolkit_github.redirects import elsewhere, inside

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ["API_VERSION", "JSON", "Answer", "Ask", "Client"]

API_VERSION = "2022-11-28"
"""The version of the REST API. GitHub Enterprise Server supports it too."""
JSON = "application/vnd.github+json"
"""The media type of GitHub's JSON."""

_CONNECTIONS = 16
_CONNECT_SECONDS = 10.0
_REDIRECTIONS = 3
_NOTHING: Query = {}


class Ask(NamedTuple):
    """A request.

    Attributes:
        what: the requested item, as the beginning of a sentence: "Issue 5 of 'octocat/hello'".
        path: the percent-encoded path below the API's base.
        body: the JSON to send, or None for no body.
        limit: the largest response in bytes; 0 for the limit in the settings.
    """

    what: str
    path: str
    query: Query = _NOTHING
    method: str = "GET"
    body: Mapping[str, Any] | None = None
    accept: str = JSON
    limit: int = 0

    @property
    def label(self) -> str:
        """The request for the log: method and path."""
        return f"{self.method} {self.path}"

    @property
    def changes(self) -> bool:
        """True if the request may change something."""
        return self.method != "GET"


class Answer(NamedTuple):
    """A successful response. `data` is its JSON, or None for an empty body."""

    label: str
    data: Any
    next_page: int | None


class _Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """A client for one API with one HTTP session. The first request opens the session."""

    def __init__(self, config: GithubConfig) -> None:
        """Store the settings. The session is opened later."""
        self._config = config
        self._base = config.base_url
        self._cache = Cache(config.cache_bytes)
        self._session: ClientSession | None = None
        self._closed = False

    async def close(self) -> None:
        """Close the session. Further requests fail."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def ask(self, ask: Ask, token: str) -> Answer:
        """Send a request and read the response. A cached response is used if GitHub reports it as unchanged.

        Raises:
            UpstreamError: GitHub rejects the request, or the server is not GitHub.
            UpstreamRateLimitError: GitHub limits requests.
            NetworkTransportError: the response is missing or incomplete.
            RetryableToolError: the response is too large.
        """
        token = _checked(token)
        url = self._base + ask.path + query_string(ask.query)
        key = Cache.key(token, ask.accept, url)
        kept = None if ask.changes else self._cache.get(key)
        reply = await self._follow(ask, token, url, kept)
        if reply.status == 304 and kept is not None:
            reply = reply._replace(body=kept.body)
            link = kept.link
        elif 200 <= reply.status < 300:
            link = reply.headers.get("link", "")
            etag = reply.headers.get("etag", "")
            if etag and not ask.changes:
                self._cache.put(key, Kept(etag, link, reply.body))
        else:
            raise refusal(Refused(ask.what, ask.label, ask.changes, token, *reply))
        return Answer(ask.label, _decoded(ask, reply.body), next_page(link))

    async def location(self, ask: Ask, token: str) -> str:
        """Send a request that redirects to a file, and return the URL of the file.

        Raises:
            ToolRuntimeError: see `ask`. Also if the URL is not safe.
        """
        token = _checked(token)
        url = self._base + ask.path
        reply = await self._follow(ask, token, url, None, statuses=(301, 307, 308))
        if reply.status != 302 and not 200 <= reply.status < 300:
            raise refusal(Refused(ask.what, ask.label, ask.changes, token, *reply))
        place = elsewhere(self._base, url, reply.headers.get("location", "")) if reply.status == 302 else None
        if place is None:
            raise not_understood(ask.label)
        return place

    @asynccontextmanager
    async def read_elsewhere(self, place: str, what: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield the pieces of a file at the URL that GitHub returned. Do not send the token.

        Raises:
            UpstreamError, NetworkTransportError: the file is missing or incomplete.
        """
        session = await self._opened()
        from aiohttp import ClientError
        from yarl import URL

        try:
            async with session.get(URL(place, encoded=True), allow_redirects=False) as response:
                if response.status != 200:
                    raise not_fetched(what, response.status)
                yield response.content.iter_any()
        except (ClientError, OSError) as error:
            raise _no_answer(error, "GET of a file elsewhere", "") from None

    async def _follow(
        self, ask: Ask, token: str, url: str, kept: Kept | None, statuses: tuple[int, ...] | None = None
    ) -> _Reply:
        """Send a request and follow redirects within the API."""
        if statuses is None:
            statuses = (307, 308) if ask.changes else (301, 302, 307, 308)
        reply = await self._exchange(ask, token, url, kept)
        for _ in range(_REDIRECTIONS):
            target = inside(self._base, url, reply.headers.get("location", "")) if reply.status in statuses else None
            if target is None:
                break
            url = target
            reply = await self._exchange(ask, token, url, kept)
        return reply

    async def _exchange(self, ask: Ask, token: str, url: str, kept: Kept | None) -> _Reply:
        session = await self._opened()
        from aiohttp import ClientError
        from yarl import URL

        headers = {"Accept": ask.accept, "Authorization": f"Bearer {token}", "X-GitHub-Api-Version": API_VERSION}
        data = None
        if kept is not None:
            headers["If-None-Match"] = kept.etag
        if ask.body is not None:
            headers["Content-Type"] = "application/json"
            data = encode(ask.body)
        try:
            async with session.request(
                ask.method, URL(url, encoded=True), data=data, headers=headers, allow_redirects=False
            ) as response:
                body = await _read(response, ask.limit or self._config.max_answer_bytes, changes=ask.changes)
                return _Reply(response.status, response.headers, body)
        except (ClientError, OSError) as error:
            raise _no_answer(error, ask.label, token, changes=ask.changes) from None

    async def _opened(self) -> "ClientSession":
        if self._session is None:
            await asyncio.to_thread(import_module, "aiohttp")
        if self._closed:
            raise ToolExecutionError("The host is stopping.")
        if self._session is None:
            from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
            from importlib_metadata import version

            self._session = ClientSession(
                connector=TCPConnector(limit=_CONNECTIONS),
                cookie_jar=DummyCookieJar(),
                headers={"User-Agent": f"toolkit-github/{version('toolkit-github')}"},
                timeout=ClientTimeout(total=self._config.timeout_seconds, sock_connect=_CONNECT_SECONDS),
            )
        return self._session


async def _read(response: "ClientResponse", limit: int, *, changes: bool) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit:
            raise too_large(limit, changes=changes)
    return bytes(body)


def _no_answer(error: Exception, label: str, token: str, *, changes: bool = False) -> NetworkTransportError:
    """Return the error without `error` as its cause, because some aiohttp exceptions contain request headers."""
    from aiohttp import ClientConnectorError, ConnectionTimeoutError

    sent = not isinstance(error, ClientConnectorError | ConnectionTimeoutError)
    cause = str(error).replace(token, "(token)") if token else str(error)
    return no_answer(error, f"{label}: {type(error).__name__}: {cause}", changes=changes, sent=sent)


def _decoded(ask: Ask, body: bytes) -> Any:
    if not body:
        return None
    try:
        return decode(body)
    except ValueError:
        raise not_understood(ask.label, changes=ask.changes) from None


def _checked(token: str) -> str:
    token = token.strip()
    if not token:
        raise AuthorizationRequiredError("github", title="GitHub")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise FatalToolError("The GitHub token is invalid: set a token of printable ASCII characters without spaces.")
    return token
