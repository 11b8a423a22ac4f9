"""The session store in Redis: one hash for each session, and sorted sets that count sessions by their expiry."""

from __future__ import annotations

import time
from collections.abc import Mapping

from pegboard.plugin import SessionStore
from pegboard_plugins.operation.redis.connection import Connection
from pegboard_plugins.operation.redis.settings import RedisConfig

# the field with an empty name is the key of the sorted set of the owner: no other field has such a name
_USE = """
local function use(owner, all, id, seconds)
  local now = redis.call('TIME')
  local expiry = now[1] + seconds
  redis.call('EXPIRE', KEYS[1], seconds)
  redis.call('ZADD', owner, expiry, id)
  redis.call('EXPIRE', owner, seconds)
  redis.call('ZADD', all, expiry, id)
end
"""
_CREATE = (
    _USE
    + """
for place = 2, 3 do redis.call('ZREMRANGEBYSCORE', KEYS[place], '-inf', redis.call('TIME')[1]) end
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], '', KEYS[2], unpack(ARGV, 4))
use(KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2]))
return 1
"""
)
_UPDATE = (
    _USE
    + """
local owner = redis.call('HGET', KEYS[1], '')
if not owner then return 0 end
local sets = tonumber(ARGV[3]) * 2
if sets > 0 then redis.call('HSET', KEYS[1], unpack(ARGV, 4, 3 + sets)) end
if #ARGV > 3 + sets then redis.call('HDEL', KEYS[1], unpack(ARGV, 4 + sets)) end
use(owner, KEYS[2], ARGV[1], tonumber(ARGV[2]))
return 1
"""
)
_REMOVE = """
local owner = redis.call('HGET', KEYS[1], '')
if owner then redis.call('ZREM', owner, ARGV[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1])
"""


class RedisSessions(SessionStore):
    """The sessions of all processes with one prefix."""

    shared = True

    def __init__(self, connection: Connection, config: RedisConfig) -> None:
        self._run = connection.run
        self._prefix = config.prefix
        self._seconds = round(config.idle_seconds)
        self._most = config.max_sessions
        self._all = f"{config.prefix}sessions"

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        pairs = [part for pair in fields.items() for part in pair]
        keys = (self._session(session_id), self._owner(owner), self._all)
        return bool(await self._run("EVAL", _CREATE, 3, *keys, session_id, self._seconds, self._most, *pairs))

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        pairs = [part for name, value in changes.items() if value is not None for part in (name, value)]
        removed = [name for name, value in changes.items() if value is None]
        arguments = (session_id, self._seconds, len(pairs) // 2, *pairs, *removed)
        return bool(await self._run("EVAL", _UPDATE, 2, self._session(session_id), self._all, *arguments))

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        fields = await self._run("HGETALL", self._session(session_id))
        return {name.decode(): value for name, value in fields.items() if name} if fields else None

    async def remove(self, session_id: str) -> None:
        await self._run("EVAL", _REMOVE, 2, self._session(session_id), self._all, session_id)

    async def count(self, owner: str) -> int:
        return int(await self._run("ZCOUNT", self._owner(owner), time.time(), "+inf"))

    def _session(self, session_id: str) -> str:
        return f"{self._prefix}session:{session_id}"

    def _owner(self, owner: str) -> str:
        return f"{self._prefix}owner:{owner}"
