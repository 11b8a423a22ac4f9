"""The examples in docs/contracts.md keep their contracts: docs/examples/tests has most of these tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from docs.examples.plugins.event_store import RecentEvents, RecentEventsPlugin
from docs.examples.plugins.protocol import WordsPlugin
from pegboard import Host, Toolkit
from pegboard.plugin import Connection, EventStore
from pegboard_testing import EventStoreContract, connect
from tests.docs.pages import Page
from tools.install import ROOT


class TestEventStore(EventStoreContract):
    def make(self) -> EventStore:
        return RecentEvents()


async def test_the_host_accepts_the_event_store() -> None:
    async with connect(RecentEventsPlugin) as client:
        assert client.problems == ()


def test_each_example_has_tests() -> None:
    tested = {path.name.removesuffix("_test.py") for path in ROOT.glob("docs/examples/tests/*_test.py")}
    examples = set(re.findall(r"examples/plugins/(\w+)\.py", Page("docs/contracts.md")))
    assert examples - tested == {"event_store", "protocol"}  # this file tests them


async def test_the_protocol_calls_tools() -> None:
    kit = Toolkit("say", prefix=False)

    @kit.tool
    def hello() -> str:
        """Greet."""
        return "Hello."

    class Client(Connection):
        peer = "test"

        def __init__(self) -> None:
            self.received: list[bytes] = []

        def send(self, message: bytes) -> None:
            self.received.append(message)

        async def drain(self) -> None: ...

        async def close(self) -> None: ...

    async def messages() -> AsyncIterator[bytes]:
        yield b"hello"
        yield b"goodbye"

    client = Client()
    disabled = {"host": {"autoload": False, "disabled_plugins": ["mcp"]}}
    async with Host(disabled, toolkits={"say": kit}, plugins={"words": WordsPlugin}) as host:
        await host.serve(client, messages())
    assert client.received == [b"Hello.", b"wrong request: Unknown tool: goodbye"]
