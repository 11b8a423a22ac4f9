"""Secrets of toolkits: which ones each receives, and limits of what it may be given."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command

WEATHER = '''
from pegboard import Context, Toolkit
from pegboard_plugins.auth_providers import GitHub
kit = Toolkit("weather")

@kit.tool(requires_secrets=["WEATHER_KEY"])
def forecast(context: Context) -> str:
    """Tell the weather."""
    return f"key of {len(context.get_secret('weather_key'))} characters"

@kit.tool(requires_secrets=["WEATHER_KEY", "BANK_PIN"])
def pay(context: Context) -> str:
    """Pay for the weather."""
    return "paid"

@kit.tool(requires_auth=GitHub())
def star(context: Context) -> str:
    """Star the weather."""
    return "starred"

@kit.tool
def look() -> str:
    """Look out of the window."""
    return "rain"
'''
ASKS = """
from pegboard import tool
from pegboard.plugin import Plugin, hookimpl

class Asks(Plugin):
    @hookimpl
    def register_tools(self, context):
        @tool
        def ask(name: str) -> str:
            "Ask for a secret by its name."
            return f"{name}: {context.get_secret(name)}"
        return [ask]
"""
SECRETS = {"WEATHER_KEY": "12345", "BANK_PIN": "67890"}


@pytest.fixture
def weather(pegboard: Command) -> Command:
    """The command, with a toolkit whose tools require secrets."""
    pegboard.install("weather", WEATHER)
    return pegboard


def grant(command: Command, names: str) -> None:
    command.configure(sections=f"[host.toolkits.weather]\nsecrets = {names}", off=["demo"])


def served(command: Command) -> set[str]:
    tools = command("list", "--json", env=SECRETS).data
    return {tool["name"].removeprefix("weather_") for tool in tools if tool["toolkit"] == "weather"}


def test_the_secrets_of_a_toolkit_are_shown(weather: Command) -> None:
    (row,) = [
        row for row in weather("plugins", "--json", env={"WEATHER_KEY": "12345"}).data if row["name"] == "weather"
    ]
    assert row["secrets"] == [
        {"name": "BANK_PIN", "set": False, "given": "declared by its tools", "tools": ["weather_pay"]},
        {"name": "GITHUB_TOKEN", "set": True, "given": "as the token of github", "tools": ["weather_star"]},
        {
            "name": "WEATHER_KEY",
            "set": True,
            "given": "declared by its tools",
            "tools": ["weather_forecast", "weather_pay"],
        },
    ]
    assert row["may_receive"] is None
    assert (
        "installed; secrets: BANK_PIN (not set), GITHUB_TOKEN, WEATHER_KEY\n"
        in weather("plugins", env=SECRETS | {"BANK_PIN": ""}).out
    )


def test_the_story_of_a_toolkit_and_of_a_secret_tell_it_too(weather: Command) -> None:
    line = "WEATHER_KEY, set, declared by its tools: weather_forecast, weather_pay"
    assert f"  secret {line}\n" in weather("why", "weather", env=SECRETS).out
    assert weather("why", "weather_key", env=SECRETS).out == f"toolkit weather receives the secret {line}\n"
    assert "12345" not in weather("why", "weather", env=SECRETS).out


def test_variables_of_a_section_are_shown(pegboard: Command) -> None:
    pegboard.install("acme", CONFIGURED)
    pegboard.configure(sections='[toolkits.acme]\nkey = { env = "ACME_KEY" }')
    assert "  secret ACME_KEY, set, by key in [toolkits.acme]\n" in pegboard("why", "acme", env={"ACME_KEY": "1"}).out


CONFIGURED = """
from pegboard import PluginConfig, Toolkit
class Config(PluginConfig):
    key: str
kit = Toolkit("acme", config=Config)
"""


@pytest.mark.parametrize(
    ("names", "tools"),
    [
        ('["WEATHER_KEY", "BANK_PIN", "GITHUB_TOKEN"]', {"forecast", "pay", "star", "look"}),
        ('["weather_*", "github_token"]', {"forecast", "star", "look"}),
        ('["WEATHER_*"]', {"forecast", "look"}),
        ("[]", {"look"}),
        ('["*"]', {"forecast", "pay", "star", "look"}),
    ],
)
def test_a_tool_that_requires_more_than_its_toolkit_may_have_is_not_served(
    weather: Command, names: str, tools: set[str]
) -> None:
    grant(weather, names)
    assert served(weather) == tools


def test_a_token_of_another_source_than_a_secret_needs_no_grant(weather: Command) -> None:
    grant(weather, "[]")
    tools = weather("list", "--json", env=SECRETS | {"GITHUB_TOKEN": ""}).data
    assert "weather_star" in {tool["name"] for tool in tools}


def test_the_problem_names_the_secret_and_the_setting(weather: Command) -> None:
    grant(weather, '["WEATHER_*"]')
    reason = (
        "it requires the secret BANK_PIN, which [host.toolkits.weather] secrets (hostconfig.toml:5) does not grant; "
        "add it there"
    )
    done = weather("why", "weather_pay", env=SECRETS)
    assert f"tool weather_pay: not served; {reason}; it comes from weather" in done.out
    assert f"tool 'pay' is not served: {reason}" in done.err
    assert (
        "may be given these secrets: WEATHER_* ([host.toolkits.weather] secrets, hostconfig.toml:5)"
        in weather("why", "weather", env=SECRETS).out
    )
    assert weather("call", "weather_forecast", env=SECRETS).out == "key of 5 characters\n"
    assert weather("stdio", "--strict", env=SECRETS).code == 3


@pytest.mark.parametrize(("name", "value"), [("WEATHER_KEY", "12345"), ("BANK_PIN", "None")])
def test_a_toolkit_that_asks_by_itself_gets_no_more(pegboard: Command, name: str, value: str) -> None:
    pegboard.install("weather", ASKS, target="Asks")
    grant(pegboard, '["WEATHER_KEY"]')
    done = pegboard("call", "ask", f"name={name}", env={"WEATHER_KEY": "12345", "BANK_PIN": "67890"})
    assert value in done.out, done.err
    told = "toolkit 'weather' from dist-weather 1.2.3 gets no secret BANK_PIN"
    assert (told in done.err) is (name == "BANK_PIN")


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ('[host.toolkits.wether]\nsecrets = ["A"]', 'no toolkit of this name is installed; did you mean "weather"?'),
        ('[host.toolkits.weather]\nsecret = ["A"]', 'unknown key; did you mean "secrets"?'),
        ('[host.toolkit.weather]\nsecrets = ["A"]', 'unknown key; did you mean "toolkits"?'),
        ('[host.toolkits.weather]\nsecrets = "A"', 'host.toolkits.weather.secrets: expected a list, found text "A"'),
        ("[host]\ntoolkits = 1", "expected a table"),
    ],
)
def test_a_wrong_limit_keeps_the_host_from_starting(weather: Command, section: str, told: str) -> None:
    (weather.folder / "hostconfig.toml").write_text(f"{section}\n")
    done = weather("stdio")
    assert (done.code, told in done.err) == (3, True), done.err


def test_a_variable_sets_a_limit_and_it_is_shown_with_its_source(weather: Command) -> None:
    limit = {"PEGBOARD__HOST__TOOLKITS__WEATHER__SECRETS": '["WEATHER_KEY"]'}
    shown = weather("config", "show", env=limit).out
    assert 'toolkits.weather.secrets = ["WEATHER_KEY"]' in shown
    assert "# environment variable PEGBOARD__HOST__TOOLKITS__WEATHER__SECRETS" in shown
    assert "WEATHER_KEY, set" in weather("why", "weather", env=limit | SECRETS).out
    assert "weather_pay" in weather("list", env=limit | SECRETS).err
