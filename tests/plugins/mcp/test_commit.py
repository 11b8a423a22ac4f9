"""When a response over HTTP begins: with the first message, with the answer, or when the call has taken its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pegboard.types import LOCAL, Client, EventStream, Response, ServerSentEvent
from pegboard_plugins.mcp import McpConfig, stateless_call
from pegboard_plugins.mcp.http import session_call
from pegboard_plugins.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.mcp.http.memory_store import MemorySessionStore
from pegboard_plugins.mcp.http.session_call import SessionCall
from pegboard_plugins.mcp.stateless_call import StatelessCall

NOBODY_LISTENS: Any = None
REFUSED = Response(403, headers={"WWW-Authenticate": "Bearer"})
SAID = b'{"said":1}'

Begun = StatelessCall | SessionCall


class Calls:
    """One call that runs as a test wants it, in either era, for a peer that takes nothing but event streams."""

    def __init__(self) -> None:
        self.last: Callable[[], None] | None = None
        self.may_end, self.running = asyncio.Event(), asyncio.Event()
        self.sessions = HttpSessions(MemorySessionStore(10, 60), None, McpConfig())

    async def begin(self, era: str, *says: bytes, refused: bool = False, json: bool = False) -> Response | EventStream:
        if era == "2026-07-28":
            self.call: Begun = StatelessCall()
            return await self.call.respond(self._answer(says, refused=refused), streamed=not json)
        session = await self.sessions.open(Client(revision=era), LOCAL, NOBODY_LISTENS)
        assert session is not None
        self.call = SessionCall(1, session, self.sessions)
        self.call.start(self._answer(says, refused=refused))
        return await self.call.respond(json=json, events=True)

    async def _answer(self, says: tuple[bytes, ...], *, refused: bool) -> bytes:
        self.running.set()
        for said in says:
            self.call.send(said)
        if refused:
            self.call.head = REFUSED
        else:
            await self.may_end.wait()
        if self.last is not None:
            asyncio.get_running_loop().call_soon(self.last)
        return b"{}"


async def data(messages: AsyncIterator[bytes | ServerSentEvent]) -> list[bytes]:
    return [one if isinstance(one, bytes) else one.data async for one in messages]


ERAS = pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])


@ERAS
async def test_a_silent_call_becomes_a_stream_after_a_while(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be kept alive then; proxies give up responses that do not begin."""
    monkeypatch.setattr(stateless_call, "COMMIT_SECONDS", 0)
    monkeypatch.setattr(session_call, "COMMIT_SECONDS", 0)
    call = Calls()
    begun = await call.begin(era)
    assert isinstance(begun, EventStream)
    call.may_end.set()
    assert [one for one in await data(begun.messages) if one] == [b"{}"]


@pytest.mark.parametrize("json", [False, True], ids=["events", "both"])
async def test_a_call_that_ends_in_the_very_turn_of_its_timer_is_answered(json: bool) -> None:
    """The timer fires after the call has ended, and before the request notices the end."""
    call = Calls()
    begun = asyncio.create_task(call.begin("2025-11-25", json=json))
    await call.running.wait()
    call.may_end.set()
    call.last = call.call._commit  # type: ignore[union-attr]  # of sessions
    answer = await begun
    if json:
        assert answer == Response(body=b"{}")
    else:
        assert isinstance(answer, EventStream)
        assert [one for one in await data(answer.messages) if one] == [b"{}"]


@ERAS
async def test_a_stream_begins_with_the_first_message(era: str) -> None:
    call = Calls()
    begun = await call.begin(era, SAID)
    assert isinstance(begun, EventStream)
    call.may_end.set()
    assert [one for one in await data(begun.messages) if one] == [SAID, b"{}"]


@ERAS
@pytest.mark.parametrize("json", [False, True], ids=["events", "both"])
async def test_what_is_refused_at_once_is_no_stream_whatever_was_said(era: str, json: bool) -> None:
    for says in ((), (SAID,)):
        assert await Calls().begin(era, *says, refused=True, json=json) == REFUSED._replace(body=b"{}")


@ERAS
async def test_a_peer_that_leaves_before_it_begins(era: str) -> None:
    """It ends its call in 2026-07-28, and not in sessions."""
    call = Calls()
    begun = asyncio.create_task(call.begin(era))
    await call.running.wait()
    begun.cancel()
    with pytest.raises(asyncio.CancelledError):
        await begun
    task = call.call._task
    call.may_end.set()
    await asyncio.wait([task])
    assert task.cancelled() == (era == "2026-07-28")
