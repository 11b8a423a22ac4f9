"""The rules of commands."""

from argparse import Namespace
from collections.abc import Sequence

from docs.examples.plugins.command import GreetConfig, GreetPlugin, check
from pegboard.plugin import CommandContext
from pegboard_testing import CommandContract, connect


class TestCommand(CommandContract):
    module = GreetPlugin.__module__
    name = "greet"
    settings = GreetConfig()

    def lines(self) -> Sequence[str]:
        return ["Ada", "Ada --loud"]

    def invalid_lines(self) -> Sequence[str]:
        return ["", "' '"]


def test_the_host_accepts_the_plugin() -> None:
    with connect(GreetPlugin) as client:
        assert client.problems == ()


def test_doctor_reports_an_empty_greeting() -> None:
    reported = [[*check(CommandContext(Namespace(), print, GreetConfig(greeting=text)))] for text in ("Hi", " ")]
    assert [len(findings) for findings in reported] == [0, 1]
