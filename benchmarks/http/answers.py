"""The parts of HTTP/1.1 responses that the client needs: their end, their status and their message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from benchmarks.messages import WrongAnswerError

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_EVENTS = re.compile(rb"\r\ncontent-type: *text/event-stream", re.IGNORECASE)
_SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]+)", re.IGNORECASE)
_HEAD_END: Final = b"\r\n\r\n"
UNTIL_LAST_CHUNK: Final = -1
"""The size of a response without a length, which ends with its last chunk."""


def size_of(begun: bytes) -> int | None:
    """Return the number of bytes of a response, or None before the end of its header."""
    end = begun.find(_HEAD_END)
    if end < 0:
        return None
    length = _LENGTH.search(begun, 0, end)
    if length:
        return end + len(_HEAD_END) + int(length[1])
    return UNTIL_LAST_CHUNK if _CHUNKED.search(begun, 0, end) else end + len(_HEAD_END)


def is_whole(received: bytes, size: int | None) -> bool:
    """Return True if a response of that size is complete."""
    if size == UNTIL_LAST_CHUNK:
        return received.endswith(b"\r\n0\r\n\r\n")
    return size is not None and len(received) >= size


@dataclass(frozen=True, slots=True)
class Answer:
    """A response.

    Attributes:
        status: its status.
        message: its JSON-RPC message: the body, or the last event of a stream.
        session: the id of the session that it opens, or None.
    """

    status: int
    message: bytes
    session: str | None

    @classmethod
    def read(cls, raw: bytes) -> Answer:
        """Parse a complete response."""
        head, _, body = raw.partition(_HEAD_END)
        if _CHUNKED.search(head):
            body = _unchunked(body)
        if _EVENTS.search(head):
            body = _last_event(body)
        session = _SESSION.search(head)
        return cls(int(head[9:12]), body, session[1].decode() if session else None)


def message_of(raw: bytes, status: int = 200) -> bytes:
    """Return the message of a response.

    Raises:
        WrongAnswerError: it has another status.
    """
    answer = Answer.read(raw)
    if answer.status != status:
        raise WrongAnswerError(f"{status} was expected: {raw[:300]!r}")
    return answer.message


def _unchunked(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.partition(b";")[0], 16)
        parts.append(body[:length])
        body = body[length + 2 :]
    return b"".join(parts)


def _last_event(stream: bytes) -> bytes:
    lines = [line[5:].strip() for line in stream.splitlines() if line.startswith(b"data:")]
    return next((line for line in reversed(lines) if line), b"")
