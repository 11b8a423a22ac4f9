"""Records in Redis: one hash for each, and sorted sets of the records of a kind and of an owner by their expiry."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import time

from pegboard.plugin import Record, RecordStore
from pegboard_plugins.operation.redis.connection import Connection
from pegboard_plugins.operation.redis.message_bus import RedisBus
from pegboard_plugins.operation.redis.settings import RedisConfig

READ_RECORDS = 100
"""The number of records that are read at once. All answers must arrive within a second."""

# each set lasts as long as its last record
_KEEP = """
local function milliseconds(seconds) return string.format('%d', math.ceil(tonumber(seconds) * 1000)) end
local function keep(id, expiry)
  redis.call('PEXPIREAT', KEYS[1], milliseconds(expiry))
  for place = 2, 3 do
    redis.call('ZREMRANGEBYSCORE', KEYS[place], '-inf', redis.call('TIME')[1])
    redis.call('ZADD', KEYS[place], expiry, id)
    local last = redis.call('ZREVRANGE', KEYS[place], 0, 0, 'WITHSCORES')[2]
    redis.call('PEXPIREAT', KEYS[place], milliseconds(last))
  end
end
"""
_CREATE = (
    _KEEP
    + """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'content', ARGV[3], 'expires_at', ARGV[2], 'owner', ARGV[4], 'state', ARGV[5],
  'process', ARGV[6], 'number', 0)
keep(ARGV[1], ARGV[2])
return 1
"""
)
_TRANSITION = (
    _KEEP
    + """
if redis.call('HGET', KEYS[1], 'number') ~= ARGV[6] then return 0 end
redis.call('HSET', KEYS[1], 'content', ARGV[3], 'expires_at', ARGV[2], 'state', ARGV[4], 'process', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'number', 1)
keep(ARGV[1], ARGV[2])
return 1
"""
)
_DELETE = """
local owner = redis.call('HGET', KEYS[1], 'owner')
if not owner then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', ARGV[2] .. owner, ARGV[1])
return redis.call('DEL', KEYS[1])
"""


class RedisRecords(RecordStore):
    """The records of all processes with one prefix. The bus knows which processes are alive.

    Args:
        connection: the connection.
        config: the settings.
        bus: the open bus of this process.
    """

    def __init__(self, connection: Connection, config: RedisConfig, bus: RedisBus) -> None:
        self._run = connection.run
        self._prefix = config.prefix
        self._bus = bus
        bus.on_ended = lambda: self.on_ended and self.on_ended()

    @property
    def process(self) -> str:  # type: ignore[override]  # a suspended process gets another number
        """The number of this process."""
        return str(self._bus.number)

    async def create(self, record: Record) -> bool:
        index = (record.id, record.expires_at, record.content, record.owner, record.state, record.process)
        return bool(await self._run("EVAL", _CREATE, 3, *self._keys(record), *index))

    async def get(self, record_id: str) -> Record | None:
        stored = await self._run("HGETALL", self._record(record_id))
        if not stored:
            return None
        fields = {name.decode(): value for name, value in stored.items()}
        owner, state, process = (fields[name].decode() for name in ("owner", "state", "process"))
        number, expires_at = int(fields["number"]), float(fields["expires_at"])
        return Record(record_id, fields["content"], expires_at, owner, state, process, number)

    async def transition(self, expected: Record, new: Record) -> bool:
        index = (expected.id, new.expires_at, new.content, new.state, new.process, expected.number)
        return bool(await self._run("EVAL", _TRANSITION, 3, *self._keys(expected), *index))

    async def delete(self, record_id: str) -> bool:
        keys = (self._record(record_id), self._kind(record_id))
        return bool(await self._run("EVAL", _DELETE, 2, *keys, record_id, self._owner("")))

    async def count(self, owner: str) -> int:
        return int(await self._run("ZCOUNT", self._owner(owner), time(), "+inf"))

    async def find(self, kind: str) -> Sequence[Record]:
        ids = await self._run("ZRANGEBYSCORE", self._kind(kind), time(), "+inf")
        records: list[Record | None] = []
        for begin in range(0, len(ids), READ_RECORDS):
            part = ids[begin : begin + READ_RECORDS]
            records += await asyncio.gather(*[self.get(record_id.decode()) for record_id in part])
        return [record for record in records if record is not None]

    async def orphans(self, kind: str) -> Sequence[Record]:
        """Return the records of a kind whose process has ended: it has no key."""
        records = [record for record in await self.find(kind) if record.process not in ("", self.process)]
        processes = list({record.process for record in records})
        lives = dict(zip(processes, await asyncio.gather(*map(self._bus.lives, processes)), strict=True))
        return [record for record in records if not lives[record.process]]

    async def expire(self) -> None:
        """Do nothing: the server removes records that have expired."""

    def _keys(self, record: Record) -> tuple[str, str, str]:
        return self._record(record.id), self._kind(record.id), self._owner(record.owner)

    def _record(self, record_id: str) -> str:
        return f"{self._prefix}record:{record_id}"

    def _kind(self, record_id: str) -> str:
        return f"{self._prefix}records:{record_id.partition('/')[0]}"

    def _owner(self, owner: str) -> str:
        return f"{self._prefix}records-of:{owner}"
