"""The bus in Redis: a capped stream for all processes, an inbox for each, and a key while a process is alive."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from pegboard.plugin import Bus
from pegboard_plugins.operation.redis.connection import Connection, client_of
from pegboard_plugins.operation.redis.settings import RedisConfig

RENEWAL_SECONDS = 5.0
"""The interval between renewals of the key of a process."""
RETRY_SECONDS = 1.0
"""The interval between attempts to reach the server."""
LIFE_SECONDS = 15
"""How long the key of a process lasts without renewal. Then the process counts as ended."""
CANCEL_SECONDS = 0.1
"""The interval between cancellations of a task."""
BLOCK_SECONDS = 60
"""How long one read waits for messages."""
KEPT_MESSAGES = 10_000
"""The number of messages in a stream. A reader that falls behind is told that it has missed some."""
READ_MESSAGES = 100

# numbers grow with the clock, so that a server that has lost its data does not use one again
_BEGIN = """
local number = math.max(tonumber(redis.call('GET', KEYS[1]) or 0) + 1, redis.call('TIME')[1] - 1700000000)
redis.call('SET', KEYS[1], string.format('%d', number))
redis.call('SET', KEYS[2] .. string.format('%d', number), 1, 'EX', ARGV[1])
redis.call('SADD', KEYS[4], string.format('%d', number))
return {number, tonumber(redis.call('GET', KEYS[3]) or 0)}
"""
# one process learns of each end
_ENDED = """
local ended = 0
for _, number in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if redis.call('EXISTS', KEYS[2] .. number) == 0 then ended = ended + redis.call('SREM', KEYS[1], number) end
end
return ended
"""
_TELL_ALL = """
local place = redis.call('INCR', KEYS[2])
local id = string.format('%d-0', place)
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], id, 't', ARGV[2], 'b', ARGV[3], 's', ARGV[4])
return 1
"""
_TELL_ONE = """
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 't', ARGV[2], 'b', ARGV[3], 's', ARGV[4])
redis.call('EXPIRE', KEYS[1], 3600)
return 1
"""

logger = logging.getLogger("pegboard.redis")


class RedisBus(Bus):
    """The bus of one process.

    Attributes:
        on_ended: a function that is called when another process has ended; None for no function.
    """

    on_ended: Callable[[], object] | None = None

    def __init__(self, connection: Connection, config: RedisConfig) -> None:
        super().__init__()
        self._connection = connection
        self._config = config
        self._number = 0
        self._place = 0  # the number of the last message for all that was read
        self._last = b"0-0"  # the id of the last message of the inbox that was read
        self._life = f"{config.prefix}process:"
        self._stream = f"{config.prefix}bus"
        self._places = f"{config.prefix}bus-place"
        self._processes = f"{config.prefix}processes"
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def number(self) -> int:
        return self._number

    @property
    def problem(self) -> str:
        return self._connection.problem

    async def open(self) -> None:
        """Take a number, and begin to read messages and to renew the key."""
        await self._begin()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._renew())]

    async def close(self) -> None:
        """Announce that this process has ended."""
        for task in reversed(self._tasks):  # the renewal may begin another reader
            await _end(task)
        with suppress(ConnectionError):
            await self._connection.run("DEL", f"{self._life}{self._number}", self._inbox(self._number))

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        """Add a message to the stream of all, or to the inbox of a process that is alive."""
        if to == self._number:
            return await super().send(topic, body, to)
        message = (KEPT_MESSAGES, topic, body, self._number)
        if to is None:
            return bool(await self._connection.run("EVAL", _TELL_ALL, 2, self._stream, self._places, *message))
        keys = (self._inbox(to), f"{self._life}{to}")
        return bool(await self._connection.run("EVAL", _TELL_ONE, 2, *keys, *message))

    async def lives(self, number: str) -> bool:
        """Return True if a process has not ended."""
        return bool(await self._connection.run("EXISTS", f"{self._life}{number}"))

    def _inbox(self, number: int) -> str:
        return f"{self._config.prefix}inbox:{number}"

    async def _begin(self) -> None:
        keys = (f"{self._config.prefix}number", self._life, self._places, self._processes)
        self._number, self._place = await self._connection.run("EVAL", _BEGIN, 4, *keys, LIFE_SECONDS)
        self._last = b"0-0"

    async def _renew(self) -> None:
        """Renew the key of this process. If it has expired, take a new number."""
        seconds = RENEWAL_SECONDS
        while True:
            await asyncio.sleep(seconds)
            was_away = seconds == RETRY_SECONDS
            try:
                commands: list[tuple[Any, ...]] = [("SET", f"{self._life}{self._number}", 1, "XX", "EX", LIFE_SECONDS)]
                commands += [("EVAL", _ENDED, 2, self._processes, self._life)] if self.on_ended else []
                is_kept, *ended = await asyncio.gather(*[self._connection.run(*command) for command in commands])
                if not is_kept:
                    await self._begin()
                    logger.warning(
                        "other processes assumed the end of this process; it continues as process %d", self._number
                    )
                    await self._read_anew()
                elif was_away:
                    logger.info("Redis is back")
                    await self._read_anew()
                seconds = RENEWAL_SECONDS
                if self.on_ended and any(ended):
                    self.on_ended()
            except ConnectionError as error:
                if not was_away:
                    logger.error("%s; sessions wait for it", error)
                seconds = RETRY_SECONDS

    async def _read_anew(self) -> None:
        """Read by a new connection: the current one may wait for a server that is gone."""
        await _end(self._tasks[0])
        self._tasks[0] = asyncio.create_task(self._read(is_first=False))

    async def _read(self, *, is_first: bool = True) -> None:
        """Read messages. When the server cannot be reached, try again until it can."""
        while True:
            client = client_of(self._config, BLOCK_SECONDS + 10)
            try:
                if not is_first:  # the server may have lost messages since
                    place = int(await self._connection.run("GET", self._places) or 0)
                    self._missed(min(place, self._place))
                await self._read_by(client)
            except (RedisError, OSError, LookupError, ValueError) as error:  # others may have written to the server
                logger.debug("reading messages failed: %s", error)
            finally:
                await client.aclose()
            is_first = False
            await asyncio.sleep(RETRY_SECONDS)

    async def _read_by(self, client: Redis) -> None:
        inbox = self._inbox(self._number)
        while True:
            places: dict[Any, Any] = {self._stream: f"{self._place}-0", inbox: self._last}
            answer: Any = await client.xread(places, READ_MESSAGES, BLOCK_SECONDS * 1000)
            for name, messages in answer:
                if name.decode() == inbox:
                    for message in messages:
                        if _moment(message[0]) > _moment(self._last):
                            self._last = message[0]
                            self._receive(message)
                    await self._connection.run("XDEL", inbox, *[place for place, _ in messages])
                else:
                    self._receive_in_order(messages)

    def _receive_in_order(self, messages: Sequence[tuple[bytes, Any]]) -> None:
        for message in messages:
            place = _moment(message[0])[0]
            if place <= self._place:
                continue  # a former reader has read it
            if place != self._place + 1:
                self._missed(place)
            self._place = place
            self._receive(message)

    def _missed(self, place: int) -> None:
        logger.warning("messages of other processes were lost; what they may have changed is read again")
        self._place = place
        self.deliver("", b"", self._number)

    def _receive(self, message: tuple[bytes, Any]) -> None:
        fields = message[1]
        sender = int(fields[b"s"])
        if sender != self._number:
            self.deliver(fields[b"t"].decode(), fields[b"b"], sender)


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel a task until it has ended: the library may lose a cancellation while it connects."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)


def _moment(message_id: bytes) -> tuple[int, int]:
    """Return the parts of the id of a message, which grow within a stream."""
    first, _, second = message_id.partition(b"-")
    return int(first), int(second)
