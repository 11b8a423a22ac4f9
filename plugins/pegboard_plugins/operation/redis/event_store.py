"""The event store in Redis: one capped stream for each session."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.plugin import EventStore
from pegboard_plugins.operation.redis.connection import Connection
from pegboard_plugins.operation.redis.settings import RedisConfig

KEPT_MESSAGES = 100
"""The largest number of messages of a session."""
KEPT_SECONDS = 300
"""How long they are kept after the last one."""
_APPEND = """
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 's', ARGV[3], 'n', ARGV[4], 'm', ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""


class RedisEvents(EventStore):
    """The events of all processes with one prefix."""

    shared = True

    def __init__(self, connection: Connection, config: RedisConfig) -> None:
        self._run = connection.run
        self._prefix = config.prefix

    async def append(self, session_id: str, stream: str, number: int, message: bytes) -> None:
        key = self._key(session_id)
        await self._run("EVAL", _APPEND, 1, key, KEPT_MESSAGES, KEPT_SECONDS, stream, number, message)

    async def after(self, session_id: str, stream: str, number: int) -> Sequence[tuple[int, bytes]] | None:
        stored = await self._run("XRANGE", self._key(session_id), "-", "+")
        of_stream = [fields for _, fields in stored if fields[b"s"].decode() == stream]
        messages = [(int(fields[b"n"]), fields[b"m"]) for fields in of_stream]
        if not messages or not messages[0][0] - 1 <= number <= messages[-1][0]:
            return None
        return [message for message in messages if message[0] > number]

    async def forget(self, session_id: str) -> None:
        await self._run("DEL", self._key(session_id))

    def _key(self, session_id: str) -> str:
        return f"{self._prefix}events:{session_id}"
