"""What docs/extensions.md shows is what happens: its plugin and its toolkit run, and a client sees what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import Page
from tests.support.distributions import make_distribution
from tests.support.peer import META
from tests.support.pool import CONFIG
from tests.support.rules import Added
from tests.support.wire import Wire

PAGE = Page("docs/extensions.md")
ECHO = Added(
    results={"echoes/get": {"type": "object", "properties": {"echo": {"type": "string"}}, "required": ["echo"]}}
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    entry_points = {
        "pegboard.plugins": {"echoes": "pegboard_echoes:EchoesPlugin"},
        "pegboard.toolkits": {"clock": "toolkit_clock:kit"},
    }
    make_distribution(tmp_path, "examples", "1", entry_points, PAGE.files)
    return tmp_path


async def test_the_toolkit_has_its_interface_and_the_plugin_responds_to_clients_that_declare_it(site: Path) -> None:
    async with Wire(config=CONFIG + "\n[plugins.echoes]\n", site=site) as wire:
        wire.modern = True
        (face,) = (await wire.result("resources/read", {"uri": "ui://clock/face"}))["contents"]
        assert face["mimeType"] == "text/html;profile=mcp-app"
        wire.conversation.added = ECHO
        discovered = await wire.result("server/discover")
        assert discovered["capabilities"]["extensions"]["com.example/echoes"] == {"longest": 100}
        declared: dict[str, Any] = {"_meta": {f"{META}clientCapabilities": {"extensions": {"com.example/echoes": {}}}}}
        assert (await wire.result("echoes/get", {"echoId": "olleh", **declared}))["echo"] == "hello"
        assert (await wire.error("echoes/get", {"echoId": 1, **declared}))["code"] == -32602
        assert (await wire.error("echoes/get", {"echoId": "x"}))["code"] == -32021
