"""The page about installed toolkits: its settings do what it says."""

from __future__ import annotations

import tomllib
from typing import Any

from pegboard import Context, Host, Toolkit
from pegboard.loading.discovery import Selection, choose_plugins
from pegboard.plugin import HostConfig
from pegboard.plugin.origin import Origin
from tests.docs.pages import Page

PAGE = Page("docs/toolkits.md")
kit = Toolkit("weather")


@kit.tool(requires_secrets=["WEATHER_KEY"])
def forecast(context: Context) -> str:
    """Tell the weather."""
    return context.get_secret("weather_key")


@kit.tool(requires_secrets=["BANK_PIN"])
def pay(context: Context) -> str:
    """Pay for the weather."""
    return context.get_secret("bank_pin")


def settings(block: str) -> dict[str, Any]:
    read = tomllib.loads(PAGE.blocks[block])
    return {**read, "host": {"autoload": False, **read["host"]}}


def test_a_limit_of_secrets_keeps_tools_that_require_more_from_being_served() -> None:
    host = Host(settings("toml limit"), toolkits={"weather": kit})
    assert list(host.load().tools) == ["weather_forecast"]
    (problem,) = [str(one) for one in host.problems if "BANK_PIN" in str(one)]
    assert "[host.toolkits.weather] secrets" in problem


def test_a_distribution_before_the_name_selects_one_toolkit() -> None:
    owners = ("other-weather", "toolkit-weather")
    origins = [Origin("toolkit", "weather", "x:kit", owner, "1", entry_point=object()) for owner in owners]  # type: ignore[arg-type]  # any
    choices = choose_plugins(origins, HostConfig.of(settings("toml select")), Selection())
    assert [choice.on for choice in choices] == [False, True]
