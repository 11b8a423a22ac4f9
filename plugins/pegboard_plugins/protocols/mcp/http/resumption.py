"""The rest of a call's stream, for a client that has lost the stream: in this process, or from another one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
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
    request_id_of,
)
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, jsonrpc_error

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.http.session_messages import SessionMessages

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


class RemoteStream:
    """The rest of a call's stream that another process sends, or has stored before its end.

    Args:
        messages: the messages between processes.
        session_id: the id of the session.
        owner: the number of the other process.
        named: the last event that the client has read.
        waiting: the remote streams of this process, by their keys.
        rest: returns what an ended process has stored after an event, or an error.
    """

    def __init__(
        self,
        messages: SessionMessages,
        session_id: str,
        owner: int,
        named: EventId,
        waiting: dict[str, RemoteStream],
        rest: Callable[[EventId], Awaitable[SessionStreamReader | None]],
    ) -> None:
        self._messages = messages
        self._session_id = session_id
        self._owner = owner
        self._named = named
        self._waiting = waiting
        self._rest = rest
        self._key = secrets.token_urlsafe(8)
        self._events: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue()
        waiting[self._key] = self

    async def begin(self) -> bool:
        """Ask for the events. Return False if the other process has ended.

        Raises:
            StoreUnavailableError: it could not be asked.
        """
        begun = False
        try:
            begun = await self._ask()
        finally:
            if not begun:
                self._waiting.pop(self._key)
        return begun

    def _ask(self) -> Awaitable[bool]:
        """Ask for the events after the last one, unless the other process sends them already."""
        wanted = {**self._named._asdict(), "session": self._session_id, "reader": self._key}
        return self._messages.tell("resume", self._owner, **wanted)

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
            if not await self._ask():
                if (rest := await self._rest(self._named)) is not None:
                    async for event in rest:
                        self._events.put_nowait(event)
                self._events.put_nowait(None)

    async def aclose(self) -> None:
        """Tell the other process that the client has disconnected."""
        self._waiting.pop(self._key, None)
        with suppress(StoreUnavailableError):
            await self._messages.tell("left", self._owner, reader=self._key)
