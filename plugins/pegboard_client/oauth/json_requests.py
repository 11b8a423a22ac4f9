"""HTTP requests of a login: JSON documents of limited size, over https. Redirects are not followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from pegboard.errors import TransportError
from pegboard.types.callers import EMPTY
from pegboard.wire.codec import decode, encode
from pegboard_client.http_exchange import HttpExchange
from pegboard_client.oauth.refusals import excerpt

MAX_LOGIN_DOCUMENT_BYTES = 256 * 1024
"""The limit of a metadata document and of a token response."""
MAX_LOGIN_REQUEST_SECONDS = 30.0
"""The limit of one request."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}


class LoginFailedError(Exception):
    """A login failed. The message is for the person and contains no credentials."""


class ServerUnavailableError(LoginFailedError):
    """The authorization server does not respond, or fails at present. The same login may succeed later."""


class UnregisteredError(LoginFailedError):
    """The authorization server registers no clients itself, and the program has no client id of it."""


class JsonRequests:
    """Sends the requests of one login.

    Args:
        exchange: sends the HTTP requests.
        allows_loopback: True if plain http to this machine is allowed. Servers elsewhere must not name such addresses.
    """

    def __init__(self, exchange: HttpExchange, *, allows_loopback: bool) -> None:
        self._exchange = exchange
        self._allows_loopback = allows_loopback

    @classmethod
    @asynccontextmanager
    async def opened(cls, server: str, exchange: HttpExchange | None = None) -> AsyncIterator[JsonRequests]:
        """Yield an object for the requests of a login at a server.

        Args:
            server: the URL of the server. If it is on this machine, plain http to this machine is allowed.
            exchange: sends the HTTP requests; None for one that is closed at the end.
        """
        async with AsyncExitStack() as stack:
            if exchange is None:
                from pegboard_client.aiohttp_exchange import AiohttpExchange  # a start of the host does not need it

                exchange = AiohttpExchange()
                stack.push_async_callback(exchange.close)
            yield cls(exchange, allows_loopback=names_this_machine(server))

    def check(self, url: str) -> None:
        """Check that a URL uses https, or http to this machine if that is allowed.

        Raises:
            LoginFailedError: the URL is not safe.
        """
        if not _is_safe(url, allows_loopback=self._allows_loopback):
            raise LoginFailedError(f"'{excerpt(url)}' is not safe: a login requires an https URL.")

    async def get(self, url: str, headers: Mapping[str, str] = EMPTY) -> dict[str, Any] | None:
        """Return the JSON object at a URL, or None if the response is anything else."""
        status, document = await self.get_with_status(url, headers)
        return document if status == 200 else None

    async def get_with_status(self, url: str, headers: Mapping[str, str] = EMPTY) -> tuple[int, dict[str, Any] | None]:
        """Return the status of a URL, and the body if it is a JSON object."""
        return await self._send("GET", url, headers, None)

    async def post_form(
        self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any] | None]:
        """Send a form. Return the status, and the body if it is a JSON object."""
        own = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return await self._send("POST", url, own, urlencode(fields).encode())

    async def post_json(
        self, url: str, value: Mapping[str, Any] | None, headers: Mapping[str, str] = EMPTY
    ) -> tuple[int, dict[str, Any] | None]:
        """Send a JSON object or `null`. Return the status, and the body if it is a JSON object."""
        return await self._send("POST", url, {"Content-Type": "application/json", **headers}, encode(value))

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, dict[str, Any] | None]:
        self.check(url)
        try:
            async with asyncio.timeout(MAX_LOGIN_REQUEST_SECONDS):
                sent = {"Accept": "application/json", **headers}
                async with self._exchange(method, url, sent, body) as reply:
                    content = bytearray()
                    async for chunk in reply.chunks:
                        content += chunk
                        if len(content) > MAX_LOGIN_DOCUMENT_BYTES:
                            raise LoginFailedError(
                                f"the response of {url} has more than {MAX_LOGIN_DOCUMENT_BYTES:,} bytes."
                            )
                    return reply.status, _object(bytes(content))
        except TransportError as error:
            raise ServerUnavailableError(f"{url} cannot be reached: {error}") from error
        except TimeoutError:
            raise ServerUnavailableError(
                f"{url} did not respond within {MAX_LOGIN_REQUEST_SECONDS:.0f} seconds."
            ) from None


def is_outage(status: int) -> bool:
    """Return True if a status means that the same request may succeed later."""
    return status >= 500 or status == 429


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = decode(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def split(url: str) -> SplitResult | None:
    """Return the parts of a URL, or None if the URL is invalid or has credentials."""
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return (
        parts if valid and parts.username is None and url.isascii() and url.isprintable() and " " not in url else None
    )


def _is_safe(url: str, *, allows_loopback: bool) -> bool:
    parts = split(url)
    if parts is None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and allows_loopback and names_this_machine(url))


def checked_url(url: str) -> str:
    """Return the URL of a setting unchanged if credentials may be sent to it.

    Raises:
        ValueError: the URL is invalid, has a user or a fragment, or is neither https nor of this machine.
    """
    if (parts := split(url)) is None or parts.scheme not in _PORTS or "#" in url:
        raise ValueError("invalid URL: use one such as https://login.example.com, without a user and a fragment")
    if not _is_safe(url, allows_loopback=True):
        raise ValueError("the URL must be https: only servers on this machine may use http")
    return url


def names_this_machine(url: str) -> bool:
    """Return True if the host of a URL is a name of this machine."""
    parts = split(url)
    return parts is not None and parts.hostname in _LOOPBACK


def origin_of(url: str) -> tuple[str, str, int] | None:
    """Return the scheme, the host and the port of a URL, or None if it is invalid."""
    parts = split(url)
    if parts is None or parts.scheme not in _PORTS:
        return None
    return parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme]


def canonical(url: str) -> str:
    """Return the URL of an MCP server as a resource identifier (RFC 8707, section 2)."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), path=path, fragment="").geturl()
