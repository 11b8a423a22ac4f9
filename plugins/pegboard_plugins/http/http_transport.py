"""The HTTP transport. A running transport imports the server and aiohttp; the ASGI application imports neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.plugin import AsgiContext, TransportContext

if TYPE_CHECKING:
    from pegboard_plugins.http import HttpConfig


class HttpTransport:
    """The HTTP server."""

    name = "http"

    def __init__(self, config: HttpConfig) -> None:
        self._config = config

    async def run(self, host: TransportContext) -> None:
        """Serve until the host stops.

        Raises:
            TransportError: the port, the socket or the certificate cannot be used.
        """
        from pegboard_plugins.http.server import serve_http

        await serve_http(self._config, host)

    def check(self, host: TransportContext) -> None:
        """Check what `run` would open, without listening.

        Raises:
            TransportError: the address, the socket or the certificate cannot be used.
            ConfigError: other machines can reach the address, but a route has no authenticator.
        """
        from pegboard_plugins.http.server import check_http

        check_http(self._config, host)

    def asgi(self, host: TransportContext) -> AsgiContext:
        """Return a context with the ASGI application that serves the same routes.

        Raises:
            ConfigError: the server has names beyond loopback, but a route has no authenticator.
            PluginError: a configured store cannot be opened.
        """
        from pegboard_plugins.http.asgi_server import serve_asgi

        return serve_asgi(self._config, host)
