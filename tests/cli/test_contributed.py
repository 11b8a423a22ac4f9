"""Commands of plugins: run, described, refused, and never a stack trace."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command

GREETER = """
from pegboard import NotFoundError
from pegboard.plugin import Command, Plugin, hookimpl

ARGUMENTS = [("name", {}), ("--loud", {"action": "store_true"})]

class Greeter(Plugin):
    @hookimpl
    def register_commands(self):
        return [
            Command("greet", "greet somebody", greet, ARGUMENTS, ["pegboard greet Ada"]),
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
    """The command with a plugin that brings one."""
    pegboard.install("greeter", GREETER, group="pegboard.plugins", target="Greeter")
    pegboard.configure(sections="[plugins.greeter]")
    return pegboard


def test_it_runs_with_its_own_options_and_those_of_all(greeting: Command) -> None:
    done = greeting("greet", "Ada", "--loud", "-v")
    assert (done.code, done.out) == (0, "hello ADA\n")
    assert "talk" in done.err


def test_it_is_in_the_help(greeting: Command) -> None:
    assert "greet greet somebody" in " ".join(greeting("--help").out.split())
    shown = greeting("greet", "--help").out
    assert "Greet somebody." in shown
    assert "pegboard greet Ada" in shown
    assert "--config FILE" in shown


def test_a_command_of_the_host_stays_its_own(greeting: Command) -> None:
    assert "demo_echo" in greeting("list").out


@pytest.mark.parametrize(
    ("name", "told"), [("nobody", "there is nobody"), ("crash", "'greet' failed: KeyError: 'canary'")]
)
def test_what_fails_is_told_in_a_line(greeting: Command, name: str, told: str) -> None:
    done = greeting("greet", name)
    assert (done.code, done.out) == (1, "")
    assert told in done.err
    assert "Traceback" not in done.err


def test_what_is_typed_wrong_is_told(greeting: Command) -> None:
    assert greeting("greet").code == 2
    done = greeting("gret", "Ada")
    assert (done.code, "there is no command 'gret'; did you mean 'greet'?" in done.err) == (2, True)
    other = greeting("bicycle")
    assert "there is no command 'bicycle'; plugins bring theirs once they run (`pegboard plugins`)" in other.err


def test_why_a_plugin_that_was_named_brings_no_command_is_told(pegboard: Command) -> None:
    pegboard.configure(sections="[plugins.worker]")
    done = pegboard("token")
    assert (done.code, "there is no command 'token'" in done.err) == (2, True)
    assert "plugins.worker: it needs a secret: set ARCADE_WORKER_SECRET" in done.err


def test_it_is_there_only_where_its_plugin_runs(greeting: Command) -> None:
    greeting.configure()
    assert greeting("greet", "Ada").code == 2
    greeting.configure(host="nonsense = 1")
    done = greeting("--help")
    assert (done.code, "unknown key" in done.err) == (0, True)
    assert "greet somebody" not in done.out


def test_two_of_one_name_are_none(greeting: Command) -> None:
    greeting.install("other", GREETER, group="pegboard.plugins", target="Greeter")
    greeting.configure(sections="[plugins.greeter]\n[plugins.other]")
    done = greeting("greet", "Ada")
    assert (done.code, "several plugins bring a command 'greet'" in done.err) == (2, True)
