"""The answer that nearly every request gets, JSON with status 200, written in one go.

Making aiohttp's own response costs as much as calling a small tool does; it stays for whatever is out of the ordinary.
"""

from __future__ import annotations

from email.utils import formatdate
from time import time

from aiohttp import HttpVersion11, web

from pegboard.types import Response

MAX_FAST_BODY_BYTES = 64 * 1024
"""A longer body may not fit into the buffers between here and the peer, in bytes."""


class WrittenResponse(web.StreamResponse):
    """What aiohttp gets for a response that has been written already, on a connection that stays open."""

    @property
    def keep_alive(self) -> bool:
        """Whether there may be another request."""
        return True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Nothing is left to be done."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to be said."""


class ResponseHead:
    """The head of such answers, the same for a second but for the length."""

    def __init__(self) -> None:
        self._second = 0
        self._head = b""

    def before(self, body: bytes) -> bytes:
        """The head and the body (RFC 9112, section 2.1)."""
        if (now := int(time())) != self._second:
            self._second = now
            self._head = _head(now)
        return self._head % len(body) + body


def is_fast(request: web.BaseRequest, answer: Response) -> bool:
    """Whether a response to a request may be written so."""
    return (
        answer.status == 200
        and not answer.headers
        and 0 < len(answer.body) <= MAX_FAST_BODY_BYTES
        and answer.content_type == "application/json"
        and request.method == "POST"
        and request.version == HttpVersion11
        and request.keep_alive
    )


def _head(now: int) -> bytes:
    date = formatdate(now, usegmt=True)
    text = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: pegboard\r\nDate: {date}\r\n"
    return f"{text}Content-Length: %d\r\n\r\n".encode()
