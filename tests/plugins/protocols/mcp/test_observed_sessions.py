"""The sessions and transports that observers and middleware see."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Context, Host
from pegboard.plugin import Middleware, Observer, Plugin, SessionInfo, hookimpl
from pegboard.types import Call, CallNext, Outcome
from tests.host.hosting import kit_of
from tests.support.asgi import open_session, send
from tests.support.http_mcp import JSON_FIELDS, message, modern, opening
from tests.support.memory_client import MemoryClient

CALL = message("tools/call", {"name": "x_transport", "arguments": {}}, id=2)
SEEN: list[tuple[str, ...]] = []


class Watching(Plugin, Observer, Middleware):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        SEEN.clear()

    @hookimpl
    def register_telemetry(self) -> list[Observer]:
        return [self]

    @hookimpl
    def register_middleware(self) -> list[Middleware]:
        return [self]

    def session_started(self, session: SessionInfo) -> None:
        SEEN.append(("started", session.transport, session.client.revision))

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        SEEN.append(("ended", session.transport))

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        SEEN.append((call.method, call.transport))
        return await call_next(call)


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async def transport(context: Context) -> str:
        return context.transport

    toolkits = {"x": kit_of(transport, name="x_transport")}
    config = {"host": {"autoload": False}, "plugins": {"http": {}, "mcp": {}, "watching": {}}}
    async with Host(config, plugins={"watching": Watching}, toolkits=toolkits) as running:
        yield running


async def test_a_session_of_a_message_stream_ends_with_the_connection(host: Host) -> None:
    client = MemoryClient()
    await host.serve(client, client.messages(opening(id=1), CALL))
    assert client.sent[-1]["result"]["content"] == [{"type": "text", "text": "stdio"}]
    assert ("tools/call", "stdio") in SEEN
    assert (SEEN[0], SEEN[-1]) == (("started", "stdio", "2025-11-25"), ("ended", "stdio"))


async def test_a_session_over_http_ends_when_the_client_deletes_it(host: Host) -> None:
    app = host.asgi()
    named = await open_session(app)
    answer = await send(app, "POST", "/mcp", [*JSON_FIELDS, named], json.dumps(CALL).encode()).answer()
    assert json.loads(answer.body)["result"]["content"] == [{"type": "text", "text": "http"}]
    assert SEEN == [("started", "http", "2025-11-25"), ("tools/call", "http")]
    await send(app, "DELETE", "/mcp", [named]).answer()
    assert SEEN[2:] == [("ended", "http")]


async def test_a_stateless_request_has_a_transport_and_no_session(host: Host) -> None:
    client = MemoryClient()
    await host.serve(client, client.messages(modern(CALL)))
    assert SEEN == [("tools/call", "stdio")]
