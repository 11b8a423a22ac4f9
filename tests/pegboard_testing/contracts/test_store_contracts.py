"""The contracts of stores: secrets, sessions and events."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pegboard.plugin import SecretStore, SessionStore, WritableSecretStore
from pegboard_plugins.protocols.mcp.http.memory_store import MemoryEventStore, MemorySessionStore
from pegboard_plugins.support.memory_records import MemoryRecordStore
from pegboard_testing import (
    EventStoreContract,
    RecordStoreContract,
    SecretStoreContract,
    SessionStoreContract,
    WritableSecretStoreContract,
)
from pegboard_testing.in_memory_host import FixedSecrets
from tests.pegboard_testing.contracts.faulty import Faults, Mutants, then, variant
from tests.support import kept


class Sessions(MemorySessionStore):
    def __init__(self, sessions: int = 100) -> None:
        super().__init__(sessions, 60)


CREATE, GET, UPDATE, CLAIM = Sessions.create, Sessions.get, Sessions.update, Sessions.claim


async def count_all(store: Any, *_: Any) -> int:
    return len(store._kept)


async def remove_all(store: Any, session_id: str) -> None:
    store.__init__()


async def claim_for_all(store: Any, *_: Any) -> str:
    return ""


async def claim_once(store: Any, owner: str, seconds: float) -> str:
    return store._claim[0] or await CLAIM(store, owner, seconds)


async def release_all(store: Any, owner: str) -> None:
    store._claim = "", 0.0


class TestSessionsInFiles(SessionStoreContract):
    """Its records go through the codec of sessions."""

    def make(self) -> SessionStore:
        self.folder = TemporaryDirectory()
        return kept.ClaimedSessions(Path(self.folder.name) / "sessions")

    def dispose(self, made: SessionStore) -> None:
        self.folder.cleanup()


def sessions(**members: Any) -> Any:
    return variant(Sessions, **members)


async def update_or_create(store: Any, session_id: str, changes: Any) -> bool:
    return await UPDATE(store, session_id, changes) or not await CREATE(store, session_id, "", {})


async def create_or_replace(store: Any, session_id: str, owner: str, fields: Any) -> bool:
    return await CREATE(store, session_id, owner, fields) or await UPDATE(store, session_id, fields)


async def update_without_removal(store: Any, session_id: str, changes: Any) -> bool:
    return await UPDATE(store, session_id, {name: field for name, field in changes.items() if field is not None})


async def write_all(store: Any, session_id: str, changes: Any) -> bool:
    """Read, and write all fields later, as a store of whole records does."""
    former = dict(await GET(store, session_id) or {})
    await asyncio.sleep(0)
    gone = dict.fromkeys(await GET(store, session_id) or ())
    return await UPDATE(store, session_id, {**gone, **former, **changes})


SESSIONS: Faults = [
    (sessions(create=lambda self, *session: then(CREATE(self, *session), lambda _: None)), "test_a_session_is_kept"),
    (sessions(get=lambda self, name: GET(self, name.strip())), "test_unknown_ids_have_no_session"),
    (sessions(create=create_or_replace), "test_an_id_is_used_once"),
    (sessions(update=lambda self, name, _: then(GET(self, name), bool)), "test_fields_change_one_by_one"),
    (sessions(update=update_without_removal), "test_fields_change_one_by_one"),
    (sessions(update=write_all), "test_concurrent_changes_are_kept"),
    (sessions(update=update_or_create), "test_a_late_write_creates_no_session"),
    (sessions(claim=claim_for_all), "test_one_owner_has_the_store"),
    (sessions(claim=claim_once), "test_one_owner_has_the_store"),
    (sessions(release=lambda self, owner: CLAIM(self, owner, 60)), "test_a_released_store_can_be_claimed"),
    (sessions(release=release_all), "test_a_released_store_can_be_claimed"),
    (sessions(claim=lambda self, owner, seconds: CLAIM(self, owner, 60)), "test_a_claim_lapses"),
    (sessions(remove=remove_all), "test_a_session_can_be_removed"),
    (sessions(count=count_all), "test_the_sessions_of_an_owner_are_counted"),
    (sessions(__init__=lambda self: Sessions.__init__(self, 5)), "test_concurrent_sessions_are_independent"),
]


def beside(contract: Any, made: Any) -> Any:
    """Return another object for the sessions of a store."""
    other = type(made)()
    other._kept, other._of_owners = made._kept, made._of_owners
    return other


class Shared(Sessions):
    shared = True

    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()


async def write_all_in_turn(store: Any, session_id: str, changes: Any) -> bool:
    async with store.lock:  # of one process
        return await write_all(store, session_id, changes)


SHARED: Faults = [(variant(Shared, update=write_all_in_turn), "test_processes_share_sessions")]


class Events(MemoryEventStore):
    def __init__(self) -> None:
        super().__init__(1_000_000, 1_000_000, 60)


APPEND, AFTER = Events.append, Events.after


async def append_unless_empty(store: Any, session: str, stream: str, number: int, message: bytes) -> None:
    if message:
        await APPEND(store, session, stream, number, message)


async def forget_none(store: Any, session_id: str) -> None:
    """Do nothing."""


def returning(change: Any) -> Any:
    """Return a store that changes the messages that it returns."""
    return variant(Events, after=lambda self, *arguments: then(AFTER(self, *arguments), change))


ONE_STREAM = variant(
    Events,
    append=lambda self, session, stream, *more: APPEND(self, session, "", *more),
    after=lambda self, session, stream, number: AFTER(self, session, "", number),
)
EVENTS: Faults = [
    (returning(lambda messages: messages and messages[::-1]), "test_later_messages_are_returned_in_order"),
    (variant(Events, append=append_unless_empty), "test_a_message_is_kept_unchanged"),
    (returning(lambda messages: messages or []), "test_unknown_numbers_return_none"),
    (ONE_STREAM, "test_streams_and_sessions_are_separate"),
    (variant(Events, forget=forget_none), "test_all_streams_of_a_session_are_forgotten"),
    (returning(lambda messages: messages and messages[:100]), "test_no_message_is_missing"),
]


class Records(MemoryRecordStore):
    pass


async def create_always(store: Any, record: Any) -> bool:
    await store.delete(record.id)
    return await MemoryRecordStore.create(store, record)


async def replace_always(store: Any, expected: Any, new: Any) -> bool:
    stored = await store.get(expected.id)
    return stored is not None and await MemoryRecordStore.transition(store, stored, new)


async def create_late(store: Any, expected: Any, new: Any) -> bool:
    if expected.number:
        return await MemoryRecordStore.transition(store, expected, new)
    return await create_always(store, new)


async def get_expired(store: Any, record_id: str) -> Any:
    return store._records.get(record_id)


async def find_prefix(store: Any, kind: str) -> Any:
    return [record for record in store._records.values() if record.id.startswith(kind)]


def returning_record(**changes: Any) -> Any:
    """Return a store that changes the records that it returns."""
    get = MemoryRecordStore.get
    return variant(
        Records, get=lambda self, name: then(get(self, name), lambda record: record and record._replace(**changes))
    )


RECORDS: Faults = [
    (returning_record(content=b""), "test_a_record_is_kept"),
    (returning_record(owner=""), "test_a_record_is_kept"),
    (variant(Records, create=create_always), "test_an_id_is_created_once"),
    (variant(Records, transition=replace_always), "test_one_of_several_changes_counts"),
    (variant(Records, transition=create_late), "test_a_change_creates_no_record"),
    (variant(Records, expire=lambda self: get_expired(self, "")), "test_records_expire"),
    (
        variant(Records, count=lambda self, owner: MemoryRecordStore.count(self, "ann")),
        "test_records_are_counted_and_found",
    ),
    (variant(Records, find=find_prefix), "test_records_are_counted_and_found"),
    (variant(Records, orphans=MemoryRecordStore.find), "test_orphans_are_records_of_ended_processes"),
]


class Secrets(SecretStore):
    name: Any = "store"

    def __init__(self) -> None:
        self.secrets = dict(SecretStoreContract.secrets)

    def get(self, name: str) -> str | None:
        return self.secrets.get(name)


def finds(get: Any) -> Any:
    """Return a store that finds secrets in another way."""
    return variant(Secrets, get=lambda self, name: get(self.secrets, name))


def reject(secrets: dict[str, str], name: str) -> str | None:
    if not name.isidentifier():
        raise ValueError(name)
    return secrets.get(name)


def hide_case(secrets: dict[str, str], name: str) -> str | None:
    return {key.lower(): value for key, value in secrets.items()}.get(name.lower())


SECRETS: Faults = [
    (finds(lambda secrets, name: (secrets.get(name) or "").strip()), "test_it_returns_its_secrets"),
    (finds(hide_case), "test_it_returns_no_other_secrets"),
    (variant(Secrets, name=None), "test_it_has_a_name"),
    (finds(lambda secrets, name: secrets.get(name, "").rstrip('"')), "test_it_returns_its_secrets"),
    (finds(lambda secrets, name: secrets.get(name.strip())), "test_it_returns_no_other_secrets"),
    (finds(reject), "test_it_accepts_invalid_names"),
    (finds(lambda secrets, name: secrets.pop(name, None)), "test_it_returns_the_same_each_time"),
    (variant(Secrets, __repr__=lambda self: str(self.secrets)), "test_it_discloses_no_secret"),
    (variant(Secrets, hint=lambda self, name: ""), "test_its_hint_is_a_text"),
]


class Writable(Secrets, WritableSecretStore):
    """A store that accepts some names."""

    def set(self, name: str, value: str) -> str:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a name")
        self.secrets[name] = value
        return "here"

    def unset(self, name: str) -> bool:
        return self.secrets.pop(name, None) is not None


def refuse(store: Any, name: str, value: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"cannot set {name!r} to {value!r}")
    return Writable.set(store, name, value)


SETS = "test_it_sets_replaces_and_removes_secrets"
WRITABLE: Faults = [
    *((type("Faulty", (fault, Writable), {}), rule) for fault, rule in SECRETS),  # type: ignore[arg-type]
    (Secrets, SETS),
    (variant(Writable, set=lambda self, name, value: Writable.set(self, name, value.strip())), SETS),
    (variant(Writable, unset=lambda self, name: self.secrets.clear() or True), SETS),
    (variant(Writable, set=refuse), "test_it_refuses_names_that_it_cannot_hold"),
    (variant(Writable, set=lambda self, name, value: "here"), "test_it_refuses_names_that_it_cannot_hold"),
]
MUTANTS = [
    Mutants(SessionStoreContract, Sessions, SESSIONS),
    Mutants(SessionStoreContract, Shared, SHARED, {"make_other": beside}),
    Mutants(EventStoreContract, Events, EVENTS),
    Mutants(RecordStoreContract, Records, RECORDS),
    Mutants(SecretStoreContract, Secrets, SECRETS),
    Mutants(WritableSecretStoreContract, Writable, WRITABLE),
]


class TestSecretsOfConnect(SecretStoreContract):
    def make(self) -> SecretStore:
        return FixedSecrets(self.secrets)
