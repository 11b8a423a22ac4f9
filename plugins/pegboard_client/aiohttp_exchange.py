"""HTTP requests with aiohttp."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from types import TracebackType
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import hdrs
from aiohttp.http import StreamWriter
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from pegboard.errors import TransportError
from pegboard_client.client_errors import ConnectionLostError, UnreachableError
from pegboard_client.http_exchange import HttpReply

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
        # a proxy could reach addresses that are not public
        self._proxy_of = (lambda url: None) if public_only else cache(_environment_proxy)
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
    """The chunks of the body of a response."""

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


# --- The addresses that a host may connect to for strangers (server-side request forgery).

_WITH_IPV4 = IPv6Network("64:ff9b::/96"), IPv6Network("::/96")
"""Addresses that contain an IPv4 address (RFC 6052; RFC 4291, section 2.5.5.1)."""
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
"""Addresses that contain an IPv4 address of the local network (RFC 8215)."""


def is_public(address: str) -> bool:
    """Return True if an IP address is public. An IPv4 address inside an IPv6 address decides."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed in _LOCAL_NAT64 or parsed.is_site_local:
            return False
        has_ipv4 = any(parsed in network for network in _WITH_IPV4)
        contained = IPv4Address(int(parsed) & 0xFFFFFFFF) if has_ipv4 else None
        parsed = contained or parsed.ipv4_mapped or parsed.sixtofour or parsed
    return parsed.is_global and not parsed.is_multicast


# --- Requests on the connections of an aiohttp connector, without `ClientSession`.
# The session handles cookies, redirects, proxies, traces and credentials in URLs, which these requests do not have. It
# takes more time than the rest of a request, and accepts any number of interim responses. In Python 3.11 it also writes
# each body in a task of its own.

MAX_INTERIM_RESPONSES = 100
"""The maximum number of interim responses (RFC 9110, section 15.2) before a response."""
_SCHEMES = ("http", "https")


class DirectTarget:
    """A URL that receives requests.

    Args:
        connector: the connections.
        url: an absolute URL of HTTP, without credentials.
        headers: headers of each request.
        timeout: the limit on the time to connect.
    """

    def __init__(
        self, connector: aiohttp.BaseConnector, url: URL, headers: Mapping[str, str], timeout: aiohttp.ClientTimeout
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._connector = connector
        self._timeout = timeout
        # never sent: the connector finds a connection by the attributes of this request
        self._model = aiohttp.ClientRequest(hdrs.METH_POST, url, headers=headers, loop=self._loop)
        self._path = url.raw_path_qs

    async def request(self, method: str, headers: Mapping[str, str], body: bytes | None) -> DirectResponse:
        """Send one request, and return the response when its headers have arrived.

        A request without a body is sent again if its connection is lost before the response, because a server may close
        an idle connection at that moment (RFC 9112, section 9.3.1). Its method must be idempotent.

        Raises:
            aiohttp.ClientError: the server cannot be reached, the connection was lost, or there are too many interim
                responses.
            aiohttp.http_exceptions.HttpProcessingError: the response is not valid HTTP.
            TimeoutError: the server did not accept the connection in time.
            ValueError: a header contains a line break.
        """
        try:
            return await self._request(method, headers, body)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            if body is not None:
                raise
        return await self._request(method, headers, body)

    async def _request(self, method: str, headers: Mapping[str, str], body: bytes | None) -> DirectResponse:
        sent = self._model.headers.copy()
        sent.update(headers)
        if body is not None:
            sent[hdrs.CONTENT_LENGTH] = str(len(body))
        connection = await self._connector.connect(self._model, traces=[], timeout=self._timeout)
        try:
            protocol = connection.protocol
            assert protocol is not None  # it is not released yet
            protocol.set_response_params(read_until_eof=True, auto_decompress=False)
            writer = StreamWriter(protocol, self._loop)
            await writer.write_headers(f"{method} {self._path} HTTP/1.1", sent)
            # a server may answer before it has read a large body
            await (writer.write_eof() if body is None else writer.write(body, drain=False))
            for _ in range(MAX_INTERIM_RESPONSES + 1):
                message, content = await protocol.read()
                if not 100 <= message.code <= 199 or message.code == HTTPStatus.SWITCHING_PROTOCOLS:
                    return DirectResponse(connection, message.code, message.headers, content)
            raise aiohttp.ClientConnectionError(f"the server sent more than {MAX_INTERIM_RESPONSES} interim responses")
        except BaseException:
            connection.close()
            raise


class DirectResponse:
    """A response.

    Attributes:
        status: the status.
        headers: the headers.
        content: the body.
    """

    __slots__ = ("_connection", "content", "headers", "status")

    def __init__(
        self,
        connection: aiohttp.connector.Connection,
        status: int,
        headers: Mapping[str, str],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers
        self.content = content

    def release(self) -> None:
        """Keep the connection for other requests if both bodies have ended. Otherwise close it."""
        transport = self._connection.transport
        if transport is not None and transport.get_write_buffer_size():
            self._connection.close()
        else:
            self._connection.release()


def direct_target(
    connector: aiohttp.BaseConnector, url: str, headers: Mapping[str, str], timeout: aiohttp.ClientTimeout
) -> DirectTarget | None:
    """Return the target of a URL, or None if only `ClientSession` can use the URL or report its fault."""
    try:
        parsed = URL(url)
    except ValueError:
        return None
    if parsed.scheme not in _SCHEMES or not parsed.raw_host or parsed.raw_user or parsed.raw_password:
        return None
    return DirectTarget(connector, parsed, headers, timeout)
