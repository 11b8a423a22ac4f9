"""`connect`: a host in memory and a client of it, for as long as a test needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from pegboard.host import Host
from pegboard.testing.answers import ALL_CAPABILITIES, Answering, answers_from
from pegboard.testing.client import TestClient
from pegboard.testing.in_memory_host import ConnectOptions, Kit, Observed, in_memory_host
from pegboard.testing.protocol_client import STATELESS_REVISION, ProtocolClient
from pegboard.types.callers import Authorization, Caller

if TYPE_CHECKING:
    from pegboard.testing.sync_client import PlainClient


class connect:  # noqa: N801 - it is used like a function
    """A host with what is under test, and a client connected to it.

    `async with connect(kit) as client` gives a `TestClient`; `with connect(kit) as client`, where no event loop runs, a
    `PlainClient`, whose methods are the same without `await`.

    The host has the built-in plugins that are on by default, but for those that bring secrets; nothing else that is
    installed, no file and no variable of the environment reaches it. What goes wrong while it starts is raised, a wrong
    definition for one.

    Args:
        kits: a `Toolkit`, a `Plugin` class, a module with hooks, or the name of an installed one; several where they
            belong together.
        config: the settings of the first, its `[toolkits.NAME]` or `[plugins.NAME]`.
        secrets: what the secrets are; asked before all other stores.
        tokens: tokens of other services, by the provider's id such as "github", or by the `id` of what a tool requires:
            text, or a `pegboard.Authorization`. Whoever calls is given them, before all other sources are asked.
        plugins: other plugins by name: a class or a module, or the settings of an installed one, which turns it on.
        hostconfig: further sections in the shape of `hostconfig.toml`, `{"host": {...}}` for one.
        user: who the client is, None for nobody in particular.
        caller: the same in full; by default the user, on a channel that this machine's user alone has.
        revision: the revision of MCP that the client speaks; one before 2026-07-28 opens a session.
        capabilities: what the client declares that it can do; all that can be asked by default.
        answers: what it answers, as for `TestClient.answer`.
        repeats: which effects of a tool that asks may be repeated with each answer, as globs of their kinds such as
            "socket.connect"; by default none.
        strict: a plugin that cannot be loaded and a wrong definition keep the host from starting; else they are in
            `client.problems`.
        timeout: after how many seconds without an answer a request fails, None for never.

    Raises:
        ConfigError, PluginError: the host cannot start; the message says all that is wrong.
        LookupError: nothing is installed by a name given.
        TypeError: what is given is nothing that a host runs.
        ValueError: the host does not speak the revision.
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
        revision: str = STATELESS_REVISION,
        capabilities: Mapping[str, Any] | None = None,
        answers: Answering | Sequence[Any] | None = None,
        repeats: Collection[str] = (),
        strict: bool = True,
        timeout: float | None = 30.0,
    ) -> None:
        self._options = ConnectOptions(kits, config, secrets, tokens, plugins, hostconfig, strict)
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
        raise AttributeError(f"connect(...) has no {name!r}, its client has: write `with connect(...) as client`")

    async def __aenter__(self) -> TestClient:
        observed = Observed()
        host = in_memory_host(self._options, observed)
        answers = answers_from(self._answers)
        self._protocol_client = ProtocolClient(self._caller, self._revision, self._capabilities, answers, self._timeout)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # the host lives in one task: what a lifespan enters it leaves there too, whatever a test's fixtures do
        self._living = asyncio.create_task(_live(host, self._protocol_client, self._caller, ready))
        try:
            await asyncio.wait((self._living, ready), return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                await self._living
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
        """End a host that nobody will use, whether it has started or not."""
        assert self._living is not None
        if ready.done():
            await self._end()
        elif not self._living.done():
            self._living.cancel()
            await asyncio.wait((self._living,))

    async def _end(self) -> None:
        assert self._protocol_client is not None
        assert self._living is not None
        self._protocol_client.connection.end()
        await self._living

    def __enter__(self) -> PlainClient:
        from pegboard.testing.sync_client import PlainClient, new_runner

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
    """The life of a host: it starts, serves its one client, and stops."""
    async with host:
        ready.set_result(None)
        end = protocol_client.connection.host_connection
        try:
            await host.serve(end, end.messages(), caller=caller)
        finally:
            protocol_client.connection.host_ended()
