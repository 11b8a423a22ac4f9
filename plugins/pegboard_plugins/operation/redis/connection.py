"""A connection to Redis. It sends waiting commands together, and waits for an answer at most a second."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, ResponseError

from pegboard.plugin import PluginError
from pegboard_plugins.operation.redis.settings import RedisConfig

LIMIT_SECONDS = 1.0
"""How long a command waits for its answer."""
PAUSE_SECONDS = 0.5  # for which commands fail at once after the server could not be reached
MIN_VERSION = (6, 2)

logger = logging.getLogger("pegboard.redis")


def client_of(config: RedisConfig, limit: float | None) -> Redis:
    """Return a client that waits at most `limit` seconds for a response of the server; None for no limit."""
    tls: dict[str, Any] = {"ssl_ca_certs": str(config.ca_file)} if config.ca_file is not None else {}
    return Redis.from_url(
        config.url,
        username=config.user,
        password=None if config.password is None else config.password.get_secret_value(),
        socket_timeout=limit,
        socket_connect_timeout=LIMIT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        **tls,
    )


class Connection:
    """Sends commands. Commands that wait at the same time share one round trip, in the order of the calls.

    Attributes:
        problem: the reason why the last command failed; "" if it succeeded.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._pool = client.connection_pool
        self._held: Any = self._pool.make_connection()  # type: ignore[no-untyped-call]  # the library says no type
        self._waiting: list[tuple[str, list[bytes], asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None
        self._away_until = 0.0
        self.problem = ""

    async def run(self, *command: Any) -> Any:
        """Run a command and return its answer.

        Raises:
            ConnectionError: the server did not answer within a second, or rejected the command.
            ValueError: an argument cannot be encoded. Other commands are sent.
        """
        loop = asyncio.get_running_loop()
        if self.problem and loop.time() < self._away_until:
            raise ConnectionError(self.problem)
        answer = loop.create_future()
        self._waiting.append((command[0], self._held.pack_command(*command), answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    async def _send(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    async with asyncio.timeout(LIMIT_SECONDS):
                        answers = await self._exchange(batch)
                    self.problem = ""
                except Exception as error:  # noqa: BLE001 - any other one would leave its commands without an answer
                    reason = str(error) or "it did not answer in time"
                    self.problem = f"Redis cannot be reached: {reason}"
                    self._away_until = asyncio.get_running_loop().time() + PAUSE_SECONDS
                    batch += self._waiting  # they would wait for longer than the limit
                    self._waiting = []
                    answers = [ConnectionError(f"Redis: {reason}")] * len(batch)
                for (*_, waiting), answer in zip(batch, answers, strict=True):
                    _settle(waiting, answer)
        finally:
            self._sending = None

    async def _exchange(self, commands: Sequence[tuple[str, list[bytes], Any]]) -> list[Any]:
        """Send commands in one packet, and return their answers; an error for a command that was rejected."""
        try:
            await self._pool.ensure_connection(self._held)
            await self._held.send_packed_command([b"".join(part for _, packed, _ in commands for part in packed)])
            return [await self._answer(name) for name, *_ in commands]
        except BaseException:
            await self._held.disconnect(nowait=True)  # later answers would be taken for those of other commands
            raise

    async def _answer(self, name: str) -> Any:
        try:
            return await self._client.parse_response(self._held, name)
        except ResponseError as error:
            if isinstance(error, ReadOnlyError) or "READONLY" in str(error):  # of a command, or of a script
                raise  # another server is the primary now, which a new connection may reach
            return ConnectionError(f"Redis: {error}")

    async def close(self) -> None:
        await self._held.disconnect()
        await self._client.aclose()


def _settle(waiting: asyncio.Future[Any], answer: Any) -> None:
    if waiting.done():
        return
    if isinstance(answer, Exception):
        waiting.set_exception(answer)
    else:
        waiting.set_result(answer)


@asynccontextmanager
async def connected(config: RedisConfig) -> AsyncIterator[Connection]:
    """Return a connection. It reaches the server with its first command, and again after each failure."""
    connection = Connection(client_of(config, None))
    try:
        yield connection
    finally:
        await connection.close()


async def check_server(connection: Connection) -> None:
    """Check the version and the settings of the server.

    Raises:
        PluginError: the server cannot keep state.
    """
    facts: dict[str, Any] = {}
    try:
        for part in ("server", "memory", "persistence"):
            facts |= await connection.run("INFO", part)
    except ConnectionError as error:
        raise PluginError(f"{error}: start the server, or correct [plugins.redis] url, user and password") from error
    version = str(facts["redis_version"])
    if tuple(map(int, version.split(".")[:2])) < MIN_VERSION:
        raise PluginError(f"the server has version {version}: use Redis 6.2 or later, or Valkey")
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise PluginError(f'the server may drop sessions: set its maxmemory-policy to "noeviction", not "{policy}"')
    if not facts.get("aof_enabled"):
        logger.warning(
            "the server has no append-only file, so a restart of the server ends sessions: set appendonly yes"
        )
