"""Both ends of a connection in memory: JSON-RPC messages as bytes.

It handles requests, responses and notifications, and no method of MCP.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Any, Literal, TypeAlias

from pegboard.errors import ProtocolError, TransportError
from pegboard.wire.codec import decode, encode
from pegboard.wire.jsonrpc import INTERNAL_ERROR

Message: TypeAlias = dict[str, Any]
Traffic: TypeAlias = tuple[Literal["sent", "received"], bytes]
"""One message, and which side sent it."""


class MemoryConnection:
    """The host's end: a `pegboard.Connection`.

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


class ClientConnection:
    """The client's end.

    Args:
        answer: returns the result for a request of the host. Its exceptions fail the client's own requests, too.
        hear: called with each notification.

    Attributes:
        traffic: every message, in order.
        host_connection: the connection that the host serves.
    """

    def __init__(
        self,
        answer: Callable[[str, Message], Awaitable[Message]],
        hear: Callable[[str, Message], None],
    ) -> None:
        self.host_connection = MemoryConnection(self._take)
        self.traffic: list[Traffic] = []
        self._answer = answer
        self._hear = hear
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self._ended = False

    def send(self, message: Message) -> None:
        """Send one message. As most clients do, escape characters that are not ASCII.

        Raises:
            ValueError: a number cannot be expressed in JSON.
        """
        data = json.dumps(message, allow_nan=False, default=_plain, separators=(",", ":")).encode()
        self.traffic.append(("sent", data))
        self.host_connection.feed(data)

    def new_id(self) -> int:
        """Return a new id for a request. Ids increase by one."""
        return next(self._ids)

    def begin(self, method: str, params: Message, request_id: int) -> asyncio.Future[Message]:
        """Send a request. Return a future of the whole response.

        Raises:
            TransportError: the host has ended the connection.
        """
        if self._ended:
            raise _gone()
        self._waiting[request_id] = future = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return future

    async def request(self, method: str, params: Message, request_id: int, seconds: float | None) -> Message:
        """Send a request and return its result. If the wait is cancelled, cancel the request at the host.

        Args:
            method: the method.
            params: its parameters.
            request_id: its id, from `new_id`.
            seconds: how long to wait, None for no limit.

        Raises:
            ProtocolError: the response is an error.
            TransportError: the host ended the connection.
            TimeoutError: no response arrived in time.
        """
        future = self.begin(method, params, request_id)
        try:
            async with asyncio.timeout(seconds):
                answer = await future
        except TimeoutError:
            self._cancel(request_id)
            raise TimeoutError(f"no response to {method} within {seconds:g} seconds") from None
        except asyncio.CancelledError:
            self._cancel(request_id)
            raise
        finally:
            del self._waiting[request_id]
        self._raise_fault()
        return result_or_raise(answer)

    def end(self) -> None:
        """End the connection, as a client does."""
        for task in self._answering:
            task.cancel()
        self.host_connection.feed(None)

    def host_ended(self) -> None:
        """Fail the requests that wait for a response, as the host has ended the connection."""
        self._ended = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(_gone())
                future.exception()  # retrieved here, as it may have no awaiter

    def _cancel(self, request_id: int) -> None:
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})

    def _raise_fault(self) -> None:
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault

    def _take(self, data: bytes) -> None:
        self.traffic.append(("received", data))
        message = decode(data)
        if "method" not in message:
            self._settle(message)
        elif "id" not in message:
            self._hear(message["method"], message.get("params", {}))
        else:
            task = asyncio.create_task(self._respond(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    def _settle(self, answer: Message) -> None:
        """Pass a response to its waiting request. A response without an id is passed to all requests."""
        waiting = self._waiting.values() if answer["id"] is None else [self._waiting.get(answer["id"])]
        for future in waiting:
            if future is not None and not future.done():
                future.set_result(answer)

    async def _respond(self, request: Message) -> None:
        """Respond to a request of the host. If the test has no prepared answer, the test's own request fails."""
        answer: Message = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            answer["result"] = await self._answer(request["method"], request.get("params", {}))
        except ProtocolError as error:
            answer["error"] = {"code": error.code, "message": error.message}
        except Exception as error:  # noqa: BLE001 - it is raised where the test waits
            self._fault = error
            answer["error"] = {"code": INTERNAL_ERROR, "message": "the test has no answer"}
        self.send(answer)


def result_or_raise(answer: Message) -> Message:
    """Return the result in a response.

    Raises:
        ProtocolError: the response is an error.
    """
    if "error" in answer:
        error = answer["error"]
        raise ProtocolError(error["code"], error["message"], error.get("data"))
    result: Message = answer["result"]
    return result


def _plain(value: Any) -> Any:
    """Return the JSON value of dates, models, enumerations and bytes."""
    return decode(encode(value))


def _gone() -> TransportError:
    return TransportError("the connection with the host has ended")
