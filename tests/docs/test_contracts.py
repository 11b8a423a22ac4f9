"""The examples in docs/contracts.md keep their contracts: docs/examples/tests has most of these tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pegboard_testing
from docs.examples.plugins.event_store import RecentEvents, RecentEventsPlugin
from docs.examples.plugins.secret_store import SecretsJsonConfig
from docs.examples.plugins.session_store import SqliteSessionsConfig
from docs.examples.plugins.transport import UnixLinesConfig
from pegboard import PluginConfig
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


def test_the_page_names_each_hook_and_contract_test_and_each_example_with_its_tests() -> None:
    page = Page("docs/contracts.md")
    hooks = re.findall(r"^## (\w+)$", Page("docs/hooks.md"), re.M)
    assert set(re.findall(r"hooks\.md#(\w+)", page)) == set(hooks) > set()
    kits = {name for name in pegboard_testing.__all__ if name.endswith("Contract")}
    assert set(re.findall(r"`(\w+Contract)`", page)) == kits - {"Contract"}
    examples = set(re.findall(r"examples/plugins/(\w+)\.py", page))
    assert examples == {path.stem for path in ROOT.glob("docs/examples/plugins/*.py")}
    tested = {path.name.removesuffix("_test.py") for path in ROOT.glob("docs/examples/tests/*_test.py")}
    assert examples - tested == {"event_store"}  # this file tests it


@pytest.mark.parametrize(
    ("settings", "key"), [(SecretsJsonConfig, "file"), (SqliteSessionsConfig, "file"), (UnixLinesConfig, "path")]
)
def test_files_of_the_examples_are_beside_the_configuration(settings: type[PluginConfig], key: str) -> None:
    checked = settings.model_validate({key: "own"}, context={"directory": Path("/folder")})
    assert str(getattr(checked, key)) == "/folder/own"
