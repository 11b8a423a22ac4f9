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
from tests.support.schemas import MODERN
from tests.support.wire import Wire

PAGE = Page("docs/extensions.md")
ECHO = Added(
    results={"echoes/get": {"type": "object", "properties": {"echo": {"type": "string"}}, "required": ["echo"]}}
)
UI = "io.modelcontextprotocol/ui"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    entry_points = {
        "pegboard.plugins": {"echoes": "pegboard_echoes:EchoesPlugin"},
        "pegboard.toolkits": {"clock": "toolkit_clock:kit"},
    }
    make_distribution(site, "examples", "1", entry_points, PAGE.files)
    return site


async def test_the_plugin_responds_to_clients_that_declare_its_extension(site: Path) -> None:
    async with Wire(config=CONFIG + "\n[plugins.echoes]\n", site=site) as wire:
        wire.modern = True
        wire.conversation.added = ECHO
        found = await wire.result("server/discover")
        assert found["capabilities"]["extensions"]["com.example/echoes"] == {"longest": 100}
        declared: dict[str, Any] = {"_meta": {f"{META}clientCapabilities": {"extensions": {"com.example/echoes": {}}}}}
        assert (await wire.result("echoes/get", {"echoId": "olleh", **declared}))["echo"] == "hello"
        assert (await wire.error("echoes/get", {"echoId": 1, **declared}))["code"] == -32602
        assert (await wire.error("echoes/get", {"echoId": "x"}))["code"] == -32021


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2026-07-28"])
async def test_the_toolkit_brings_its_interface(site: Path, revision: str) -> None:
    async with Wire(config=CONFIG, site=site) as wire:
        wire.modern = revision in MODERN
        opened = await (wire.result("server/discover") if wire.modern else wire.initialize(revision))
        there = revision >= "2025-06-18"
        assert opened["capabilities"].get("extensions") == ({UI: {}} if there else None)
        tools = {tool["name"]: tool.get("_meta") for tool in (await wire.result("tools/list"))["tools"]}
        both, app = ({"resourceUri": "ui://clock/face", "visibility": who} for who in (["model", "app"], ["app"]))
        assert tools == ({"clock_now": {"ui": both}, "clock_wind": {"ui": app}} if there else dict.fromkeys(tools))
        (face,) = (await wire.result("resources/read", {"uri": "ui://clock/face"}))["contents"]
        assert face["mimeType"] == "text/html;profile=mcp-app"
        assert face["text"].startswith("<!doctype html>")
        needs = {"csp": {"resourceDomains": ["https://cdn.example.com"]}, "prefersBorder": True}
        assert face.get("_meta") == ({"ui": needs} if there else None)
        (listed,) = (await wire.result("resources/list"))["resources"]
        assert listed.get("_meta") == ({"ui": needs} if there else None)
        assert (await wire.call("clock_wind"))["content"][0]["text"] == "Wound."
