"""Secrets of toolkits: the ones that each receives, and limits of them."""

from __future__ import annotations

import pytest

from tests.support.command_line import Command

pytestmark = pytest.mark.needs("auth")  # the toolkits need tokens of providers

WEATHER = '''
from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import GitHub
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
'''
ASKS = """
from pegboard import tool
from pegboard.plugin import Plugin, hookimpl
from pegboard.types import Call
from pegboard_plugins.auth.auth_providers import OAuth2

class Asks(Plugin):
    @hookimpl
    def register_tools(self, context):
        @tool
        def ask(name: str) -> str:
            "Read a secret by its name."
            return f"{name}: {context.get_secret(name)}"
        return [ask]
"""
TOKEN = "__import__('asyncio').run(context.get_token(OAuth2(id=name), Call('tools/call'))).token"
SECRETS = {"WEATHER_KEY": "12345", "BANK_PIN": "67890"}
STAR = WEATHER.rpartition("\n@")[2]
STARS = WEATHER + "".join(f"\n@{STAR.replace('star(', f'star{number}(')}" for number in range(5))


@pytest.fixture
def weather(pegboard: Command) -> Command:
    """The command, with a toolkit whose tools require secrets."""
    pegboard.install("weather", WEATHER)
    return pegboard


def grant(command: Command, names: str) -> None:
    command.configure(sections=f"[host.toolkits.weather]\nsecrets = {names}", off=["demo"])


@pytest.mark.needs("why")
def test_the_secrets_of_a_toolkit_are_shown(weather: Command) -> None:
    rows = weather("plugins", "--json", env={"WEATHER_KEY": "12345"}).data
    (row,) = [row for row in rows if row["name"] == "weather"]
    declared, both = "declared by its tools", ["weather_forecast", "weather_pay"]
    assert row["secrets"] == [
        {"name": "BANK_PIN", "set": False, "given": declared, "tools": ["weather_pay"]},
        {"name": "GITHUB_TOKEN", "set": True, "given": "as the token of github", "tools": ["weather_star"]},
        {"name": "WEATHER_KEY", "set": True, "given": declared, "tools": both},
    ]
    assert row["may_receive"] is None
    line = "WEATHER_KEY, set, declared by its tools: weather_forecast, weather_pay"
    story = weather("why", "weather", env=SECRETS).out
    assert (f"  secret {line}\n" in story, "12345" in story) == (True, False)
    assert weather("why", "weather_key", env=SECRETS).out == f"toolkit weather receives the secret {line}\n"


@pytest.mark.needs("tool_commands")
@pytest.mark.parametrize(
    ("names", "token", "tools"),
    [
        ('["WEATHER_KEY", "BANK_PIN", "GITHUB_TOKEN"]', "x", {"forecast", "pay", "star"}),
        ('["weather_*"]', "x", {"forecast"}),
        ("[]", "x", set()),
        ("[]", "", {"star"}),
    ],
)
def test_a_tool_that_requires_more_than_is_granted_is_not_served(
    weather: Command, names: str, token: str, tools: set[str]
) -> None:
    grant(weather, names)
    listed = weather("list", "--json", env=SECRETS | {"GITHUB_TOKEN": token}).data
    assert {tool["name"].removeprefix("weather_") for tool in listed if tool["toolkit"] == "weather"} == tools


@pytest.mark.needs("why")
def test_the_problem_names_the_secret_and_the_setting(weather: Command) -> None:
    grant(weather, '["WEATHER_*"]')
    setting = "[host.toolkits.weather] secrets (hostconfig.toml:5)"
    reason = f"it requires the secret BANK_PIN, which {setting} does not grant; add it there"
    done = weather("why", "weather_pay", env=SECRETS)
    assert f"tool weather_pay: not served; {reason}; it comes from weather" in done.out
    assert f"tool 'weather_pay' is not served: {reason}" in done.err
    assert "may receive these secrets: WEATHER_* (" in weather("why", "weather", env=SECRETS).out
    assert weather("call", "weather_forecast", env=SECRETS).out == "key of 5 characters\n"
    assert weather("stdio", "--strict", env=SECRETS).code == 3


@pytest.mark.needs("why")
@pytest.mark.parametrize(("names", "served"), [('["git*"]', True), ('["slack"]', False), ("[]", False)])
def test_tokens_of_other_providers_are_not_given(weather: Command, names: str, served: bool) -> None:
    weather.configure(sections=f"[host.toolkits.weather]\nproviders = {names}", off=["demo"])
    env = SECRETS | {"GITHUB_TOKEN": "x"}
    (row,) = [row for row in weather("plugins", "--json", env=env).data if row["name"] == "weather"]
    assert [token["provider"] for token in row["tokens"]] == ["github"] * served
    assert ", ".join(row["may_receive_tokens"]) in names.replace('"', "")
    assert row["may_receive"] is None
    text = weather("why", "weather_star", env=env).out
    reason = "it requires a token of github, which [host.toolkits.weather] providers (hostconfig.toml:5) does not grant"
    assert (reason in text) is not served
    providers = ", ".join(row["may_receive_tokens"]) or "none"
    assert f"may receive these tokens: {providers} (" in weather("why", "weather", env=env).out


@pytest.mark.needs("tool_commands")
def test_tools_that_lack_the_same_right_are_reported_once(pegboard: Command) -> None:
    pegboard.install("weather", STARS)
    pegboard.configure(sections="[host.toolkits.weather]\nproviders = []", off=["demo"])
    (line,) = [line for line in pegboard("list", env=SECRETS).err.splitlines() if "a token of github" in line]
    assert "tool 'weather_star' is not served: it requires a token of github, which" in line
    assert line.endswith(
        "add it there; the same applies to 'weather_star0', 'weather_star1', 'weather_star2' and 2 more"
    )


def test_the_report_of_a_missing_token_names_three_tools(bare: Command) -> None:
    bare.install("weather", STARS)
    report, hint = bare("plugins", env=SECRETS | {"GITHUB_TOKEN": None}).err.splitlines()
    assert ": 'weather_star', 'weather_star0', 'weather_star1' and 3 more; the secret GITHUB_TOKEN is" in report
    assert hint == "pegboard: `pegboard secret list` shows the secrets that are missing"


@pytest.mark.needs("tool_commands")
def test_a_toolkit_that_requests_a_token_itself_gets_no_others(pegboard: Command) -> None:
    pegboard.install("weather", ASKS.replace("context.get_secret(name)", TOKEN), target="Asks")
    for names, refused in (('["github"]', False), ("[]", True)):
        pegboard.configure(sections=f"[host.toolkits.weather]\nproviders = {names}", off=["demo"])
        done = pegboard("call", "ask", "name=github", env={"GITHUB_TOKEN": "token-canary"})
        assert ("token-canary" in done.out) is not refused
        assert ("providers does not grant it" in done.out + done.err) is refused


@pytest.mark.needs("tool_commands")
def test_a_plugin_that_reads_secrets_itself_gets_no_others(pegboard: Command) -> None:
    pegboard.install("weather", ASKS, target="Asks")
    grant(pegboard, '["WEATHER_KEY"]')
    message = "toolkit 'weather' from dist-weather 1.2.3 does not receive the secret BANK_PIN"
    for name, value in (("WEATHER_KEY", "12345"), ("BANK_PIN", "None")):
        done = pegboard("call", "ask", f"name={name}", env=SECRETS)
        assert (value in done.out, message in done.err) == (True, name == "BANK_PIN")


@pytest.mark.needs("tool_commands")
def test_a_missing_secret_is_reported_once_by_commands_and_always_by_servers(bare: Command) -> None:
    bare.install("weather", WEATHER)
    env = {"PEGBOARD_STATE_DIR": str(bare.folder / "state")}
    message = "the secret WEATHER_KEY is not set"
    assert message in bare("list", env=env).err
    for line in ("list", "show weather_forecast", "plugins", "call weather_forecast", "config check"):
        expected = line == "config check"
        assert (message in bare(*line.split(), env=env).err) is expected, line
    assert message in bare("list", "-v", env=env).err
    assert message in bare("stdio", env=env, typed="").err
    other = {"PEGBOARD_STATE_DIR": str(bare.folder / "other")}
    assert message in bare("list", env=other).err
    assert message not in bare("list", env=other).err
