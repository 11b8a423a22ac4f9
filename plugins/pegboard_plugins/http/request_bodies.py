"""The bodies of requests, read within the limits on size, time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from pegboard.types import Response
from pegboard_plugins.http.large_bodies import LargeBodies
from pegboard_plugins.http.refusal_responses import BROKEN, CODED, ENCODED, NO_ROOM, TOO_SLOW, too_large
from pegboard_plugins.http.settings import HttpConfig


class RequestBodies:
    """Reads the bodies of the requests of one server.

    Args:
        config: the server's settings.
    """

    def __init__(self, config: HttpConfig) -> None:
        self._config = config
        self._large_bodies = LargeBodies(config.max_body_bytes)
        self._too_large = too_large(config.max_body_bytes)

    async def read(self, request: web.BaseRequest, key: Hashable) -> bytes | Response:
        """Return the body of a request, or the error response. Count a large body until `forget`.

        Args:
            request: the request.
            key: identifies the request until `forget`.
        """
        content = request.content
        if content.is_eof() and content.exception() is None:
            return self._received(request)
        if (refusal := _refusal(request)) is not None:
            return refusal
        if (request.content_length or 0) > self._config.max_body_bytes:
            return self._too_large
        if not self._large_bodies.has_room(request.content_length, key):
            return NO_ROOM
        try:
            async with asyncio.timeout(self._config.body_seconds):
                if request.headers.get("Expect", "").lower() == "100-continue":
                    await _invite(request)
                body = await request.read()
                self._large_bodies.has_room(len(body), key)
                return body
        except web.HTTPRequestEntityTooLarge:
            return self._too_large
        except TimeoutError:
            return TOO_SLOW
        except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
            return BROKEN

    def forget(self, key: Hashable) -> None:
        """Stop to count the body of a request."""
        self._large_bodies.forget(key)

    def _received(self, request: web.BaseRequest) -> bytes | Response:
        """Return a body that arrived with the headers, or the error response if the body is too large."""
        body = request.content.read_nowait()
        if body and (refusal := _refusal(request)) is not None:
            return refusal
        return body if len(body) <= self._config.max_body_bytes else self._too_large


async def _invite(request: web.BaseRequest) -> None:
    """Send 100 Continue (RFC 9110 section 10.1.1)."""
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0


def _refusal(request: web.BaseRequest) -> Response | None:
    """Return the error response to an encoded body; None for other bodies."""
    headers = request.headers
    if headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        return ENCODED
    return CODED if headers.get(hdrs.TRANSFER_ENCODING, "chunked").strip().lower() != "chunked" else None
