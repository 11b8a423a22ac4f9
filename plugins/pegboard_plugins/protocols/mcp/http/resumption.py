"""The rest of a call's stream, for a client that has lost the stream: in this process, or from another one."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from pegboard.plugin import decode
from pegboard.types import ServerSentEvent
from pegboard_plugins.protocols.mcp.http.error_responses import StoreUnavailableError
from pegboard_plugins.protocols.mcp.http.session_stream import (
    REPEATABLE_STREAM_PREFIX,
    EventId,
    Missed,
    SessionStream,
    SessionStreamReader,
    process_of,
    request_id_of,
)
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, jsonrpc_error

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions

logger = logging.getLogger("pegboard.mcp")

PATIENCE_SECONDS = 10.0
"""How long a remote stream is silent before this process asks for it again."""

_LOST = "There is no response: the call was cancelled, the process that ran it has ended, or its stream was not stored."
_UNKNOWN_OUTCOME = "The outcome is unknown: the call may have had effects, or may go on. Check before you call again."
_NO_FURTHER_EFFECT = "Call again: repeating this call has no further effect."


def lost_response(stream_id: str) -> bytes:
    """Return the error that replaces the lost response of a call's stream."""
    advice = _NO_FURTHER_EFFECT if stream_id.startswith(REPEATABLE_STREAM_PREFIX) else _UNKNOWN_OUTCOME
    return jsonrpc_error(INTERNAL_ERROR, f"{_LOST} {advice}", request_id_of(stream_id))


async def rest_of_call(stream: SessionStream, number: int) -> SessionStreamReader | None:
    """Return the rest of the stream of a call, after event `number`. Return None if there is no such event."""
    missed = await stream.missed(number)
    if not stream.is_kept:  # the call has ended: only stored messages are left
        missed = await _kept(stream, missed, number)
    return None if missed is None else stream.read(missed, prime=False, polled=True)


async def _kept(stream: SessionStream, missed: Missed | None, number: int) -> Missed | None:
    """Return the stored messages of a call that has ended. If its response is missing, end with an error."""
    answered = missed is not None and await stream.is_answered(missed, number)
    if answered or request_id_of(stream.id) is None:
        stream.close()
        return missed
    stream.end_with(lost_response(stream.id))
    return missed or ()


class Resumption:
    """The rest of streams that the processes of one endpoint send to each other.

    Args:
        sessions: the sessions of the endpoint.

    Attributes:
        sessions: the sessions of the endpoint.
        reading: the streams that clients of this process read, by their keys.
    """

    def __init__(self, sessions: HttpSessions) -> None:
        self.sessions = sessions
        self.reading: dict[str, RemoteStream] = {}
        self._sending: dict[str, SessionStreamReader | None] = {}
        sessions.messages.handlers |= {
            "resume": self._receive_request,
            "event": self._receive_event,
            "left": self._receive_departure,
        }

    async def remote(self, session_id: str, named: EventId) -> RemoteStream | None:
        """Return the rest of a stream that another process has. Return None if that process has ended.

        Raises:
            StoreUnavailableError: it could not be asked.
        """
        owner = process_of(named.stream)
        if not owner or owner == self.sessions.messages.number:
            return None
        stream = RemoteStream(self, session_id, owner, named)
        self.reading[stream.key] = stream
        is_begun = False
        try:
            is_begun = await stream.ask()
        finally:
            if not is_begun:
                del self.reading[stream.key]
        return stream if is_begun else None

    def _receive_event(self, message: dict[str, Any], sender: int) -> None:
        if (stream := self.reading.get(message["reader"])) is not None:
            stream.receive(message)

    def _receive_request(self, message: dict[str, Any], sender: int) -> None:
        if message["reader"] not in self._sending:  # else it is asked for again
            self._sending[message["reader"]] = None
            self.sessions.run(self._send(message, sender))

    async def _send(self, message: dict[str, Any], receiver: int) -> None:
        """Send the rest of a stream to a process whose client resumes it."""
        key, tell, reader = message["reader"], self.sessions.messages.tell, None
        try:
            stream = self.sessions.stream(message["session"], message["stream"])
            reader = await rest_of_call(stream, message["number"])
            if reader is not None:
                self._sending[key] = reader
                async for data, event_id, retry in reader:
                    event = {"data": data.decode(), "id": event_id, "retry": retry}
                    if not await tell("event", receiver, reader=key, **event):
                        return
            await tell("event", receiver, reader=key)
        except StoreUnavailableError:
            logger.warning("the rest of a stream could not be sent to process %d", receiver)
        finally:
            self._sending.pop(key, None)
            if reader is not None:
                await reader.aclose()

    def _receive_departure(self, message: dict[str, Any], sender: int) -> None:
        if (reader := self._sending.get(message["reader"])) is not None:
            reader.stop()


class RemoteStream:
    """The rest of a call's stream that another process sends, or has stored before its end.

    Args:
        resumption: the streams of the endpoint.
        session_id: the id of the session.
        owner: the number of the other process.
        named: the last event that the client has read.

    Attributes:
        key: identifies the stream in messages.
    """

    def __init__(self, resumption: Resumption, session_id: str, owner: int, named: EventId) -> None:
        self._resumption = resumption
        self._session_id = session_id
        self._owner = owner
        self._named = named
        self.key = secrets.token_urlsafe(8)
        self._events: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue()

    def ask(self) -> Awaitable[bool]:
        """Ask for the events after the last one, unless the other process sends them already.

        Return False if the other process has ended.
        """
        wanted = {**self._named._asdict(), "session": self._session_id, "reader": self.key}
        return self._resumption.sessions.messages.tell("resume", self._owner, **wanted)

    def receive(self, message: dict[str, Any]) -> None:
        """Take an event from the other process, or the end."""
        data = message.get("data")
        event = None if data is None else ServerSentEvent(data.encode(), message["id"], message["retry"])
        self._named = EventId.parse(message.get("id") or "") or self._named
        self._events.put_nowait(event)
        if data and "method" not in decode(data.encode()):
            self._events.put_nowait(None)  # nothing follows the response, also if the other process ends now

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ServerSentEvent:
        while True:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    event = await self._events.get()
            except TimeoutError:
                await self._check()
                continue
            if event is None:
                raise StopAsyncIteration
            return event

    async def _check(self) -> None:
        """Ask again, because events may be lost. End the stream if the other process has ended."""
        with suppress(StoreUnavailableError):
            if not await self.ask():
                stream = self._resumption.sessions.stream(self._session_id, self._named.stream)
                if (rest := await rest_of_call(stream, self._named.number)) is not None:
                    async for event in rest:
                        self._events.put_nowait(event)
                self._events.put_nowait(None)

    async def aclose(self) -> None:
        """Tell the other process that the client has disconnected."""
        self._resumption.reading.pop(self.key, None)
        with suppress(StoreUnavailableError):
            await self._resumption.sessions.messages.tell("left", self._owner, reader=self.key)
