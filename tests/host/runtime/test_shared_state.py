"""State that processes share: its settings, its encryption, and the bus of a host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import SecretStr

from pegboard import Host, PluginConfig
from pegboard.config import HostConfig
from pegboard.errors import ConfigError
from pegboard.loading.discovery import defaults
from pegboard.plugin import (
    Bus,
    Plugin,
    PluginContext,
    RecordStore,
    SessionStore,
    SharedKeys,
    Store,
    StoreName,
    hookimpl,
)
from pegboard.runtime.host_bus import VERSION, ChangeRelay, HostBus
from pegboard.runtime.sealed_state import SealedRecordStore, SealedSessionStore, StateSealer
from pegboard.types import Change
from pegboard_plugins.support.memory_records import MemoryRecordStore
from pegboard_testing import RecordStoreContract, SessionStoreContract, new_record
from tests.host.hosting import until
from tests.support import kept

OLD, NEW = "o" * 32, "n" * 32


class SharedFiles(kept.Sessions):
    shared = True


class TestSealedSessions(SessionStoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> SessionStore:
        return SealedSessionStore(SharedFiles(self.folder / "sessions"), StateSealer([NEW]))

    def make_other(self, made: SessionStore) -> SessionStore:
        return self.make()


async def test_a_store_sees_bytes_and_digests_and_keys_can_be_replaced(tmp_path: Path) -> None:
    files = SharedFiles(tmp_path / "sessions")
    await SealedSessionStore(files, StateSealer([OLD])).create("secret id", "ann", {"data/shop/cart": b"tea"})
    both = SealedSessionStore(files, StateSealer([NEW, OLD]))
    assert await both.update("secret id", {"level": b"error"}) is True
    assert await both.get("secret id") == {"data/shop/cart": b"tea", "level": b"error"}
    assert await both.count("ann") == 1
    assert await SealedSessionStore(files, StateSealer([NEW])).get("secret id") is None
    seen = b"".join(path.name.encode() + path.read_bytes() for path in files.folder.iterdir())
    assert not [text for text in (b"secret id", b"ann", b"shop", b"tea", b"level", b"error") if text in seen]


async def test_a_field_that_was_moved_to_another_session_is_not_opened(tmp_path: Path) -> None:
    files, sealer = SharedFiles(tmp_path / "sessions"), StateSealer([NEW])
    store = SealedSessionStore(files, sealer)
    await store.create("a", "ann", {"data/shop/cart": b"tea"})
    await store.create("b", "bob", {})
    stolen: Mapping[str, Any] = await files.get(sealer.digest("a")) or {}
    await files.update(sealer.digest("b"), stolen)
    assert await store.get("b") is None


class TestSealedRecords(RecordStoreContract):
    def make(self) -> RecordStore:
        return SealedRecordStore(MemoryRecordStore(), StateSealer([NEW]))


async def test_a_store_of_records_sees_kinds_and_digests() -> None:
    records = MemoryRecordStore()
    await SealedRecordStore(records, StateSealer([OLD])).create(new_record("secret", owner="ann"))
    both = SealedRecordStore(records, StateSealer([NEW, OLD]))
    stored = await both.get("kind/secret")
    assert stored is not None
    assert await both.transition(stored, stored._replace(content=b"tea")) is True
    assert [record.content for record in await both.find("kind")] == [b"tea"]
    assert await SealedRecordStore(records, StateSealer([NEW])).get("kind/secret") is None
    ((record_id, record),) = records._records.items()
    assert not [text for text in ("secret", "ann", "tea") if text in repr(record)]
    assert record_id.startswith("kind/")


class PairedBus(Bus):
    """One of two processes, whose messages the test passes on."""

    number = 7

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, bytes, int | None]] = []

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        self.sent.append((topic, body, to))
        return True


async def test_messages_are_sealed_and_others_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    bus, carrier = HostBus(), PairedBus()
    heard: list[tuple[bytes, int]] = []
    bus.listen("a", lambda body, sender: heard.append((body, sender)))
    assert [await bus.send("a", b"own", to) for to in (None, 0, 5)] == [True, True, False]
    for _ in "12":  # as by a transport that is started again
        bus.carry_by(carrier, StateSealer([NEW]))
    bus.listen("b", lambda body, sender: heard.append((body, sender)))
    await bus.send("a", b"private", 5)
    ((topic, sealed, to),) = carrier.sent
    assert (topic, to, b"private" in sealed, bus.number) == ("a", 5, False, 7)
    carrier.deliver("a", sealed, 5)
    later = StateSealer([NEW]).seal(bytes([VERSION + 1]) + b"later", "a")
    for foreign_topic, foreign in (("b", sealed), ("a", b"forged"), ("a", b""), ("a", later), ("a", later)):
        carrier.deliver(foreign_topic, foreign, 5)
    assert heard == [(b"own", 0), (b"private", 5)]
    for problem in ("it is not sealed with [host] state_keys", "it has a later version"):
        assert caplog.text.count(problem) == 1


class RoomsPlugin(Plugin):
    """Listens as long as it is served."""

    class Config(PluginConfig):
        name: str = "first"

    heard: ClassVar[list[str]] = []
    ended: ClassVar[list[str]] = []

    @hookimpl
    @asynccontextmanager
    async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
        end = context.bus.listen("rooms", lambda body, sender: self.heard.append(self.config.name))
        try:
            yield
        finally:
            end()
            self.ended.append(self.config.name)


async def test_a_plugin_that_was_reloaded_hears_a_message_once() -> None:
    config: dict[str, Any] = {"host": {"autoload": False}}
    async with Host(config, plugins={"rooms": RoomsPlugin}) as host:
        changed = HostConfig.of({**config, "plugins": {"rooms": {"name": "second"}}}, defaults=defaults())
        assert [result.outcome for result in await host.reload(config=changed)] == ["reloaded"]
        await until(lambda: RoomsPlugin.ended == ["first"])  # after the calls that it served
        host._bus.deliver("rooms", b"", 1)
    assert RoomsPlugin.heard == ["second"]


async def test_changes_of_resources_are_told_together_and_again_after_a_failure() -> None:
    class Away(PairedBus):
        fails = 1

        async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
            if self.fails:
                self.fails -= 1
                raise ConnectionError
            done.set()
            return await super().send(topic, body, to)

    done, told, bus = asyncio.Event(), list[Change](), Away()
    relay = ChangeRelay(bus, told.append)
    relay.open()
    first, second = Change("resource", "x://a"), Change("resource", "x://b")
    for change in (first, Change("tools"), first, second):
        relay.tell(change)
    async with asyncio.timeout(20):
        await done.wait()
    ((topic, body, to),) = bus.sent
    bus.deliver(topic, body, 8)
    assert (told, to) == ([first, second], None)


class ShelfConfig(PluginConfig):
    store: Annotated[str, StoreName(SessionStore)] = "memory"
    other: Annotated[str, StoreName(dict)] = "plain"
    keys: Annotated[tuple[SecretStr, ...], SharedKeys()] = ()


class ShelfPlugin(Plugin):
    """Keeps state, and uses it."""

    Config = ShelfConfig
    bus: Bus

    @hookimpl
    def register_stores(self, context: PluginContext) -> Iterable[Store]:
        type(self).bus = context.bus
        kinds = [(SessionStore, None), (Bus, None), (dict, "plain")]
        return [Store(kind, self.open, name) for kind, name in kinds]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Any]:
        yield None


def shelf(**host: Any) -> Host:
    return Host({"host": {"autoload": False, **host}}, plugins={"shelf": ShelfPlugin})


def test_the_state_is_the_default_of_stores_and_its_keys_that_of_keys() -> None:
    host = shelf(state="shelf", state_keys=[NEW])
    stores = host.load().stores
    assert {(contract.__name__, name) for contract, name in stores} >= {
        ("SessionStore", "shelf"), ("Bus", "shelf"), ("dict", "shelf"),
    }  # fmt: skip
    assert stores[dict, "shelf"][1].name == "plain"  # the state has no such store
    (plugin,) = (plugin for plugin in host.report.plugins if plugin.origin.name == "shelf")
    assert [key.get_secret_value() for key in plugin.instance.config.keys] == [NEW]
    assert NEW not in repr(host.config.host)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"state": "shelf"}, "openssl rand"),
        ({"state_keys": ["short"]}, "openssl rand"),
        ({"state": "shell", "state_keys": [NEW]}, 'did you mean "?shelf'),
    ],
)
async def test_a_state_that_cannot_be_kept_is_refused(settings: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        async with shelf(**settings):
            pass
