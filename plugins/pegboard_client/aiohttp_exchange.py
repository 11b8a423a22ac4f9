"""HTTP requests with aiohttp."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_address
from types import TracebackType
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from pegboard.errors import TransportError
from pegboard_client.client_errors import ConnectionLostError, UnreachableError
from pegboard_client.direct_requests import DirectResponse, DirectTarget, direct_target
from pegboard_client.http_exchange import HttpReply
from pegboard_client.public_addresses import is_public

MAX_CONNECT_SECONDS = 30
_HEADERS = {"Accept-Encoding": "identity"}
_DIRECT = {("POST", False), ("GET", True), ("DELETE", True)}
"""The requests that need no session: the method, and True if there is no body."""
_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""After 60 seconds of silence the system asks the peer, and gives up 60 seconds later."""
_quotation = re.compile(r"( when reading| for https?://|:?\n|: <|:? b['\"]).*", re.DOTALL)
"""The part of an error message of aiohttp that may quote the response or a URL."""


class AiohttpExchange:
    """Sends HTTP requests. Keeps connections open for reuse.

    Args:
        public_only: True to connect to public addresses only, without a proxy. Use it for URLs that strangers choose.
    """

    def __init__(self, *, public_only: bool = False) -> None:
        # a standalone stream and each call in flight have a connection
        make_socket = _public_socket if public_only else _lasting_socket
        self._connector = aiohttp.TCPConnector(limit=0, socket_factory=make_socket)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=MAX_CONNECT_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
            auto_decompress=False,  # a small body could expand to any size
        )
        self._proxy_of = _no_proxy if public_only else cache(_environment_proxy)
        self._target_url = ""
        self._target: DirectTarget | None = None

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> AiohttpReply:
        """Send one request."""
        proxy = self._proxy_of(url)
        is_direct = proxy is None and (method, body is None) in _DIRECT
        target = self._target_of(url) if is_direct else None
        return AiohttpReply(self._session, method, url, headers, body, proxy, target)

    def _target_of(self, url: str) -> DirectTarget | None:
        """Return the target of a URL. Most clients send all requests to one URL."""
        if url != self._target_url:
            self._target_url = url
            self._target = direct_target(self._connector, url, _HEADERS, self._timeout)
        return self._target

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _lasting_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket that notices a vanished peer, because an event stream may carry nothing for hours."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE.items():
        if hasattr(socket, option):  # not every platform has each of them
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def _public_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket for an address that a name has resolved to.

    Raises:
        PermissionError: the address is not public.
    """
    if not is_public(str(address[4][0])):
        raise PermissionError(errno.EACCES, "the address is not public")
    return _lasting_socket(address)


def _no_proxy(url: str) -> str | None:
    """Return None: a proxy could reach addresses that are not public."""
    return None


def _environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for a URL: `https_proxy`, `http_proxy` and `no_proxy`.

    Requests to this machine use no proxy, because they may contain credentials without encryption.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # the request reports it
        return None
    host = parts.hostname or ""
    return None if _is_loopback(host) or proxy_bypass(host) else getproxies().get(parts.scheme)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".") == "localhost" or host.endswith(".localhost")


def _reason(error: Exception) -> str:
    """Return the reason of a failure without URLs and without bytes of the response. They may contain secrets."""
    text = str(error)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        text = "Server disconnected"  # its message may contain the beginning of the response
    elif isinstance(error, aiohttp.ClientResponseError):
        text = f"{error.status} {error.message}"
    elif isinstance(error, HttpProcessingError):
        text = f"{error.code} {error.message}"
    return _quotation.sub("", text) or type(error).__name__


class AiohttpReply:
    """One request and its response."""

    __slots__ = ("_body", "_headers", "_method", "_proxy", "_response", "_session", "_target", "_url")

    def __init__(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        proxy: str | None,
        target: DirectTarget | None,
    ) -> None:
        self._session = session
        self._method = method
        self._url = url
        self._headers = headers
        self._body = body
        self._proxy = proxy
        self._target = target
        self._response: aiohttp.ClientResponse | DirectResponse | None = None

    async def __aenter__(self) -> HttpReply:
        if self._session.closed:
            raise UnreachableError("the client is closed")
        try:
            self._response = response = await self._begin()
        except TimeoutError:
            raise UnreachableError(f"cannot connect: no answer within {MAX_CONNECT_SECONDS} seconds") from None
        except aiohttp.ClientConnectorError as error:
            raise UnreachableError(f"cannot connect: {_connect_reason(error)}") from None
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError):
            raise TransportError("the address is not a URL of an HTTP server; write https://HOST/PATH") from None
        except (aiohttp.ClientError, HttpProcessingError, ValueError) as error:
            raise ConnectionLostError(f"no response: {_reason(error)}") from None
        return HttpReply(response.status, response.headers, _Chunks(response.content))

    async def _begin(self) -> aiohttp.ClientResponse | DirectResponse:
        if self._target is not None:
            return await self._target.request(self._method, self._headers, self._body)
        return await self._session.request(
            self._method,
            self._url,
            data=None if self._body is None else aiohttp.BytesPayload(self._body),
            headers=self._headers,
            allow_redirects=False,
            proxy=self._proxy,
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._response is not None:
            self._response.release()  # closes the connection if the body has not ended


def _connect_reason(error: aiohttp.ClientConnectorError) -> str:
    """Return the reason of a failed connection, without the address."""
    cause = getattr(error, "certificate_error", None) or error.os_error
    if isinstance(cause, socket.gaierror | ssl.SSLError) or not cause.errno:
        return cause.strerror or str(cause)
    return os.strerror(cause.errno)


class _Chunks:
    """The body of a response."""

    __slots__ = ("_content",)

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content

    def __aiter__(self) -> _Chunks:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._content.readany()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ConnectionLostError(f"the response broke off: {_reason(error)}") from None
        if not chunk:
            raise StopAsyncIteration
        return chunk
