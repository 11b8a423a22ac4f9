"""`streamable_http_app()` and `http_app()`: a server as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pegboard import Host

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP


def host_of(
    server: FastMCP, path: str | None = None, transport: str = "http", http: Mapping[str, Any] | None = None
) -> Host:
    """Return a host that serves only one server.

    Args:
        server: the server.
        path: the path of the MCP endpoint; "/mcp" when None.
        transport: its transport.
        http: settings of `[plugins.http]`.
    """
    fields = ("name", "title", "description", "version", "instructions")
    identity = {field: value for field in fields if (value := getattr(server, field)) is not None}
    section = {"autoload": False, "transports": [transport], **identity}
    plugins = {"mcp": {"path": path} if path else {}, transport: dict(http or {})}
    return Host({"host": section, "plugins": plugins}, toolkits={server.name: server})


class HttpApplication:
    """The ASGI application of a server, for clients on this machine.

    Args:
        server: the server.
        path: the path of the MCP endpoint; "/mcp" when None.
    """

    def __init__(self, server: FastMCP, path: str | None) -> None:
        self._host = host_of(server, path)
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
