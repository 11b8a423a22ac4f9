"""The messages on the event stream of one HTTP response, and its position for a resumption."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from pydantic_core import from_json

from pegboard_client.client_errors import ConnectionLostError
from pegboard_client.event_stream import EventParser
from pegboard_client.http_exchange import HttpReply
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming, Respond

_MAX_TAIL_SECONDS = 0.05
"""How long to wait for the end of a stream after the response, so that its connection can be reused."""


class StreamReading:
    """A stream of events that may continue in another response.

    Args:
        incoming: handles the messages of the server.
        most_bytes: the limit of one event.
        respond: sends the responses to the server's requests.

    Attributes:
        events: the number of received events.
        last_id: the id of the last event; "" without one.
        retry_ms: the delay before a reconnect that the server requested; None if it requested none.
    """

    def __init__(self, incoming: Incoming, most_bytes: int, respond: Respond) -> None:
        self.events = 0
        self.last_id = ""
        self.retry_ms: int | None = None
        self._incoming = incoming
        self._most_bytes = most_bytes
        self._respond = respond

    async def response_in(self, reply: HttpReply, flight: InFlight | None) -> Message | None:
        """Pass on the messages of a stream until the response to a request. Return None at its end.

        Raises:
            ConnectionLostError: the stream broke off, or has an invalid event.
        """
        parser = EventParser(self._most_bytes)
        async for chunk in reply.chunks:
            for event in parser.feed(chunk):
                self.events += 1
                self.last_id = event.id or self.last_id
                if event.retry_ms is not None:
                    self.retry_ms = event.retry_ms
                if not event.data:
                    continue
                response = None
                for message in _messages_in(event.data):
                    if flight is not None and message.get("id") == flight.id and "method" not in message:
                        response = message
                    else:
                        self._incoming.take(message, self._respond, flight)
                if response is not None:
                    await _finish(reply)
                    return response
        return None


def _messages_in(data: bytes) -> list[Message]:
    """Return the messages of an event: one, or a batch (2025-03-26)."""
    try:
        decoded: Any = from_json(data, allow_inf_nan=False)
    except ValueError:
        raise ConnectionLostError("the server sent an event that is not JSON") from None
    messages: list[Message] = decoded if isinstance(decoded, list) else [decoded]
    if not all(isinstance(message, dict) for message in messages):
        raise ConnectionLostError("the server sent an event that is not a JSON-RPC message")
    return messages


async def _finish(reply: HttpReply) -> None:
    """Read the end of a stream."""
    with suppress(TimeoutError, ConnectionLostError):
        async with asyncio.timeout(_MAX_TAIL_SECONDS):
            async for _ in reply.chunks:
                pass
