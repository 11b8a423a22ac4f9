"""Requests on the connections of an aiohttp connector, without `ClientSession`.

The session handles cookies, redirects, proxies, traces and credentials in URLs, which these requests do not have. It
takes more time than the rest of a request, and accepts any number of interim responses. In Python 3.11 it also writes
each body in a task of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

import aiohttp
from aiohttp import hdrs
from aiohttp.http import StreamWriter
from yarl import URL

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
