"""Observers and middleware see sessions, transports, and messages that wait until a client reads them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from pegboard import Context, Host
from pegboard.plugin import Gauge, Middleware, Observer, SessionInfo
from pegboard.types import Call, CallNext, Outcome
from tests.host.hosting import kit_of, plugin_of, until, work
from tests.support.asgi import open_session, send
from tests.support.http_mcp import JSON_FIELDS, call, message, modern, opening
from tests.support.memory_client import MemoryClient

INITIALIZE = opening(id=1)
LISTEN = modern(message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=1))
SPEAK, TRANSPORT = call("speak", id=2), call("transport", id=2)


class Watching(Observer, Middleware):
    gauge: Gauge

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        (self.gauge,) = (gauge for gauge in gauges if gauge.name == "messages_waiting")

    def session_started(self, session: SessionInfo) -> None:
        self.seen.append(("started", session.transport, session.client.revision))

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        self.seen.append(("ended", session.transport))

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        self.seen.append((call.method, call.transport))
        return await call_next(call)

    async def until_waiting(self, expected: int) -> None:
        await until(lambda: self.gauge.read() == {"": expected})


@pytest.fixture
def watching() -> Watching:
    return Watching()


@pytest.fixture
async def host(watching: Watching) -> AsyncIterator[Host]:
    async def speak(context: Context) -> None:
        await context.log.warning("Spoken.")

    async def transport(context: Context) -> str:
        return context.transport

    config = {"host": {"autoload": False}, "plugins": {"http": {}, "mcp": {"change_delay_ms": 0}}}
    plugins = {"watching": plugin_of(register_telemetry=[watching], middleware=[watching])}
    async with Host(config, plugins=plugins, toolkits={"x": kit_of(speak, transport)}) as running:
        yield running


async def test_a_session_of_a_message_stream_ends_with_the_connection(host: Host, watching: Watching) -> None:
    client = MemoryClient()
    await host.serve(client, client.messages(INITIALIZE, TRANSPORT))
    assert client.sent[-1]["result"]["content"] == [{"type": "text", "text": "stdio"}]
    assert ("tools/call", "stdio") in watching.seen
    assert (watching.seen[0], watching.seen[-1]) == (("started", "stdio", "2025-11-25"), ("ended", "stdio"))


async def test_a_session_over_http_ends_when_the_client_deletes_it(host: Host, watching: Watching) -> None:
    app = host.asgi()
    named = await open_session(app)
    answer = await send(app, "POST", "/mcp", [*JSON_FIELDS, named], json.dumps(TRANSPORT).encode()).answer()
    assert json.loads(answer.body)["result"]["content"] == [{"type": "text", "text": "http"}]
    assert watching.seen == [("started", "http", "2025-11-25"), ("tools/call", "http")]
    await send(app, "DELETE", "/mcp", [named]).answer()
    assert watching.seen[2:] == [("ended", "http")]


async def test_a_stateless_request_has_a_transport_and_no_session(host: Host, watching: Watching) -> None:
    client = MemoryClient()
    await host.serve(client, client.messages(modern(TRANSPORT)))
    assert watching.seen == [("tools/call", "stdio")]


@pytest.mark.parametrize(("sent", "waiting"), [([INITIALIZE, SPEAK], 3), ([LISTEN], 1)])
async def test_messages_of_a_stream_wait_for_its_client(
    host: Host, watching: Watching, sent: list[dict[str, Any]], waiting: int
) -> None:
    """A notification of the change waits, and in a session also the log message and the response of the call."""
    client, reached = MemoryClient(is_slow=True), []

    async def messages() -> AsyncIterator[bytes]:
        async for data in client.messages(*sent):
            yield data
        host.catalogue.add(work)
        for number in (waiting, 0):
            await watching.until_waiting(number)
            reached.append(number)
            client.reads.set()

    await host.serve(client, messages())
    assert reached == [waiting, 0]


async def test_a_response_that_waits_at_the_end_counts_as_dropped(host: Host, watching: Watching) -> None:
    client = MemoryClient(finishes=False, is_slow=True)

    async def messages() -> AsyncIterator[bytes]:
        async for data in client.messages(INITIALIZE, SPEAK):
            yield data
        await watching.until_waiting(2)

    assert await host.serve(client, messages()) == 1


async def test_notifications_of_a_session_wait_until_its_stream_is_resumed(host: Host, watching: Watching) -> None:
    app = host.asgi()
    named = await open_session(app)
    listening = send(app, "GET", "/mcp", [("Accept", "text/event-stream"), named])
    await listening.head()
    listening.tell("http.disconnect")
    await listening.ended()
    host.catalogue.add(work)
    await watching.until_waiting(1)
    await send(app, "DELETE", "/mcp", [named]).answer()
    await watching.until_waiting(0)
