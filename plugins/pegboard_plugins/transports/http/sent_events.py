"""Event streams as bytes (HTML standard, server-sent events), and the reading of their messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pegboard.types import ServerSentEvent

PING = b": ping\n\n"
"""A comment that keeps a silent stream open."""


def encode_event(event: bytes | ServerSentEvent) -> bytes:
    """Return the bytes of an event."""
    if isinstance(event, bytes):
        return b"data: %b\n\n" % event
    fields = b"" if event.id is None else b"id: %b\n" % event.id.encode()
    if event.retry_ms is not None:
        fields += b"retry: %d\n" % event.retry_ms
    return b"%bdata: %b\n\n" % (fields, event.data)


async def close_messages(messages: AsyncIterator[bytes | ServerSentEvent]) -> None:
    """Close the messages of a stream that has ended, or that is not begun."""
    close = getattr(messages, "aclose", None)
    if close is not None:
        await close()


def next_message(messages: AsyncIterator[bytes | ServerSentEvent]) -> asyncio.Future[bytes | ServerSentEvent | None]:
    """Begin to wait for the next message of a stream; None at its end."""

    async def following() -> bytes | ServerSentEvent | None:
        return await anext(messages, None)

    return asyncio.ensure_future(following())
