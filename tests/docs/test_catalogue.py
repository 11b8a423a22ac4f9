"""The examples of docs/catalogue.md do what the page says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard.config import HostConfig
from pegboard_plugins.auth.resource_server.settings import ResourceServerConfig
from pegboard_plugins.protocols.mcp.settings import McpConfig
from pegboard_testing import connect
from tests.docs.pages import Page

PAGE = Page("docs/catalogue.md")
KIT = PAGE.module("catalogue_shop.py").kit


def settings(block: str) -> dict[str, Any]:
    return tomllib.loads(PAGE.blocks[f"toml {block}"])


def test_clients_see_tags_and_settings_filter_by_them() -> None:
    with connect(KIT, hostconfig=settings("tags")) as client:
        (tool,) = client.tools()
        assert (tool["name"], tool["_meta"]) == ("shop_find", {"pegboard/tags": ["catalogue"]})
        (hours,) = client.resources()
        assert (hours["uri"], hours["_meta"]) == ("shop://hours", {"pegboard/tags": ["visits"]})


def test_tools_are_changed_in_code_and_by_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    travel = PAGE.module("travel.py").kit
    config = HostConfig.of(settings("change"), environ={"SHOP_NAME": "corner"}).host.tools
    with connect(travel, KIT, hostconfig={"host": {"tools": config}}) as client:
        tools = {tool["name"]: tool for tool in client.tools()}
        trip = tools["travel_find_trip"]
        assert trip["description"] == "Find trips by destination."
        about = {"type": "string", "description": "a city or country"}
        assert trip["inputSchema"]["properties"] == {"destination": about}
        assert client.call("travel_find_trip", destination="Rome").text == "Rome 20 travel"
        search = tools["shop_search"]
        assert (search["description"], search["_meta"]) == ("Search for articles.", {"pegboard/tags": ["public"]})
        assert [*search["inputSchema"]["properties"]] == ["words"]
        assert client.call("shop_search", words="tea").text == "tea 20 corner"
        assert "shop_find" not in tools


@pytest.mark.parametrize(
    ("profile", "items"),
    [("readonly", ["shop_find", "shop://hours", "shop_report"]), ("visitors", ["shop_find", "shop://hours"])],
)
def test_a_profile_serves_a_part(profile: str, items: list[str]) -> None:
    config = settings("profiles")
    config["plugins"]["mcp"]["stream_profile"] = profile
    with connect(KIT, hostconfig=config) as client:
        definitions = client.definitions()
        assert [*definitions["tools"], *definitions["resources"], *definitions["prompts"]] == items


def test_the_profile_with_its_own_tokens_has_valid_settings() -> None:
    plugins = settings("oauth")["plugins"]
    policy = McpConfig.model_validate(plugins["mcp"]).profiles["readonly"].auth
    assert policy in plugins["resource_server"]["other_resources"]
    assert ResourceServerConfig.model_validate(plugins["resource_server"]).other_resources.keys() == {"readonly"}
