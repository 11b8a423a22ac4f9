"""The HTTP transport. A running transport imports the server and aiohttp; the ASGI application imports neither."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pegboard.plugin import AsgiCallable, Gauge, Transport, TransportContext
from pegboard_plugins.transports.http.workers import usable_cores

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.exchange import Exchange
    from pegboard_plugins.transports.http.settings import HttpConfig


class HttpTransport(Transport):
    """The HTTP server.

    Attributes:
        drain_seconds: how long the port stays open after SIGTERM.
        workers: the number of processes that `pegboard serve` starts.
    """

    name = "http"

    def __init__(self, config: HttpConfig) -> None:
        self._config = config
        self.drain_seconds = config.drain_seconds
        self.workers = config.workers or usable_cores()
        self._servers: WeakSet[Exchange[Any]] = WeakSet()

    def gauges(self) -> list[Gauge]:
        """Return the gauges of all running servers."""

        def total(place: int) -> dict[str, float]:
            return {"": sum(server.load[place] for server in tuple(self._servers))}

        return [
            Gauge("http_requests", "HTTP requests in flight.", lambda: total(0)),
            Gauge("http_streams", "Open event streams.", lambda: total(1)),
        ]

    async def run(self, host: TransportContext) -> None:
        """Serve until the host stops.

        Raises:
            TransportError: the port, the socket or the certificate cannot be used.
        """
        from pegboard_plugins.transports.http.server import serve_http

        await serve_http(self._config, host, self._servers.add)

    def check(self, host: TransportContext) -> None:
        """Check what `run` would open, without listening.

        Raises:
            TransportError: the address, the socket or the certificate cannot be used.
            ConfigError: other machines can reach the address, but a route has no authenticator.
        """
        from pegboard_plugins.transports.http.server import check_http

        check_http(self._config, host)

    def asgi(self, host: TransportContext) -> AbstractAsyncContextManager[AsgiCallable]:
        """Return a context with the ASGI application that serves the same routes.

        Raises:
            ConfigError: the server has names beyond loopback, but a route has no authenticator.
            PluginError: a configured store cannot be opened.
        """
        from pegboard_plugins.transports.http.asgi_server import serve_asgi

        return serve_asgi(self._config, host, self._servers.add)
