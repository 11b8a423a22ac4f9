"""The HTTP transport. A running transport imports the server and aiohttp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.plugin import TransportContext

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
