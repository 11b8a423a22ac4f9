"""The contracts of stores: those of a third party keep them, and a faulty store breaks each rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegboard.plugin import EventStore, SessionStore
from pegboard.testing import EventStoreContract, SessionStoreContract
from pegboard_plugins.mcp.http.memory_store import MemoryEventStore, MemorySessionStore
from tests.host.testing.contracts.faulty import broken, cases, rules, then, variant
from tests.support import kept


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class TestSessionsInFiles(SessionStoreContract):
    async def make(self) -> SessionStore:
        return kept.Sessions(Path())


class TestEventsInFiles(EventStoreContract):
    def make(self) -> EventStore:
        return kept.Events(Path())


class Sessions(MemorySessionStore):
    def __init__(self, sessions: int = 100) -> None:
        super().__init__(sessions, 60)


async def put_new(store: Any, record: Any) -> bool:
    return await GET(store, record.id) is not None or await PUT(store, record)


async def remove_known(store: Any, session_id: str) -> None:
    if await GET(store, session_id) is None:
        raise KeyError(session_id)
    await Sessions.remove(store, session_id)


async def count_all(store: Any, *_: Any) -> int:
    return len(store._kept)


async def remove_all(store: Any, session_id: str) -> None:
    store.__init__()


async def remove_none(store: Any, session_id: str) -> None:
    """Do nothing."""


PUT, GET = Sessions.put, Sessions.get
SESSIONS: list[tuple[dict[str, Any], str]] = [
    ({"put": lambda self, record: then(PUT(self, record), lambda _: None)}, "test_a_session_is_kept"),
    ({"get": lambda self, name: then(GET(self, name), lambda found: found and tuple(found))}, "test_a_session_is_kept"),
    (
        {"put": lambda self, one: PUT(self, one._replace(caller=one.caller._replace(issuer=None)))},
        "test_every_field_of_a_caller_is_kept",
    ),
    ({"get": lambda self, name: GET(self, name.strip())}, "test_unknown_ids_have_no_session"),
    ({"put": put_new}, "test_a_session_can_be_replaced"),
    ({"remove": remove_all}, "test_a_session_can_be_removed"),
    ({"remove": remove_known}, "test_a_session_can_be_removed"),
    ({"count": count_all}, "test_the_sessions_of_a_caller_are_counted"),
    ({"__init__": lambda self: Sessions.__init__(self, 5)}, "test_concurrent_sessions_are_independent"),
]


class Events(MemoryEventStore):
    def __init__(self) -> None:
        super().__init__(1_000_000, 1_000_000, 60)


APPEND, AFTER = Events.append, Events.after
ONE_STREAM = {
    "append": lambda self, session, stream, *more: APPEND(self, session, "", *more),
    "after": lambda self, session, stream, number: AFTER(self, session, "", number),
}


async def append_unless_empty(store: Any, session: str, stream: str, number: int, message: bytes) -> None:
    if message:
        await APPEND(store, session, stream, number, message)


def changed(change: Any) -> dict[str, Any]:
    """Return a store that changes the messages that it returns."""
    return {"after": lambda self, *arguments: then(AFTER(self, *arguments), change)}


EVENTS: list[tuple[dict[str, Any], str]] = [
    (changed(lambda found: found and found[::-1]), "test_later_messages_are_returned_in_order"),
    (changed(lambda found: found or None), "test_later_messages_are_returned_in_order"),
    ({"append": append_unless_empty}, "test_a_message_is_kept_unchanged"),
    (changed(lambda found: found or []), "test_unknown_numbers_return_none"),
    (ONE_STREAM, "test_streams_and_sessions_are_separate"),
    ({"forget": remove_none}, "test_all_streams_of_a_session_are_forgotten"),
    ({"forget": remove_all}, "test_all_streams_of_a_session_are_forgotten"),
    (changed(lambda found: found and found[:100]), "test_no_message_is_missing"),
]


@pytest.mark.parametrize(
    ("fault", "rule"),
    cases(
        [((SessionStoreContract, Sessions, members), rule) for members, rule in SESSIONS]
        + [((EventStoreContract, Events, members), rule) for members, rule in EVENTS]
    ),
)
def test_a_faulty_store_breaks_the_rule(fault: Any, rule: str) -> None:
    contract, sound, members = fault
    assert rule in broken(contract, variant(sound, **members))


def test_a_sound_store_breaks_no_rule() -> None:
    assert broken(SessionStoreContract, Sessions) == broken(EventStoreContract, Events) == {}
    assert rules(SESSIONS) == set(SessionStoreContract.rules())
    assert rules(EVENTS) == set(EventStoreContract.rules())
