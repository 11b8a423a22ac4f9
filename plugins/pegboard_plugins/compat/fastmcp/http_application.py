"""A server as an ASGI application, such as `streamable_http_app()` and `http_app()`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pegboard import Host, Toolkit


def host_of(server: Toolkit, plugins: Mapping[str, Mapping[str, Any]], transport: str = "http") -> Host:
    """Return a host that serves only one server.

    Args:
        server: the server.
        plugins: settings of plugins.
        transport: its transport.
    """
    fields = ("name", "title", "description", "version", "instructions")
    identity = {field: value for field in fields if (value := getattr(server, field)) is not None}
    section = {"autoload": False, "transports": [transport], **identity}
    return Host({"host": section, "plugins": {transport: {}, **plugins}}, toolkits={server.name: server})


class HttpApplication:
    """The ASGI application of a server, for clients on this machine.

    Args:
        server: the server.
        plugins: settings of plugins.
    """

    def __init__(self, server: Toolkit, plugins: Mapping[str, Mapping[str, Any]]) -> None:
        self._host = host_of(server, plugins)
        self._serve = self._host.asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a lifespan or a request."""
        await self._serve(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Start and stop the server in the lifespan of the application in which it is mounted."""
        async with self._host:
            yield

    run = lifespan
    """The same: the official SDK writes `mcp.session_manager.run()`."""
