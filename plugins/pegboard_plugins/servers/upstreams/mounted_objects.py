"""The servers that a program mounts in its own process, each as an ASGI application.

No library is imported: the kind of an object is recognized by its methods and its module.
"""

from __future__ import annotations

from typing import Any

from pegboard.plugin import AsgiCallable

DEFAULT_PATH = "/mcp"
"""The path of the endpoint in an application."""


_METHODS = ("asgi", "http_app", "streamable_http_app", "create_initialization_options")
"""A method of each kind of server: pegboard, FastMCP, the official SDK, and the low-level server of its first line."""


def check_object(server: Any) -> None:
    """Check that an object is a server.

    Raises:
        ValueError: the object is not a server.
    """
    if isinstance(server, type) or not (callable(server) or any(hasattr(server, name) for name in _METHODS)):
        raise ValueError(
            f"{server!r:.80} is not a server: use a server of FastMCP or of the official SDK, a pegboard.Host, or an "
            "ASGI application"
        )


def application_of(server: Any) -> AsgiCallable:
    """Return the ASGI application that serves MCP for an object that `check_object` has checked."""
    kind = next((name for name in _METHODS if hasattr(server, name)), None)
    application: AsgiCallable
    match kind:
        case "asgi" | "streamable_http_app":
            application = getattr(server, kind)()
        case "http_app":
            application = server.http_app(path=DEFAULT_PATH)
        case "create_initialization_options":
            application = _SessionManager(server)
        case _:
            application = server
    return application


def path_of(server: Any) -> str:
    """Return the path of the endpoint in the application of a server."""
    path: str = getattr(getattr(server, "settings", None), "streamable_http_path", DEFAULT_PATH)
    return path


class _SessionManager:
    """The low-level server of the official SDK's first line, which has no ASGI application of its own."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._manager: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._manager.handle_request(scope, receive, send)
            return
        await receive()
        from importlib import import_module

        package = type(self._server).__module__.partition(".")[0]
        module = import_module(f"{package}.server.streamable_http_manager")
        self._manager = module.StreamableHTTPSessionManager(app=self._server)
        async with self._manager.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
