"""The HTTP server on aiohttp, and the ASGI application of `Host.asgi`. Both check every request to every route.

This module only describes the plugin. aiohttp is imported when the transport runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from pegboard.plugin import Gauge, Plugin, ProtocolContext, Route, Transport, hookimpl
from pegboard.types import Request, Response
from pegboard_plugins.transports.http.settings import HttpConfig

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.http_transport import HttpTransport


class HttpPlugin(Plugin):
    """The HTTP transport, and the routes for health and readiness checks."""

    Config = HttpConfig

    @cached_property
    def _transport(self) -> HttpTransport:
        from pegboard_plugins.transports.http.http_transport import HttpTransport

        return HttpTransport(self.config)

    @hookimpl
    def register_transports(self) -> Iterable[Transport]:
        return [self._transport]

    @hookimpl
    def register_telemetry(self) -> Iterable[Gauge]:
        """Return the number of requests and of event streams."""
        return self._transport.gauges()

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the routes for health and readiness checks."""
        return [
            Route(method="GET", path="/healthz", handler=_healthy, auth="public"),
            Route(method="GET", path="/livez", handler=_healthy, auth="public"),
            Route(method="GET", path="/readyz", handler=_ready, auth="public"),
        ]


async def _healthy(request: Request, host: ProtocolContext) -> Response:
    return Response(body=b"ok\n", content_type="text/plain")


async def _ready(request: Request, host: ProtocolContext) -> Response:
    if host.stopping:
        return Response(status=503, body=b"stopping\n", content_type="text/plain")
    if host.restarting:
        body = f"restarting: {', '.join(sorted(host.restarting))}\n".encode()
        return Response(status=503, body=body, content_type="text/plain")
    if host.problem:
        return Response(status=503, body=f"{host.problem}\n".encode(), content_type="text/plain")
    return Response(body=b"ready\n", content_type="text/plain")
