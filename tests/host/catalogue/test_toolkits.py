"""Definitions that name their toolkit: names, settings and grants are those of the toolkit."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Host
from pegboard.cli.inspection.tool_lookup import find_tool
from pegboard.plugin import ToolDefinition
from pegboard.types import ToolkitInfo
from pegboard_plugins.protocols.worker.tool_definitions import tool_definition
from tests.host.hosting import make_host, plugin_of

WEATHER = ToolkitInfo("weather", "The weather of today.", "3.1.0")


def forecast() -> str:
    """Forecast the weather."""
    return "rain"


def hosting(toolkit: ToolkitInfo, name: str | None = None, config: Any = None, **fields: Any) -> Host:
    definition = ToolDefinition(forecast, name=name, toolkit=toolkit, **fields)
    return make_host(plugins={"proxy": plugin_of(tools=[definition])}, **(config or {}))


def assembled(*arguments: Any, **options: Any) -> Any:
    return hosting(*arguments, **options).load()


@pytest.mark.parametrize(
    ("toolkit", "name", "listed", "worker"),
    [
        (WEATHER, None, "weather_forecast", "Weather.Forecast"),
        (WEATHER._replace(prefix=False), "getIt", "getIt", "Weather.GetIt"),
        (WEATHER._replace(prefix=False), "weather_getIt", "weather_getIt", "Weather.GetIt"),
    ],
)
def test_a_tool_has_the_name_of_its_toolkit(toolkit: ToolkitInfo, name: str | None, listed: str, worker: str) -> None:
    host = hosting(toolkit, name)
    assembly = host.load()
    tool = find_tool(host, worker).tool
    assert (list(assembly.tools), tool.owner, tool.version) == ([listed], "weather", "3.1.0")
    described = tool_definition(tool)
    assert described["fully_qualified_name"] == worker
    assert described["toolkit"] == {"name": "Weather", "description": "The weather of today.", "version": "3.1.0"}


@pytest.mark.parametrize(
    ("key", "pattern"), [("disabled_toolkits", "weath*"), ("disabled_tools", "weather.*"), ("disabled_tools", "getit")]
)
def test_the_toolkit_is_disabled_by_its_name(key: str, pattern: str) -> None:
    assembly = assembled(WEATHER._replace(prefix=False), "getIt", {key: [pattern]})
    (unserved,) = assembly.unserved
    assert (dict(assembly.tools), pattern in unserved.reason, key in unserved.reason) == ({}, True, True)


def test_settings_that_name_no_toolkit_are_reported() -> None:
    names = ["weather", "whether"]
    host = hosting(WEATHER, config={"disabled_toolkits": names, "toolkits": {name: {} for name in names}})
    host.load()
    assert [str(problem).partition(": ")[2] for problem in host.problems] == [
        'host.disabled_toolkits[1]: "whether" matches nothing; did you mean "weather"?',
        'host.toolkits.whether: no toolkit with this name is installed; did you mean "weather"?',
    ]


@pytest.mark.parametrize(("granted", "served"), [(["WEATHER_*"], 1), ([], 0)])
def test_secrets_are_granted_to_the_toolkit(granted: list[str], served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grants = {"toolkits": {"weather": {"secrets": granted}}}
    assert len(assembled(WEATHER, config=grants, requires_secrets=["WEATHER_KEY"]).tools) == served


@pytest.mark.parametrize("wrong", [ToolkitInfo(" "), ToolkitInfo(3), "weather"])  # type: ignore[arg-type]
def test_an_invalid_toolkit_is_reported(wrong: Any) -> None:
    assembly = assembled(wrong)
    assert (dict(assembly.tools), "its toolkit must be ToolkitInfo" in str(assembly.problems[0])) == ({}, True)
