"""Requests of 2026-07-28 over Streamable HTTP: each is one POST without a session."""

from __future__ import annotations

import asyncio

from pegboard_client.client_errors import ConnectionLostError
from pegboard_client.http_endpoint import HttpEndpoint, is_stream
from pegboard_client.http_stream import StreamReading
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming
from pegboard_client.mirrored_headers import MirroredHeaders


class StatelessHttp:
    """Requests without a session.

    Args:
        endpoint: the endpoint.
        incoming: handles the messages of the server.
        revision: the revision that each request names.

    Attributes:
        closed: completed with the reason when the client has closed the channel.
    """

    def __init__(self, endpoint: HttpEndpoint, incoming: Incoming, revision: str) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._revision = revision
        self._endpoint = endpoint
        self._incoming = incoming
        self._mirrored = MirroredHeaders()

    async def exchange(self, flight: InFlight) -> Message:
        """Send a request and return its response. If the wait is cancelled, close the response.

        Raises:
            TransportError: the server cannot be reached, or the connection was lost.
        """
        headers = {
            "MCP-Protocol-Version": self._revision,
            "Mcp-Method": flight.method,
            **self._mirrored.of(flight.method, flight.params),
        }
        async with self._endpoint.open(
            "POST", headers, flight.encoded(), flight, may_log_in=flight.may_log_in
        ) as reply:
            if is_stream(reply):
                reading = StreamReading(self._incoming, self._endpoint.message_bytes, _drop)
                response = await reading.response_in(reply, flight)
                if response is None:
                    raise ConnectionLostError("the stream ended before the response")
            else:
                response = await self._endpoint.whole_message(reply, flight)
        if flight.method == "tools/list":
            self._mirrored.learn(response, begins="cursor" not in flight.params)
        return response

    def notify(self, method: str, params: Message) -> None:
        """Ignore a notification: the revision has none from clients over HTTP."""

    async def tell(self, method: str, params: Message) -> None:
        """Ignore a notification."""

    async def close(self) -> None:
        """Complete `closed`."""
        if not self.closed.done():
            self.closed.set_result("the client has closed the connection")


async def _drop(response: Message) -> None:
    """Drop a response: the revision has no requests from servers over HTTP."""
