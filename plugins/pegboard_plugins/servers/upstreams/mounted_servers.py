"""All mounted servers of one host, from its start to its end."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pegboard.plugin import (
    Finding,
    Gauge,
    LoginStore,
    Middleware,
    PluginContext,
    PluginError,
    ToolDefinition,
    TransportError,
)
from pegboard.types import ItemKind
from pegboard_plugins.servers.upstreams.caller_logins import login_tool
from pegboard_plugins.servers.upstreams.host_login import CALLERS_ADVICE, admits_others
from pegboard_plugins.servers.upstreams.link import NotConnectedError
from pegboard_plugins.servers.upstreams.settings import UpstreamsConfig
from pegboard_plugins.servers.upstreams.upstream_requests import UpstreamRequests, UserItems
from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer

NOTICE_SECONDS = 1.0
"""A command names the servers that it awaits after this time."""
_WORDS = re.compile("[a-z0-9]+")
_GLOB = re.compile(r"[*?\[].*")
START_PAUSE_SECONDS = 0.05
"""The time before the start of each connection, unless a request for a list comes earlier.

Many programs that start at once would take the processors from a host that is not ready yet.
"""


class MountedServers:
    """The mounted servers of one host.

    Args:
        config: the settings.
        context: the context of the plugin.

    Attributes:
        servers: the servers.
    """

    def __init__(self, config: UpstreamsConfig, context: PluginContext) -> None:
        self._config = config
        self._context = context
        self._host_id = secrets.token_hex(8)
        self._serving = asyncio.Event()
        self.servers: Sequence[UpstreamServer] = [
            UpstreamServer(name, section, context, self._host_id, config, self._serving.wait, self._owner_of)
            for name, section in sorted(config.servers.items())
        ]

    def middleware(self) -> list[Middleware]:
        """Return the middleware that the servers need."""
        requests = UpstreamRequests(self._host_id, self.servers, self._config.first_list_seconds, self._serve)
        for_users = any(server.config.identity == "user" for server in self.servers)
        return [requests, UserItems(self._context.name, self.servers)] if for_users else [requests]

    def login_tools(self) -> list[ToolDefinition]:
        """Return a tool for each server at which callers log in. Only callers who must log in see it."""
        return [login_tool(server) for server in self.servers if server.config.callers_log_in]

    @property
    def gauge(self) -> Gauge:
        """The gauge of open connections. A server with a connection for each user counts as connected."""
        return Gauge(
            "upstreams_connected",
            "1 if the mounted server is connected, else 0.",
            lambda: {server.name: server.is_connected for server in self.servers},
            "server",
        )

    async def _start(self) -> None:
        for server in self.servers:
            if server.config.start == "eager":
                await asyncio.sleep(START_PAUSE_SECONDS)
                server.start()
        await self._context.serving()
        self._warn_of_state()

    def _warn_of_state(self) -> None:
        """Warn of servers whose state the other processes do not share."""
        names = [server.name for server in self.servers if server.config.may_keep_state]
        if names and (self._context.bus.number or self._context.worker[1] > 1):
            self._context.logger.warning(
                "each process has its own connections to %s: state that a server keeps for a user or a connection is "
                "not shared; serve it in one process, or set stateless = true in its section if it keeps none",
                ", ".join(names),
            )

    def _owner_of(self, kind: ItemKind, shown: str) -> str | None:
        return next((server.name for server in self.servers if server.items.has(kind, shown)), None)

    def _serve(self) -> None:
        if not self._serving.is_set():  # later changes of the catalogue come from threads
            self._serving.set()

    async def missing_items(self, name: str | None, progress: Callable[[str], None] | None) -> dict[str, Finding]:
        """Return the servers that may have a tool, and whose items are missing. See `Plugin.missing_items`."""
        servers = self._having(name)
        seconds = self._config.first_list_seconds if progress is None else self._config.connect_seconds
        confirm = progress is not None
        waiting = {server.name: asyncio.ensure_future(server.missing(seconds, confirm=confirm)) for server in servers}
        await wait_for_all(waiting, progress or (lambda _: None))
        lost = [server.lost if confirm else None for server in servers]  # a server may end while others are awaited
        reasons = [waiting[server.name].result() or later for server, later in zip(servers, lost, strict=True)]
        for server, reason in zip(servers, reasons, strict=True):
            if reason is not None and server.config.identity == "host":
                await server.memory.drop()  # no connection confirms its definitions
        return {
            server.name: Finding(
                "warning" if server.config.optional or server.config.identity == "user" else "error",
                f"the server {server.name!r} is not available: {reason}",
            )
            for server, reason in zip(servers, reasons, strict=True)
            if reason is not None
        }

    def _having(self, name: str | None) -> Sequence[UpstreamServer]:
        """Return the servers that may have a tool, in any spelling. Return all for None."""
        if name is None:
            return self.servers
        spellings = (name, "_".join(_WORDS.findall(name.lower())))
        return [
            server
            for server in self.servers
            if server.config.prefix is False or any(server.config.may_have(server.name, word) for word in spellings)
        ]

    def awaits(self, pattern: str) -> bool:
        """Return True if a server that has not listed its items may have a tool. See `Plugin.awaits`."""
        stem = _GLOB.sub("", pattern).lower()
        having = self._having(stem)
        return any(
            server in having or (stem != pattern.lower() and server.config.may_match(server.name, stem))
            for server in self.servers
            if not server.selection.is_known
        )

    @asynccontextmanager
    async def logins(self) -> AsyncIterator[None]:
        """Open the store of logins for the servers, if a plugin offers one."""
        async with AsyncExitStack() as opened:
            offered = self._context.find_store(LoginStore)
            store = None if offered is None else await opened.enter_async_context(offered.open())
            for server in self.servers:
                server.callers.store = store
                if server.login is not None:
                    server.login.open(store)
            yield

    async def _begin_logins(self) -> None:
        for server in self.servers:
            login = server.login
            if login is not None and login.is_unshared and (server.config.client_id or await login.describe()):
                raise PluginError(
                    f"the server {server.name!r} would use the account of the operator for other callers: "
                    f"{login.advice()}"
                )
            if login is not None:
                await login.begin()
            if server.config.shows_login and not server.callers.are_possible and admits_others(self._context):
                raise PluginError(f"callers must log in at the server {server.name!r}: {CALLERS_ADVICE}")

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Connect in the background, and wait for required servers.

        Raises:
            TransportError: a required server is not available.
            PluginError: a server would use the login of the operator for other callers.
        """
        async with self.logins():
            await self._begin_logins()
            async with self._connections():
                yield

    @asynccontextmanager
    async def _connections(self) -> AsyncIterator[None]:
        for server in self.servers:
            server.recall()
        starting = asyncio.get_running_loop().create_task(self._start())
        try:
            await asyncio.gather(*(_require(server) for server in self.servers if server.config.start == "required"))
            yield
        finally:
            starting.cancel()
            await asyncio.gather(*(server.close() for server in self.servers))


async def _require(server: UpstreamServer) -> None:
    try:
        await server.connect()
    except NotConnectedError as error:
        raise TransportError(
            f"the required server {server.name!r} is not available: {error.reason}; "
            f'repair it, or set start = "eager" in [plugins.upstreams.servers.{server.name}]'
        ) from None


async def wait_for_all(tasks: Mapping[str, asyncio.Future[Any]], progress: Callable[[str], None]) -> None:
    """Wait until all tasks have ended. If this takes longer than a moment, name those that are awaited.

    Args:
        tasks: the tasks, by the names of their servers.
        progress: prints the names.
    """
    if tasks:
        await asyncio.wait(tasks.values(), timeout=NOTICE_SECONDS)
    while late := [name for name, task in tasks.items() if not task.done()]:
        progress(f"waiting for {', '.join(late)}")
        await asyncio.wait([tasks[name] for name in late], return_when=asyncio.FIRST_COMPLETED)
