"""A route: `GET /status` returns the name of the host and if it is about to stop."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.plugin import Plugin, ProtocolContext, Route, encode, hookimpl
from pegboard.types import Request, Response


async def status(request: Request, host: ProtocolContext) -> Response:
    """Return the answer as JSON."""
    return Response(body=encode({"name": host.identity.name, "stopping": host.stopping}))


class StatusPlugin(Plugin):
    """Enabled by `[plugins.status]`."""

    @hookimpl
    def register_routes(self) -> Iterable[Route]:
        """Return the route. It is open to every caller."""
        return [Route(method="GET", path="/status", handler=status, auth="public")]
