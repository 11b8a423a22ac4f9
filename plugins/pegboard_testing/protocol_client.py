"""A client of one revision of MCP: `pegboard_client` with prepared answers, and its connection in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from math import inf
from typing import Any, Literal, TypeAlias, TypeVar

from pegboard.errors import ProtocolError
from pegboard.plugin.transports import Connection
from pegboard.wire.codec import decode
from pegboard.wire.meta_keys import INTERNAL_ERROR
from pegboard_client.addresses import ClientLimits, Stream
from pegboard_client.asked import Asked
from pegboard_client.client_errors import ServerTimeoutError
from pegboard_client.handshake import STATELESS
from pegboard_client.in_flight import InFlight, Message
from pegboard_client.incoming import Incoming
from pegboard_client.listening import Listening
from pegboard_client.server_connection import ServerConnection
from pegboard_testing.answers import Answers
from pegboard_testing.replay import Replay

Traffic: TypeAlias = tuple[Literal["sent", "received"], bytes]
"""One message, and which side sent it."""


class MemoryConnection(Connection):
    """The host's end: a `pegboard.plugin.Connection`.

    Args:
        take: receives each message of the host.
    """

    peer = "test"

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take: Callable[[bytes], None] | None = take
        self._messages: asyncio.Queue[bytes | None] = asyncio.Queue()

    def feed(self, message: bytes | None) -> None:
        """Add a message of the client. None ends the stream of messages."""
        self._messages.put_nowait(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the client until they end."""
        while (message := await self._messages.get()) is not None:
            yield message

    def send(self, message: bytes) -> None:
        """Pass a message to the client at once."""
        if self._take is not None:
            self._take(message)

    async def drain(self) -> None:
        """Let the client run. The queue is unlimited."""
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop passing messages to the client."""
        self._take = None


class MemoryStream:
    """The client's end: a `pegboard_client.MessageStream`.

    Args:
        hear: called with each notification of the host, before the client receives it.

    Attributes:
        traffic: every message, in order.
        host_connection: the connection that the host serves.
    """

    def __init__(self, hear: Callable[[Message], None]) -> None:
        self.host_connection = MemoryConnection(self._take)
        self.traffic: list[Traffic] = []
        self._hear = hear
        self._received: asyncio.Queue[bytes | None] = asyncio.Queue()

    def send(self, message: bytes) -> None:
        """Pass a message to the host."""
        self.traffic.append(("sent", message))
        self.host_connection.feed(message)

    async def drain(self) -> None:
        """Return at once. The queue is unlimited."""

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the messages of the host until it ends the connection."""
        while (message := await self._received.get()) is not None:
            yield message

    async def close(self) -> None:
        """End the messages of the client."""
        self.host_connection.feed(None)

    def host_ended(self) -> None:
        """End the messages of the host."""
        self._received.put_nowait(None)

    def _take(self, data: bytes) -> None:
        self.traffic.append(("received", data))
        message = decode(data)
        if "method" in message and "id" not in message:
            self._hear({"method": message["method"], "params": message.get("params", {})})
        self._received.put_nowait(data)


_LABEL = "the host"
_CLIENT = {"name": "pegboard.testing", "version": "1"}
_LIMITS = ClientLimits(request_seconds=inf)

_Result = TypeVar("_Result")
Accepts = Callable[[Message], bool]


class ProtocolClient:
    """The protocol of a client.

    Args:
        revision: the revision that the client speaks.
        capabilities: the capabilities that the client declares.
        answers: its answers.
        seconds: how long a request may take, None for no limit.

    Attributes:
        stream: the connection.
        notifications: every notification of the host, as it was received.
        meta: members that are added to the `_meta` of each request.
    """

    def __init__(self, revision: str, capabilities: Mapping[str, Any], answers: Answers, seconds: float | None) -> None:
        self.stream = MemoryStream(self._hear)
        self.revision = revision
        self.answers = answers
        self.seconds = seconds
        self.notifications: list[Message] = []
        self.meta: dict[str, Any] = {}
        self._listeners: list[tuple[Accepts, asyncio.Future[Message]]] = []
        self._fault: BaseException | None = None
        incoming = Incoming(_LABEL, self._answer, None, None, _LIMITS)
        address = Stream(self.stream, _LABEL)
        self._connection = ServerConnection(address, incoming, _CLIENT, capabilities, seconds, _LIMITS)
        self._listening = Listening(self._connection)

    @property
    def modern(self) -> bool:
        """True if the revision has no sessions."""
        return self.revision >= STATELESS

    async def begin(self) -> None:
        """Perform the handshake, if the revision has one.

        Raises:
            ValueError: the host does not speak the revision.
        """
        await self._in_time(self._connection.open(self.revision), "the handshake")
        if self._connection.revision != self.revision:
            offered = self._connection.revision
            raise ValueError(f"the host does not speak {self.revision}; it offers {offered}")
        if not self.modern:
            await self.request("logging/setLevel", {"level": "debug"})

    async def end(self) -> None:
        """End the connection, as a client does."""
        await self._listening.close()
        await self._connection.close()
        await self.stream.close()  # the handshake may not have begun

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        self._connection.channel.notify(method, dict(params))

    async def request(self, method: str, params: Mapping[str, Any]) -> Message:
        """Send one request and return its result.

        Raises:
            ProtocolError: the host rejected the request.
            TransportError: the host ended the connection.
            TimeoutError: no response arrived.
        """
        return await self._send(self._new_flight(method, params))

    async def finish(self, method: str, params: Mapping[str, Any], replay: Replay | None = None) -> tuple[int, Message]:
        """Send a call. While the response asks questions, repeat the call with answers.

        Args:
            method: a method that may ask questions.
            params: its parameters.
            replay: the check of repeated effects.

        Returns:
            The id of the last request, and its result.

        Raises:
            RepeatedEffects: a round repeated an effect of an earlier round.
        """
        more: Message = {}
        while True:
            flight = self._new_flight(method, {**params, **more})
            if replay is not None:
                replay.begin(flight.id)
            result = await self._send(flight)
            if replay is not None:
                replay.check()
            if result.get("resultType") != "input_required":
                return flight.id, result
            more = {key: result[key] for key in ("requestState",) if key in result}
            more["inputResponses"] = {
                key: await self._answer_in_round(Asked(request["method"], request.get("params", {}), key))
                for key, request in result.get("inputRequests", {}).items()
            }

    async def heard(self, accepts: Accepts, what: str) -> Message:
        """Return a matching notification that was received, or wait for it.

        Raises:
            TimeoutError: the notification did not arrive.
        """
        for message in self.notifications:
            if accepts(message):
                return message
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        listener = (accepts, future)
        self._listeners.append(listener)
        try:
            async with asyncio.timeout(self.seconds):
                return await future
        except TimeoutError:
            raise TimeoutError(f"no {what} within {self.seconds:g} seconds") from None
        finally:
            self._listeners.remove(listener)

    async def listen(self, uris: tuple[str, ...]) -> None:
        """Subscribe to changes of all lists and of some resources."""
        if not self.modern:
            for uri in uris:
                await self.request("resources/subscribe", {"uri": uri})
            return
        self._connection.uris.update(uris)
        await self._in_time(self._listening.begin(), "acknowledgement of the subscription")

    def _new_flight(self, method: str, params: Mapping[str, Any]) -> InFlight:
        level = {"io.modelcontextprotocol/logLevel": "debug"} if self.modern else {}
        meta = {**level, **self.meta, **params.get("_meta", {})}
        flight = self._connection.new_flight(method, {**params, "_meta": meta}, {})
        flight.params["_meta"] = {"progressToken": flight.id, **flight.params["_meta"]}
        return flight

    async def _send(self, flight: InFlight) -> Message:
        result = await self._in_time(self._connection.send(flight), f"response to {flight.method}")
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        return result

    async def _in_time(self, waiting: Awaitable[_Result], what: str) -> _Result:
        try:
            return await waiting
        except ServerTimeoutError:
            raise TimeoutError(f"no {what} within {self.seconds:g} seconds") from None

    async def _answer(self, question: Asked) -> Message:
        """Answer a question in a session. If the test has no prepared answer, the test's own request fails."""
        try:
            return await self.answers.answer(question)
        except ProtocolError:
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where the test waits
            self._fault = error
            raise ProtocolError(INTERNAL_ERROR, "the test has no answer") from None

    async def _answer_in_round(self, question: Asked) -> Message:
        try:
            return await self.answers.answer(question)
        except ProtocolError as error:
            raise AssertionError(f"no client can answer the question: {error.message}") from None

    def _hear(self, message: Message) -> None:
        self.notifications.append(message)
        for accepts, future in self._listeners:
            if not future.done() and accepts(message):
                future.set_result(message)
