"""The most frequent response, JSON with status 200 to a request that was begun outside a task.

aiohttp's own response costs as much as a call of a small tool, and copies the body. It serves all other responses.
"""

from __future__ import annotations

from email.utils import formatdate
from time import time

from aiohttp import web

from pegboard.types import Response

MAX_JOINED_BODY_BYTES = 64 * 1024
"""The largest body that is written together with the head. It fits into the buffers between the server and the peer."""


class WrittenResponse(web.StreamResponse):
    """A response that has been written already, on a connection that stays open."""

    @property
    def keep_alive(self) -> bool:
        """True, because another request may follow on the connection."""
        return True

    async def prepare(self, request: web.BaseRequest) -> None:
        """Do nothing."""

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing."""


class ResponseHead:
    """The head of these responses. Within one second only Content-Length changes."""

    def __init__(self) -> None:
        self._second = 0
        self._head = b""

    def of(self, body: bytes) -> bytes:
        """Return the head of the response with a body (RFC 9112, section 2.1)."""
        if (now := int(time())) != self._second:
            self._second = now
            self._head = _head(now)
        return self._head % len(body)


def is_plain(answer: Response) -> bool:
    """Return True if `ResponseHead` describes a response."""
    return (
        answer.status == 200 and not answer.headers and answer.body != b"" and answer.content_type == "application/json"
    )


def _head(now: int) -> bytes:
    date = formatdate(now, usegmt=True)
    text = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: pegboard\r\nDate: {date}\r\n"
    return f"{text}Content-Length: %d\r\n\r\n".encode()
