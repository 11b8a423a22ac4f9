"""The contracts of stores: those of a third party keep them, and a faulty store breaks each rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pegboard.plugin import EventStore, SessionRecord, SessionStore
from pegboard.testing import EventStoreContract, SessionStoreContract
from pegboard.types import Caller
from pegboard_plugins.mcp.http.memory_store import MemoryEventStore, MemorySessionStore
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
    def __init__(self) -> None:
        super().__init__(100, 60)


class SaysNothing(Sessions):
    async def put(self, record: SessionRecord) -> bool:
        await super().put(record)
        return None  # type: ignore[return-value]


class GivesTuples(Sessions):
    async def get(self, session_id: str) -> SessionRecord | None:
        found = await super().get(session_id)
        return tuple(found) if found else None  # type: ignore[return-value]


class TrimsNames(Sessions):
    async def get(self, session_id: str) -> SessionRecord | None:
        return await super().get(session_id.strip())


class KeepsTheFirst(Sessions):
    async def put(self, record: SessionRecord) -> bool:
        return await super().get(record.id) is not None or await super().put(record)


class RemovesAll(Sessions):
    async def remove(self, session_id: str) -> None:
        self.__init__()  # type: ignore[misc]


class MindsRemovingTwice(Sessions):
    async def remove(self, session_id: str) -> None:
        if await self.get(session_id) is None:
            raise KeyError(session_id)
        await super().remove(session_id)


class CountsAll(Sessions):
    async def count(self, caller: Caller, peer: str = "") -> int:
        return len(self._kept)


class DropsTheIssuer(Sessions):
    async def put(self, record: SessionRecord) -> bool:
        return await super().put(record._replace(caller=record.caller._replace(issuer=None)))


class Forgetful(Sessions):
    def __init__(self) -> None:
        MemorySessionStore.__init__(self, 5, 60)


BAD_SESSIONS: list[tuple[type[Sessions], str]] = [
    (SaysNothing, "test_a_session_is_kept"),
    (GivesTuples, "test_a_session_is_kept"),
    (DropsTheIssuer, "test_every_field_of_a_caller_is_kept"),
    (TrimsNames, "test_unknown_ids_have_no_session"),
    (KeepsTheFirst, "test_a_session_can_be_replaced"),
    (RemovesAll, "test_a_session_can_be_removed"),
    (MindsRemovingTwice, "test_a_session_can_be_removed"),
    (CountsAll, "test_the_sessions_of_a_caller_are_counted"),
    (Forgetful, "test_concurrent_sessions_are_independent"),
]


@pytest.mark.parametrize(("kind", "rule"), BAD_SESSIONS)
def test_a_faulty_session_store_breaks_the_rule(kind: type[Sessions], rule: str) -> None:
    class Bad(SessionStoreContract):
        def make(self) -> SessionStore:
            return kind()

    assert rule in Bad.broken()


class Events(MemoryEventStore):
    def __init__(self) -> None:
        super().__init__(1_000_000, 1_000_000, 60)


class Backwards(Events):
    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        found = await super().after(session_id, stream, number)
        return found and found[::-1]


class NothingFollows(Events):
    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        return await super().after(session_id, stream, number) or None


class SkipsEmpty(Events):
    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        if message:
            await super().append(session_id, stream, number, message)


class NeverUnknown(Events):
    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        return await super().after(session_id, stream, number) or []


class OneStream(Events):
    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        await super().append(session_id, "", number, message)

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        return await super().after(session_id, "", number)


class ForgetsNothing(Events):
    async def forget(self, session_id: str) -> None:
        """Do nothing."""


class ForgetsAll(Events):
    async def forget(self, session_id: str) -> None:
        self.__init__()  # type: ignore[misc]


class DropsTheMiddle(Events):
    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        found = await super().after(session_id, stream, number)
        return found[:100] if found else found


BAD_EVENTS: list[tuple[type[Events], str]] = [
    (Backwards, "test_later_messages_are_returned_in_order"),
    (NothingFollows, "test_later_messages_are_returned_in_order"),
    (SkipsEmpty, "test_a_message_is_kept_unchanged"),
    (NeverUnknown, "test_unknown_numbers_return_none"),
    (OneStream, "test_streams_and_sessions_are_separate"),
    (ForgetsNothing, "test_all_streams_of_a_session_are_forgotten"),
    (ForgetsAll, "test_all_streams_of_a_session_are_forgotten"),
    (DropsTheMiddle, "test_no_message_is_missing"),
]


@pytest.mark.parametrize(("kind", "rule"), BAD_EVENTS)
def test_a_faulty_event_store_breaks_the_rule(kind: type[Events], rule: str) -> None:
    class Bad(EventStoreContract):
        def make(self) -> EventStore:
            return kind()

    assert rule in Bad.broken()


def test_each_rule_has_a_fault() -> None:
    assert {rule for _, rule in BAD_SESSIONS} == set(SessionStoreContract.rules())
    assert {rule for _, rule in BAD_EVENTS} == set(EventStoreContract.rules())
