"""Pages that are served at their own address only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pegboard.plugin import ProtocolContext
from pegboard.types import Request, Response
from pegboard_client import foreign_page

PageHandler: TypeAlias = Callable[[Request, ProtocolContext], Awaitable[Response]]


def own_page(origin: str, handler: PageHandler) -> PageHandler:
    """Return a handler that serves a page at its own address only, and refuses other requests with status 403.

    Args:
        origin: the origin of the page, such as "https://tools.example.com".
        handler: the handler of the page.
    """

    async def handle(request: Request, host: ProtocolContext) -> Response:
        headers = request.headers
        hosts = [request.forwarded_host] if request.forwarded_host else headers.getall("Host", ())
        return foreign_page(origin, hosts, headers.getall("Origin", ())) or await handler(request, host)

    return handle
