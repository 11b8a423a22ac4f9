"""The examples in docs/contracts.md keep their contracts: docs/examples/tests has most of these tests."""

from __future__ import annotations

import re

from docs.examples.plugins.event_store import RecentEvents, RecentEventsPlugin
from pegboard.plugin import EventStore
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
    assert examples - tested == {"event_store"}  # this file tests it
