"""The rules of commands."""

from collections.abc import Sequence

from docs.examples.plugins.command import GreetConfig, GreetPlugin
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
