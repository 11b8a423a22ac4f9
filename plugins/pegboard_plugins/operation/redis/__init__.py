"""Shared state in Redis or Valkey, with the library `redis` (the extra `redis`). Docs: `docs/scale.md`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pegboard.plugin import (
    Bus,
    EventStore,
    Plugin,
    PluginContext,
    PluginError,
    RecordStore,
    SessionStore,
    Store,
    hookimpl,
)
from pegboard_plugins.operation.redis.settings import RedisConfig

if TYPE_CHECKING:
    from pegboard_plugins.operation.redis.message_bus import RedisBus


class RedisPlugin(Plugin):
    """Offers stores and a bus, which `[host] state = "redis"` selects.

    No connection is opened before the host serves.
    """

    Config = RedisConfig

    def __init__(self, config: RedisConfig) -> None:
        super().__init__(config)
        self._open_bus: RedisBus | None = None
        if find_spec("redis") is None:
            raise PluginError('the library redis is not installed; install it with: pip install "redis!=8.1.0" hiredis')

    @hookimpl
    def register_stores(self, context: PluginContext) -> Iterable[Store]:
        return [
            Store(contract=SessionStore, open=self._sessions),
            Store(contract=EventStore, open=self._events),
            Store(contract=RecordStore, open=self._records),
            Store(contract=Bus, open=self._bus),
        ]

    @asynccontextmanager
    async def _sessions(self) -> AsyncIterator[SessionStore]:
        from pegboard_plugins.operation.redis.connection import connected
        from pegboard_plugins.operation.redis.session_store import RedisSessions

        async with connected(self.config) as connection:
            yield RedisSessions(connection, self.config)

    @asynccontextmanager
    async def _events(self) -> AsyncIterator[EventStore]:
        from pegboard_plugins.operation.redis.connection import connected
        from pegboard_plugins.operation.redis.event_store import RedisEvents

        async with connected(self.config) as connection:
            yield RedisEvents(connection, self.config)

    @asynccontextmanager
    async def _records(self) -> AsyncIterator[RecordStore]:
        from pegboard_plugins.operation.redis.connection import connected
        from pegboard_plugins.operation.redis.record_store import RedisRecords

        if self._open_bus is None:
            raise PluginError('records in Redis need the bus: set [host] state = "redis"')
        async with connected(self.config) as connection:
            yield RedisRecords(connection, self.config, self._open_bus)

    @asynccontextmanager
    async def _bus(self) -> AsyncIterator[Bus]:
        from pegboard_plugins.operation.redis.connection import check_server, connected
        from pegboard_plugins.operation.redis.message_bus import RedisBus

        async with connected(self.config) as connection:
            await check_server(connection)
            bus = RedisBus(connection, self.config)
            await bus.open()
            self._open_bus = bus
            try:
                yield bus
            finally:
                self._open_bus = None
                await bus.close()
