"""Commands of plugins, and the command `token` of the worker."""

from __future__ import annotations

import jwt
import pytest

from tests.host.cli.conftest import Command

GREETER = """
from pegboard import NotFoundError
from pegboard.plugin import Command, Plugin, hookimpl

ARGUMENTS = [("name", {}), ("--loud", {"action": "store_true"})]

class Greeter(Plugin):
    @hookimpl
    def register_commands(self):
        return [
            Command("greet", "greet a person", greet, ARGUMENTS, ["pegboard greet Ada"]),
            Command("list", "take the place of another", greet),
        ]

def greet(options):
    print("talk")
    if options.name == "nobody":
        raise NotFoundError("there is nobody")
    if options.name == "crash":
        raise KeyError("canary")
    return f"hello {options.name.upper() if options.loud else options.name}"
"""


@pytest.fixture
def greeting(pegboard: Command) -> Command:
    """The command with a plugin that adds `greet`."""
    pegboard.install("greeter", GREETER, group="pegboard.plugins", target="Greeter")
    pegboard.configure(sections="[plugins.greeter]")
    return pegboard


def test_a_command_of_a_plugin_runs(greeting: Command) -> None:
    done = greeting("greet", "Ada", "--loud", "-v")
    assert (done.code, done.out, "talk" in done.err) == (0, "hello ADA\n", True)
    assert "demo_echo" in greeting("list").out, "a plugin cannot replace a command of the host"
    assert "greet greet a person" in " ".join(greeting("--help").out.split())
    shown = greeting("greet", "--help").out
    assert all(words in shown for words in ("Greet a person.", "pegboard greet Ada", "--config FILE"))


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("greet nobody", 1, "there is nobody"),
        ("greet crash", 1, "'greet' failed: KeyError: 'canary'"),
        ("greet", 2, "required: name"),
        ("gret Ada", 2, "there is no command 'gret'; did you mean 'greet'?"),
        ("login github", 2, "there is no command 'login': `pegboard enable vault` enables the plugin that adds it"),
        ("people", 2, "there is no command 'people': `pegboard enable login` enables the plugin that adds it"),
    ],
)
def test_failures_are_told_in_a_line(line: str, code: int, told: str, greeting: Command) -> None:
    done = greeting(*line.split())
    assert (done.code, done.out, told in done.err, "Traceback" in done.err) == (code, "", True, False), done.err


def test_a_disabled_plugin_adds_no_command_and_wrong_settings_prevent_no_help(greeting: Command) -> None:
    greeting.configure()
    assert greeting("greet", "Ada").code == 2
    greeting.configure(host="nonsense = 1")
    done = greeting("--help")
    assert (done.code, "unknown key" in done.err, "greet a person" in done.out) == (0, True, False)


def test_the_command_of_a_plugin_that_failed_fails_with_the_reason(pegboard: Command) -> None:
    pegboard.configure(sections="[plugins.worker]")
    done = pegboard("token", "--json")
    (problem,) = done.data["error"]["problems"]
    assert (done.code, done.err, problem["key"], problem["line"]) == (3, "", "plugins.worker", 4)
    assert problem["message"].startswith("missing secret: set ARCADE_WORKER_SECRET")


# --- token

SECRET = "0123456789abcdef-a-secret-of-the-tests"


def lifetime(token: str) -> int:
    """Return for how many seconds a token is valid."""
    claims = jwt.decode(token.strip(), SECRET, algorithms=["HS256"], audience="worker")
    assert claims["ver"] == "1"
    return int(claims["exp"] - claims["iat"])


def test_a_token_is_valid_for_an_hour_or_as_long_as_requested_and_shows_no_secret(pegboard: Command) -> None:
    pegboard.configure(sections='[plugins.worker]\nsecret = { env = "MINE" }')
    done = pegboard("token", "-vv", env={"MINE": SECRET})
    assert (done.code, lifetime(done.out), SECRET in done.err) == (0, 3600, False)
    found = pegboard("token", "--json", "--seconds=31622400", env={"MINE": SECRET}).data
    assert (found["expires_in"], lifetime(found["token"])) == (31622400, 31622400)


@pytest.mark.parametrize("seconds", ["0", "31622401", "9" * 5000], ids=lambda one: one[:8])
def test_another_lifetime_is_refused(pegboard: Command, seconds: str) -> None:
    done = pegboard("token", f"--seconds={seconds}", "-vv", env={"ARCADE_WORKER_SECRET": SECRET})
    assert (done.code, done.out, "Traceback" in done.err, SECRET in done.err) == (2, "", False, False)
    assert "argument --seconds: expected a whole number from 1 to 31622400" in done.err


def test_a_weak_secret_causes_a_warning_and_without_a_secret_there_is_no_command(pegboard: Command) -> None:
    done = pegboard("token", env={"ARCADE_WORKER_SECRET": "a" * 40})
    assert (done.code, bool(done.out), "the secret is weak" in done.err, "HMAC" in done.err) == (0, True, True, False)
    for env in ({"ARCADE_WORKER_SECRET": ""}, {"ARCADE_AUTH_DISABLED": "true"}):
        done = pegboard("token", env=env)
        assert (done.code, done.out, "there is no command 'token'" in done.err) == (2, "", True)
