"""Hosts in this process that are mounted in another host, in either era."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar, cast

from pegboard import Context, Host, MCPError, Toolkit
from pegboard.plugin import Lifespan, Plugin, PluginContext, hookimpl
from pegboard.types import LOCAL
from pegboard_client import Client, Endpoint, Stream
from pegboard_plugins.servers.upstreams.mounted import Mounted
from pegboard_plugins.servers.upstreams.questions import QuestionRules
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_errors import no_response
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS
from tests.pegboard_client.pairs import StreamPair


class OneServer:
    def __init__(self, config: ServerConfig) -> None:
        self.name = "far"
        self.config = config
        self.logger = logging.getLogger("tests.upstreams")
        self.log = ServerLog(self.name, self.logger)
        self.rules = QuestionRules(self.name, config)
        self.login = None
        self.mounted: Mounted | None = None
        self.client: Client

    async def use(
        self, context: Context[Any], send: Callable[[Client], Awaitable[Any]], *, repeatable: bool = False
    ) -> Any:
        try:
            return await send(self.client)
        except MCPError as error:
            if (typed := no_response(self.name, error, repeatable=repeatable)) is None:
                raise
            raise typed from error

    def meta(self, context: Context[Any]) -> dict[str, Any]:
        return {"tests/via": "here"}

    def receive(self, method: str, params: dict[str, Any]) -> None:
        if self.mounted is not None:
            self.mounted.receive(self.client, method, params)


@asynccontextmanager
async def far_client(host: Host, **options: Any) -> AsyncIterator[Client]:
    pair = StreamPair()
    serving = asyncio.ensure_future(host.serve(pair.server, pair.server.messages(), caller=LOCAL))
    try:
        async with Client(Stream(pair.client, "far"), timeout=20, **options) as client:
            yield client
    finally:
        await pair.client.close()
        await serving


def mounting_host(revision: str, *kits: Toolkit, url: str = "", **config: Any) -> Any:
    """Return a plugin that mounts a host with these toolkits, through a client of a revision.

    Args:
        revision: the revision of the connection.
        kits: the toolkits.
        url: the URL of a running host; "" to start one in this process.
        config: the settings of the server.
    """

    class Mounting(Plugin):
        instances: ClassVar[list[Mounting]] = []

        @hookimpl
        def lifespan(self, context: PluginContext) -> Lifespan:
            return self._mount(context)

        @asynccontextmanager
        async def _mount(self, context: PluginContext) -> AsyncIterator[Mounting]:
            self.instances.append(self)
            server = self.server = OneServer(ServerConfig(command="x", **{"prefix": False, **config}))
            far = Host({"host": {"autoload": False, "transports": []}}, toolkits={kit.name: kit for kit in kits})
            options: dict[str, Any] = {
                "revision": revision,
                "capabilities": server.rules.capabilities(),
                "on_notification": server.receive,
            }
            connection = Client(Endpoint(url), **options) if url else far_client(far, **options)
            async with far, connection as server.client:
                mounted = server.mounted = Mounted(cast(Any, server), context.bus)
                offered = server.client.server.capabilities
                for kind in (kind for kind in sorted(ALL_KINDS) if kind.replace("templates", "resources") in offered):
                    for raw in await getattr(server.client, kind)():
                        context.catalogue.add(mounted.definition(kind, raw))
                yield self
                await mounted.close()

    return Mounting
