"""The bodies of aiohttp's requests."""

from __future__ import annotations

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from pegboard_plugins.transports.http.exchange import BodyTooLargeError, BrokenBodyError


def arrived_body(request: web.BaseRequest) -> bytes | None:
    """Return the body of a request, or None if it is incomplete or invalid."""
    content = request.content
    return content.read_nowait() if content.is_eof() and content.exception() is None else None


async def read_body(request: web.BaseRequest, _limit: int) -> bytes:
    """Return the body of a request when it has arrived. aiohttp knows the limit.

    Raises:
        BodyTooLargeError: the body is larger than the limit.
        BrokenBodyError: the framing is invalid, or the client has gone.
    """
    try:
        if request.headers.get("Expect", "").lower() == "100-continue":
            await _invite(request)
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise BodyTooLargeError from error
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError) as error:
        raise BrokenBodyError from error


async def _invite(request: web.BaseRequest) -> None:
    """Send 100 Continue (RFC 9110 section 10.1.1)."""
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0
