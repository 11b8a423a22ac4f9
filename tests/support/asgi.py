"""Requests to an ASGI application in the process of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from pegboard.plugin import AsgiCallable
from tests.support.http import Answer
from tests.support.http_mcp import JSON_FIELDS, Exchanged, opening
from tests.support.peer import WAIT
from tests.support.recorder import Conversation

Event = dict[str, Any]


class Exchange:
    """One connection: the test plays the ASGI server.

    Args:
        app: the application.
        scope: members of the scope.
        events: the first events of the client.
    """

    def __init__(self, app: AsgiCallable, scope: Event, *events: Event) -> None:
        self._incoming: asyncio.Queue[Any] = asyncio.Queue()
        self._sent: asyncio.Queue[Any] = asyncio.Queue()
        for event in events:
            self.tell(**event)
        self.running = asyncio.ensure_future(app(scope, self._incoming.get, self._sent.put))

    def tell(self, type: str, **members: Any) -> None:
        """Add an event of the client."""
        self._incoming.put_nowait({"type": type, **members})

    async def event(self) -> Event:
        """Return the next event that the application sends."""
        getting = asyncio.ensure_future(self._sent.get())
        await asyncio.wait((getting, self.running), timeout=WAIT, return_when=asyncio.FIRST_COMPLETED)
        if not getting.done():
            getting.cancel()
            await self.running  # raises the error of the application
        event: Event = getting.result()
        return event

    async def head(self) -> Answer:
        """Return the head of the response."""
        event = await self.event()
        assert event["type"] == "http.response.start"
        fields = tuple((name.decode(), value.decode()) for name, value in event["headers"])
        return Answer(event["status"], fields, b"")

    async def chunk(self) -> bytes:
        """Return the next part of the body; b"" at its end."""
        body: bytes = (await self.event())["body"]
        return body

    async def answer(self) -> Answer:
        """Return the whole response."""
        head, more, body = await self.head(), True, b""
        while more:
            event = await self.event()
            body, more = body + event["body"], event.get("more_body", False)
        await self.ended()
        return head._replace(body=body)

    async def ended(self) -> None:
        """Wait until the application has returned."""
        async with asyncio.timeout(WAIT):
            await self.running


def send(
    app: AsgiCallable,
    method: str,
    path: str,
    fields: Iterable[tuple[str, str]] = (),
    body: bytes | None = b"",
    **scope: Any,
) -> Exchange:
    """Begin a request from this machine; a body that is None has not arrived yet."""
    headers = [("host", "localhost"), *fields] if "host" not in dict(fields) else fields
    own: Event = {"type": "http", "method": method, "path": path, "client": ("127.0.0.1", 5000), "query_string": b""}
    own["headers"] = [(name.lower().encode(), value.encode()) for name, value in headers]
    events = [] if body is None else [{"type": "http.request", "body": body}]
    return Exchange(app, {**own, **scope}, *events)


async def open_session(app: AsgiCallable) -> tuple[str, str]:
    """Open a session, and return the header field that names it."""
    body, conversation = json.dumps(opening()).encode(), Conversation()
    conversation.sent(body)
    answer = await send(app, "POST", "/mcp", JSON_FIELDS, body).answer()
    assert Exchanged(answer, conversation).status == 200
    return "Mcp-Session-Id", dict(answer.fields)["mcp-session-id"]


@asynccontextmanager
async def lifespan(app: AsgiCallable) -> AsyncIterator[Event]:
    """Run the lifespan of an application, as an ASGI server does. Yield its response to the start."""
    exchange = Exchange(app, {"type": "lifespan"}, {"type": "lifespan.startup"})
    yield await exchange.event()
    exchange.tell("lifespan.shutdown")
    await exchange.ended()
