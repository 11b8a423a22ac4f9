"""The session store and the bus on a real server: the contract, ended and suspended processes, and lost messages."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from pegboard.plugin import Bus, EventStore, PluginError, RecordStore, SessionStore
from pegboard_plugins.operation.redis import message_bus, record_store
from pegboard_plugins.operation.redis.connection import Connection, check_server, client_of, connected
from pegboard_plugins.operation.redis.event_store import RedisEvents
from pegboard_plugins.operation.redis.message_bus import RedisBus
from pegboard_plugins.operation.redis.record_store import RedisRecords
from pegboard_plugins.operation.redis.session_store import RedisSessions
from pegboard_plugins.operation.redis.settings import RedisConfig
from pegboard_testing import BusContract, EventStoreContract, RecordStoreContract, SessionStoreContract, new_record
from tests.support.http import make_certificate
from tests.support.redis_server import PREFIX, RedisServer, needs_redis
from tests.support.round_robin import copy

pytestmark = needs_redis


def config(server: RedisServer, **settings: Any) -> RedisConfig:
    return RedisConfig(url=server.url, user="pegboard", password=SecretStr("secret"), prefix=PREFIX, **settings)


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for answers than a busy machine takes."""
    monkeypatch.setattr("pegboard_plugins.operation.redis.connection.LIMIT_SECONDS", 20)


class OnServer:
    """A store on the emptied server."""

    @pytest.fixture(autouse=True)
    def _use(self, server: RedisServer) -> None:
        server.client.flushdb()
        self.config = config(server, max_sessions=20)
        self.connections: list[Connection] = []

    def connect(self) -> Connection:
        self.connections.append(Connection(client_of(self.config, 1)))
        return self.connections[-1]

    async def dispose(self, made: object) -> None:
        await self.connections.pop().close()


class TestRedisSessions(OnServer, SessionStoreContract):
    def make(self) -> SessionStore:
        return RedisSessions(self.connect(), self.config)

    def make_other(self, made: SessionStore) -> SessionStore:
        return self.make()


class TestRedisEvents(OnServer, EventStoreContract):
    def make(self) -> EventStore:
        return RedisEvents(self.connect(), self.config)


class TestRedisRecords(OnServer, RecordStoreContract):
    async def make(self) -> RecordStore:
        connection = self.connect()
        self.bus = RedisBus(connection, self.config)
        await self.bus.open()
        return RedisRecords(connection, self.config, self.bus)

    async def dispose(self, made: object) -> None:
        await self.bus.close()
        await super().dispose(made)


@pytest.fixture
async def connection(server: RedisServer) -> AsyncIterator[Connection]:
    """A connection to the emptied server."""
    server.client.flushdb()
    async with connected(config(server)) as connection:
        yield connection


async def test_a_command_that_cannot_be_encoded_disturbs_no_other(connection: Connection) -> None:
    results = await asyncio.gather(
        connection.run("SET", f"{PREFIX}a", "1"),
        connection.run("SET", f"{PREFIX}\ud800", "1"),
        connection.run("GET", f"{PREFIX}a"),
        return_exceptions=True,
    )
    assert (results[0], type(results[1]), results[2]) == (True, UnicodeEncodeError, b"1")
    assert await connection.run("GET", f"{PREFIX}a") == b"1"


async def test_records_of_an_ended_process_are_found(
    server: RedisServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_bus, "RENEWAL_SECONDS", 0.05)
    buses = [RedisBus(connection, config(server)) for _ in range(3)]
    for bus in buses:
        await bus.open()
    stores = [RedisRecords(connection, config(server), bus) for bus in buses]
    ended: asyncio.Queue[RecordStore] = asyncio.Queue()
    for store in stores[1:]:
        store.on_ended = partial(ended.put_nowait, store)
    await stores[0].create(new_record(process=stores[0].process))
    assert not await stores[1].orphans("kind")
    await buses[0].close()
    async with asyncio.timeout(20):
        learned = await ended.get()
    assert [record.id for record in await learned.orphans("kind")] == ["kind/a"]
    for bus in buses[1:]:
        await bus.close()
    assert ended.empty()


async def test_many_records_are_found_in_parts(
    server: RedisServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part must arrive within the time limit of a command."""
    sizes: list[int] = []
    exchange = connection._exchange

    async def counted(commands: Any) -> Any:
        sizes.append(len(commands))
        return await exchange(commands)

    monkeypatch.setattr(connection, "_exchange", counted)
    monkeypatch.setattr(record_store, "READ_RECORDS", 2)
    store = RedisRecords(connection, config(server), RedisBus(connection, config(server)))
    for number in range(5):
        assert await store.create(new_record(str(number), process="1"))
    assert (len(await store.find("kind")), len(await store.orphans("kind"))) == (5, 5)
    assert max(sizes) == 2


async def test_full_stores_refuse_sessions_and_expired_ones_make_room(
    server: RedisServer, connection: Connection
) -> None:
    store = RedisSessions(connection, config(server, max_sessions=2))
    assert [await store.create(name, "ada", {}) for name in "abc"] == [True, True, False]
    server.client.delete(f"{PREFIX}session:a")  # as at its expiry
    for name in ("sessions", "owner:ada"):
        server.client.zadd(f"{PREFIX}{name}", {"a": 1})
    assert (await store.count("ada"), await store.get("a")) == (1, None)
    assert await store.create("c", "ada", {}) is True
    assert [server.client.zcard(f"{PREFIX}{name}") for name in ("sessions", "owner:ada")] == [2, 2]


async def test_waiting_commands_are_one_round_trip(server: RedisServer, connection: Connection) -> None:
    store = RedisSessions(connection, config(server))
    await store.create("s", "ada", {"a": b"1"})
    before = server.client.info("stats")["total_reads_processed"]
    read = await asyncio.gather(*[store.get("s") for _ in range(50)])
    assert read == [{"a": b"1"}] * 50
    assert server.client.info("stats")["total_reads_processed"] - before < 10


@asynccontextmanager
async def with_tls(server: RedisServer, folder: Path) -> AsyncIterator[int]:
    """Yield a port with TLS that leads to the server. The folder gets its certificate for localhost."""
    make_certificate(folder)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server.port)
        ways = [asyncio.create_task(copy(*way)) for way in ((reader, far_writer), (far_reader, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way, each in zip(ways, (writer, far_writer), strict=True):
            way.cancel()
            each.transport.abort()

    async with await asyncio.start_server(forward, "127.0.0.1", 0, ssl=tls) as listening:
        yield listening.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("host", "is_known", "problem"),
    [("localhost", True, ""), ("127.0.0.1", True, "not valid for '127.0.0.1'"), ("localhost", False, "self-signed")],
)
async def test_the_certificate_and_the_name_of_the_server_are_verified(
    server: RedisServer, tmp_path: Path, host: str, is_known: bool, problem: str
) -> None:
    async with with_tls(server, tmp_path) as port:
        own = config(server, ca_file=tmp_path / "cert.pem" if is_known else None)
        async with connected(own.model_copy(update={"url": f"rediss://{host}:{port}/0"})) as connection:
            if problem:
                with pytest.raises(ConnectionError, match=problem):
                    await connection.run("TIME")
            else:
                assert await connection.run("TIME")


class Heard(list[tuple[str, bytes, int]]):
    """The messages that reached a bus."""

    def __init__(self, bus: Bus, *topics: str) -> None:
        self.news = asyncio.Event()
        for topic in topics:
            bus.listen(topic, lambda body, sender, topic=topic: self._add(topic, body, sender))  # type: ignore[misc]

    def _add(self, *message: Any) -> None:
        self.append(message)
        self.news.set()

    async def wait(self, many: int) -> list[tuple[str, bytes, int]]:
        """Wait until there are so many messages, and return them."""
        async with asyncio.timeout(20):
            while len(self) < many:
                self.news.clear()
                await self.news.wait()
        return list(self)


class Processes:
    """Buses as of several processes, on an empty server."""

    def __init__(self, server: RedisServer) -> None:
        server.client.flushdb()
        self.config = config(server)
        self.buses: list[RedisBus] = []

    async def start(self) -> RedisBus:
        bus = RedisBus(Connection(client_of(self.config, 1)), self.config)
        await bus.open()
        self.buses.append(bus)
        return bus

    async def stop(self) -> None:
        for bus in self.buses:
            await bus.close()
            await bus._connection.close()


class TestRedisBus(BusContract):
    @pytest.fixture(autouse=True)
    def _use(self, server: RedisServer) -> None:
        self.server = server

    async def make(self) -> Sequence[Bus]:
        self.processes = Processes(self.server)
        return [await self.processes.start() for _ in range(3)]

    async def dispose(self, made: Sequence[Bus]) -> None:
        await self.processes.stop()


@pytest.fixture
async def processes(server: RedisServer) -> AsyncIterator[Processes]:
    started = Processes(server)
    yield started
    await started.stop()


async def test_an_ended_process_gets_no_message_and_frees_no_number(processes: Processes, server: RedisServer) -> None:
    first, second = await processes.start(), await processes.start()
    server.client.delete(f"{PREFIX}process:{second.number}")  # as at its expiry
    assert await first.send("a", b"1", second.number) is False
    assert await first.send("a", b"1", 10**9) is False
    server.client.flushall()  # as a server that has lost its data
    assert (await processes.start()).number >= first.number


async def test_a_process_that_was_suspended_takes_a_new_number(
    processes: Processes, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_bus, "RENEWAL_SECONDS", 0.01)
    first, second = await processes.start(), await processes.start()
    former, heard = second.number, Heard(second, "", "a")
    server.client.delete(f"{PREFIX}process:{former}")
    assert await heard.wait(1) == [("", b"", second.number)]
    assert second.number > former
    assert await first.send("a", b"1", former) is False
    assert await first.send("a", b"2", second.number) is True
    assert (await heard.wait(2))[1] == ("a", b"2", first.number)


async def test_a_reader_that_has_fallen_behind_is_told(processes: Processes, server: RedisServer) -> None:
    first, second = await processes.start(), await processes.start()
    heard = Heard(second, "", "a")
    second._tasks[0].cancel()  # it does not read
    await asyncio.gather(*[first.send("a", str(number).encode()) for number in range(5)])
    server.client.xtrim(f"{PREFIX}bus", maxlen=2, approximate=False)
    second._tasks[0] = asyncio.create_task(second._read())
    assert [(topic, body) for topic, body, _ in await heard.wait(3)] == [("", b""), ("a", b"3"), ("a", b"4")]


async def test_a_message_without_sender_does_not_end_the_reader(processes: Processes, server: RedisServer) -> None:
    first, second = await processes.start(), await processes.start()
    heard = Heard(second, "", "a")
    server.client.xadd(f"{PREFIX}inbox:{second.number}", {"t": "a"})
    server.client.xadd(f"{PREFIX}bus", {"t": "a"}, id=f"{server.client.incr(f'{PREFIX}bus-place')}-0")
    assert await heard.wait(1) == [("", b"", second.number)]
    await first.send("a", b"1")
    await first.send("a", b"2", second.number)
    async with asyncio.timeout(20):
        while ("a", b"1", first.number) not in heard or ("a", b"2", first.number) not in heard:
            await heard.wait(len(heard) + 1)


async def test_a_process_whose_renewal_failed_reads_on_where_the_server_is(
    processes: Processes, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader need not have noticed that the server was away."""
    monkeypatch.setattr(message_bus, "RENEWAL_SECONDS", 0.01)
    monkeypatch.setattr(message_bus, "RETRY_SECONDS", 0.02)
    first, second = await processes.start(), await processes.start()
    heard = Heard(second, "", "a")
    await first.send("a", b"1")
    await heard.wait(1)
    server.client.delete(f"{PREFIX}bus", f"{PREFIX}bus-place")  # as a server that has lost its last second
    run = second._connection.run

    async def fail_once(*_: Any) -> Any:
        monkeypatch.setattr(second._connection, "run", run)
        raise ConnectionError("away")

    monkeypatch.setattr(second._connection, "run", fail_once)
    assert (await heard.wait(2))[1] == ("", b"", second.number)
    await first.send("a", b"2")
    assert (await heard.wait(3))[2] == ("a", b"2", first.number)


async def test_messages_arrive_after_a_restart_of_the_server(processes: Processes, server: RedisServer) -> None:
    first, second = await processes.start(), await processes.start()
    heard = Heard(second, "", "a")
    server.kill()
    with pytest.raises(ConnectionError):
        await first.send("a", b"1")
    assert "Redis cannot be reached" in first.problem
    server.start()
    assert await heard.wait(1) == [("", b"", second.number)]  # messages may be lost
    assert await first.send("a", b"2") is True
    assert (await heard.wait(2))[1][:2] == ("a", b"2")
    assert first.problem == ""


async def test_a_server_that_hangs_is_not_waited_for(
    server: RedisServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connection.run("PING")
    monkeypatch.setattr("pegboard_plugins.operation.redis.connection.LIMIT_SECONDS", 0.1)
    server.client.client_pause(10_000)
    try:
        with pytest.raises(ConnectionError, match="it did not answer in time"):
            await connection.run("GET", f"{PREFIX}x")
    finally:
        server.client.client_unpause()


async def test_a_server_that_has_become_a_replica_is_left(server: RedisServer, connection: Connection) -> None:
    """After a failover, the address may lead to another server."""
    before = await connection.run("CLIENT", "ID")
    server.client.replicaof("127.0.0.1", "1")
    try:
        with pytest.raises(ConnectionError, match="read only"):
            await connection.run("SET", f"{PREFIX}a", "1")
        assert "read only" in connection.problem
    finally:
        server.client.replicaof("NO", "ONE")
    connection._away_until = 0
    assert await connection.run("CLIENT", "ID") != before


async def test_a_server_that_may_drop_sessions_is_refused(server: RedisServer, connection: Connection) -> None:
    server.client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(PluginError, match="maxmemory-policy"):
            await check_server(connection)
    finally:
        server.client.config_set("maxmemory-policy", "noeviction")
    await check_server(connection)
