"""Requests over one message stream that both sides share."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pegboard.errors import TransportError
from pegboard.wire.codec import encode
from pegboard_client.addresses import ClientLimits, MessageStream
from pegboard_client.client_errors import UnreachableError
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming
from pegboard_client.json_reading import read_json, unreadable_response

logger = logging.getLogger("pegboard.client")


class StreamChannel:
    """Requests over a message stream. A task reads the stream.

    Args:
        label: the name of the server in messages.
        stream: the stream.
        incoming: handles the messages of the server.
        limits: the limits.

    Attributes:
        closed: completed with the reason when the stream has ended.
    """

    def __init__(self, label: str, stream: MessageStream, incoming: Incoming, limits: ClientLimits) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[str] = loop.create_future()
        self._label = label
        self._stream = stream
        self._incoming = incoming
        self._limits = limits
        self._fault = f"the connection with {label} has ended"
        self._reading = loop.create_task(self._read())

    async def exchange(self, flight: InFlight) -> Message:
        """Send a request and return its response. If the wait is cancelled, cancel the request at the server.

        Raises:
            UnreachableError: the stream had already ended.
            TransportError: the stream has ended.
        """
        await self._stream.drain()  # first, because a server may read nothing
        if self.closed.done():
            raise UnreachableError(self._fault)
        self._stream.send(flight.encoded())
        try:
            return await flight.response
        except asyncio.CancelledError:
            # the specification forbids it for `initialize`; a probe may still get its response
            if flight.method not in ("initialize", "server/discover"):
                self.notify("notifications/cancelled", {"requestId": flight.id})
            raise

    def notify(self, method: str, params: Message) -> None:
        """Send a notification."""
        self._stream.send(encode({"jsonrpc": "2.0", "method": method, "params": params}))

    async def tell(self, method: str, params: Message) -> None:
        """Send a notification before other messages."""
        self.notify(method, params)
        await self._stream.drain()

    async def close(self) -> None:
        """Close the stream."""
        self._reading.cancel()
        await asyncio.wait((self._reading,))
        await self._stream.close()

    async def _respond(self, response: Message) -> None:
        self._stream.send(encode(response))
        await self._stream.drain()

    async def _read(self) -> None:
        try:
            async for data in self._stream.messages():
                self._take(data)
        except TransportError as error:
            self._fault = error.message
        except Exception:
            logger.exception("the connection with %s failed", self._label)
        finally:
            self._end()

    def _take(self, data: bytes) -> None:
        if len(data) > self._limits.message_bytes:
            raise TransportError(f"{self._label} sent a message of more than {self._limits.message_bytes} bytes")
        try:
            message: Any = read_json(data)
        except ValueError:
            self._incoming.report("sent a line that is not JSON", data)
            message = unreadable_response(data)
            if message is None:
                return
        self._incoming.take(message, self._respond)

    def _end(self) -> None:
        if not self.closed.done():
            self.closed.set_result(self._fault)
        self._incoming.close()
        for flight in self._incoming.in_flight.values():
            if not flight.response.done():
                flight.response.set_exception(TransportError(self._fault))
                flight.response.exception()  # retrieved here, as it may have no awaiter
