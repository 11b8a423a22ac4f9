"""`connect`: an in-memory host and a connected client for a test."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn

from pegboard.host import Host
from pegboard.types.callers import Authorization, Caller
from pegboard_client.handshake import STATELESS
from pegboard_testing.answers import ALL_CAPABILITIES, Answering, answers_from
from pegboard_testing.client import TestClient
from pegboard_testing.in_memory_host import ConnectOptions, Kit, Observed, Overrides, check_overrides, in_memory_host
from pegboard_testing.protocol_client import ProtocolClient
from pegboard_testing.sync_client import PlainClient, new_runner


class connect:  # noqa: N801 - it is used like a function
    """A host with the toolkits or plugins under test, and a client that is connected to it.

    `async with connect(kit) as client` returns a `TestClient`. `with connect(kit) as client`, without a running event
    loop, returns a `PlainClient`, whose methods are the same without `await`.

    The host runs the default built-in plugins, except those that read secrets. Other installed plugins, files and
    environment variables do not affect it. An error during its start, such as an invalid definition, is raised.

    Args:
        kits: a `Toolkit`, a `Plugin` class, a module with hooks, or the name of an installed one; several may be given.
        config: the settings of the first kit, its `[toolkits.NAME]` or `[plugins.NAME]`.
        secrets: the secrets. They take precedence over other stores.
        tokens: tokens of other services, by the provider's id such as "github", or by the `id` in a tool's requirement:
            a string or a `pegboard.Authorization`. Every caller gets them, before other sources are called.
        plugins: further plugins by name: a class or a module, or the settings of an installed one, which enables it.
        hostconfig: further sections in the form of `hostconfig.toml`, for example `{"host": {...}}`.
        user: the authenticated user, or None for none.
        caller: the caller with all fields; by default the user, on a channel of this machine's user.
        revision: the revision of MCP that the client speaks; one before 2026-07-28 opens a session.
        capabilities: the capabilities that the client declares; by default those for all questions.
        answers: the answers of the client, as for `TestClient.answer`.
        repeats: the effects that a tool may repeat with each answer, as globs of their kinds such as "socket.connect".
        overrides: functions that replace the functions of dependencies: `{make_client: make_fake}`.
        strict: raise if a plugin cannot be loaded or a definition is invalid; otherwise they are in `client.problems`.
        timeout: after how many seconds without a response a request fails, None for no limit.

    Raises:
        ConfigError, PluginError: the host cannot start; the message lists all problems.
        LookupError: a name is not installed.
        TypeError: a kit has an unsupported type.
        ValueError: the host does not speak the revision, or an override replaces no dependency.
    """

    def __init__(
        self,
        *kits: Kit,
        config: Mapping[str, Any] | None = None,
        secrets: Mapping[str, str] | None = None,
        tokens: Mapping[str, str | Authorization] | None = None,
        plugins: Mapping[str, Any] | None = None,
        hostconfig: Mapping[str, Any] | None = None,
        user: str | None = None,
        caller: Caller | None = None,
        revision: str = STATELESS,
        capabilities: Mapping[str, Any] | None = None,
        answers: Answering | Sequence[Any] | None = None,
        repeats: Collection[str] = (),
        overrides: Overrides | None = None,
        strict: bool = True,
        timeout: float | None = 30.0,
    ) -> None:
        self._options = ConnectOptions(kits, config, secrets, tokens, plugins, hostconfig, strict, overrides)
        self._caller = Caller(user, trusted=True) if caller is None else caller
        self._revision = revision
        self._capabilities = ALL_CAPABILITIES if capabilities is None else capabilities
        self._answers = answers
        self._repeats = repeats
        self._timeout = timeout
        self._protocol_client: ProtocolClient | None = None
        self._living: asyncio.Task[None] | None = None
        self._plain: Any = None

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"connect(...) has no {name!r}: write `with connect(...) as client` and use the client")

    async def __aenter__(self) -> TestClient:
        observed = Observed()
        host = in_memory_host(self._options, observed)
        answers = answers_from(self._answers)
        self._protocol_client = ProtocolClient(self._revision, self._capabilities, answers, self._timeout)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # the host starts and stops in one task, as in a process of its own
        self._living = asyncio.create_task(_live(host, self._protocol_client, self._caller, ready))
        try:
            await asyncio.wait((self._living, ready), return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                await self._living
            check_overrides(host, self._options.overrides)
            await self._protocol_client.begin()
        except BaseException:
            await self._give_up(ready)
            raise
        return TestClient(host, self._protocol_client, observed, self._repeats)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _give_up(self, ready: asyncio.Future[None]) -> None:
        """Stop a host that the test cannot use."""
        assert self._living is not None
        if ready.done():
            await self._end()
        elif not self._living.done():
            self._living.cancel()
            await asyncio.wait((self._living,))

    async def _end(self) -> None:
        assert self._protocol_client is not None
        assert self._living is not None
        await self._protocol_client.end()
        await self._living

    def __enter__(self) -> PlainClient:
        runner = new_runner()
        try:
            client = runner.run(self.__aenter__())
        except BaseException:
            runner.close()
            raise
        self._plain = runner
        return PlainClient(client, runner)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._plain.run(self._end())
        finally:
            self._plain.close()


async def _live(host: Host, protocol_client: ProtocolClient, caller: Caller, ready: asyncio.Future[None]) -> None:
    """Start a host, serve its only client, and stop the host."""
    async with host:
        ready.set_result(None)
        end = protocol_client.stream.host_connection
        try:
            await host.serve(end, end.messages(), caller=caller)
        finally:
            protocol_client.stream.host_ended()
