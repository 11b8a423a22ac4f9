"""The gauge of the messages that wait until a client reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from pegboard import Context, Host
from pegboard.plugin import Gauge, Observer, Plugin, hookimpl
from tests.host.hosting import kit_of, until, work
from tests.support.asgi import open_session, send
from tests.support.http_mcp import message, modern, opening
from tests.support.memory_client import MemoryClient

INITIALIZE = opening(id=1)
LISTEN = modern(message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=1))
CALL = message("tools/call", {"name": "x_speak", "arguments": {}}, id=2)


class Watching(Plugin, Observer):
    gauge: Gauge

    @hookimpl
    def register_telemetry(self) -> list[Observer]:
        return [self]

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        (Watching.gauge,) = (gauge for gauge in gauges if gauge.name == "messages_waiting")


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async def speak(context: Context) -> None:
        await context.log.warning("Spoken.")

    config = {"host": {"autoload": False}, "plugins": {"http": {}, "mcp": {"change_delay_ms": 0}, "watching": {}}}
    kit = kit_of(speak, name="x_speak")
    async with Host(config, plugins={"watching": Watching}, toolkits={"x": kit}) as running:
        yield running


async def until_waiting(expected: int) -> None:
    await until(lambda: Watching.gauge.read() == {"": expected})


@pytest.mark.parametrize(("sent", "waiting"), [([INITIALIZE, CALL], 3), ([LISTEN], 1)])
async def test_messages_of_a_stream_wait_for_its_client(host: Host, sent: list[dict[str, Any]], waiting: int) -> None:
    """A notification of the change waits, and in a session also the log message and the response of the call."""
    client, reached = MemoryClient(is_slow=True), []

    async def messages() -> AsyncIterator[bytes]:
        async for data in client.messages(*sent):
            yield data
        host.catalogue.add(work)
        for number in (waiting, 0):
            await until_waiting(number)
            reached.append(number)
            client.reads.set()

    await host.serve(client, messages())
    assert reached == [waiting, 0]


async def test_a_response_that_waits_at_the_end_counts_as_dropped(host: Host) -> None:
    client = MemoryClient(finishes=False, is_slow=True)

    async def messages() -> AsyncIterator[bytes]:
        async for data in client.messages(INITIALIZE, CALL):
            yield data
        await until_waiting(2)

    assert await host.serve(client, messages()) == 1


async def test_notifications_of_a_session_wait_until_its_stream_is_resumed(host: Host) -> None:
    app = host.asgi()
    named = await open_session(app)
    listening = send(app, "GET", "/mcp", [("Accept", "text/event-stream"), named])
    await listening.head()
    listening.tell("http.disconnect")
    await listening.ended()
    host.catalogue.add(work)
    await until_waiting(1)
    await send(app, "DELETE", "/mcp", [named]).answer()
    await until_waiting(0)
