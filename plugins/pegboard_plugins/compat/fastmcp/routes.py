"""Custom HTTP routes: handlers that take a Starlette request and return a Starlette response.

Starlette is imported when the first request arrives. Servers with such routes import it themselves.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pegboard.plugin import ProtocolContext, Route
from pegboard.types import Request, Response

_BYTES = "application/octet-stream"

Handler = Callable[[Any], Awaitable[Any]]


def custom_routes(path: str, methods: Sequence[str], handler: Handler) -> list[Route]:
    """Return the routes of a handler. The routes are public, as in FastMCP."""

    async def respond(request: Request, context: ProtocolContext) -> Response:
        return await _respond(handler, request)

    return [
        Route(method=method.upper(), path=path, handler=respond, auth="public", anonymous=True) for method in methods
    ]


async def _respond(handler: Handler, request: Request) -> Response:
    requests: Any = importlib.import_module("starlette.requests")
    structures: Any = importlib.import_module("starlette.datastructures")
    scope = _scope(request)

    messages = iter([{"type": "http.request", "body": request.body, "more_body": False}])

    async def receive() -> MutableMapping[str, Any]:
        for message in messages:
            return message
        await asyncio.Event().wait()  # the host cancels the handler of a client that has gone
        raise AssertionError

    status, fields, body = 500, [], bytearray()

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status, fields
        if message["type"] == "http.response.start":
            status = message["status"]
            fields = message["headers"]
        else:
            body.extend(message.get("body", b""))

    response = await handler(requests.Request(scope, receive))
    await response(scope, receive, send)
    content_type = next((value.decode() for name, value in fields if name == b"content-type"), _BYTES)
    others = [(name, value) for name, value in fields if name not in (b"content-length", b"content-type")]
    return Response(status, bytes(body), content_type, structures.Headers(raw=others))


def _scope(request: Request) -> MutableMapping[str, Any]:
    """Return the ASGI scope of a request."""
    fields: Any = request.headers
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": urlencode(request.query).encode(),
        "headers": headers,
        "client": (request.peer, 0) if request.peer else None,
        "server": None,
    }
