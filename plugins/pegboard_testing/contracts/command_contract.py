"""The rules of commands that `pegboard_plugin.toml` declares."""

from __future__ import annotations

import re
import shlex
from abc import abstractmethod
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, ClassVar, NamedTuple
from unittest.mock import patch

from pegboard.cli.parsing.argument_reading import function_named
from pegboard.cli.parsing.declared_commands import DeclaredCommand
from pegboard.cli.parsing.parser import build_parser
from pegboard.errors import MCPError
from pegboard.loading.fact_models import CommandFacts
from pegboard.loading.plugin_facts import facts_beside
from pegboard.plugin.commands import CommandContext
from pegboard.terminal import printing
from pegboard.terminal.printing import UsageError
from pegboard_testing.contracts.contract import Contract, rule

SHARED_OPTIONS: Mapping[str, Any] = {
    "config": None,
    "only": [],
    "file": [],
    "strict": False,
    "safe": False,
    "json": False,
    "verbose": 0,
}
"""The options that every command has, with their defaults."""


class CheckedCommand(NamedTuple):
    """A command with its function.

    Attributes:
        name: the words after `pegboard`.
        facts: the declaration of the command.
        run: the function of the command.
    """

    name: str
    facts: CommandFacts
    run: Callable[[CommandContext], int]


class CommandContract(Contract[CheckedCommand]):
    """The rules of a command of `pegboard`.

    Attributes:
        module: the module beside `pegboard_plugin.toml`.
        name: the name of the command. The name of a command of a group follows that of the group: "fax send".
        settings: the settings of the plugin, if the command needs the configuration.
    """

    module: ClassVar[str]
    name: ClassVar[str]
    settings: ClassVar[Any] = None

    def make(self) -> CheckedCommand:
        """Return the command that `pegboard_plugin.toml` declares."""
        facts = next(_declared(self.module, self.name.split()), None)
        assert facts is not None, f"no pegboard_plugin.toml beside {self.module} has the command {self.name!r}"
        assert facts.run is not None, f"the command {self.name!r} is a group; name one of its commands"
        return CheckedCommand(self.name, facts, function_named(facts.run))

    def context(self, options: Namespace, printed: Callable[[str], None]) -> CommandContext:
        """Return the argument of the function. Override it for a command that needs a host.

        Args:
            options: the parsed options.
            printed: receives each text that the command prints.
        """
        return CommandContext(options, printed, self.settings)

    @abstractmethod
    def lines(self) -> Sequence[str]:
        """Return valid arguments of the command, such as "file.txt --seconds 5"; "" for none."""

    def invalid_lines(self) -> Sequence[str]:
        """Return arguments that the command rejects."""
        return ()

    @rule
    def test_its_name_and_summary_are_valid(self, command: CheckedCommand) -> None:
        """`pegboard --help` lists the name and the summary."""
        for name in command.name.split(" "):
            assert re.fullmatch(r"[a-z][a-z0-9-]*", name), f"its name is {name!r}; write a-z, 0-9 and -"
        assert command.facts.summary.strip(), "its summary is empty"
        assert "\n" not in command.facts.summary, "its summary has several lines"

    @rule
    def test_its_arguments_have_help(self, command: CheckedCommand) -> None:
        """`pegboard NAME --help` describes each argument."""
        for argument in command.facts.arguments:
            assert argument.help.strip(), f"the argument {argument.name!r} has no help"

    @rule
    def test_its_examples_are_valid(self, command: CheckedCommand) -> None:
        """Each example begins with "pegboard NAME" and has valid arguments."""
        start = ["pegboard", *command.name.split()]
        for example in command.facts.examples:
            words = shlex.split(example)
            assert words[: len(start)] == start, f"the example {example!r} is of another command"
            try:
                _parse(command, words[len(start) :])
            except UsageError as error:
                raise AssertionError(f"the example {example!r} is invalid: {error}") from None

    @rule
    def test_it_returns_an_exit_code(self, command: CheckedCommand) -> None:
        """The function returns the exit code.

        It prints with `command.print` and `pegboard.terminal`, which mask secrets.
        """
        for line in self.lines():
            options = _parse(command, shlex.split(line))
            with redirect_stdout(StringIO()) as output, patch.object(printing, "write_data"):
                code = command.run(self.context(options, _check_text))
            assert code in (0, 1), f"for {line!r} it returned {code!r}"
            printed = output.getvalue()
            assert not printed, f"for {line!r} it printed {printed!r}; use `command.print` or `pegboard.terminal`"

    @rule
    def test_invalid_arguments_are_rejected(self, command: CheckedCommand) -> None:
        """The parser rejects invalid arguments, or the function raises an `MCPError` with a message."""
        for line in self.invalid_lines():
            refusal = None
            try:
                command.run(self.context(_parse(command, shlex.split(line)), _check_text))
            except MCPError as error:
                refusal = error
            assert refusal is not None, f"the arguments {line!r} were accepted"
            assert refusal.message.strip(), f"the error for {line!r} has no message"


def _check_text(text: str) -> None:
    assert isinstance(text, str), f"it prints {text!r}, which is no text"


def _declared(module: str, words: Sequence[str]) -> Iterator[CommandFacts]:
    for plugin in facts_beside(module).values():
        facts = plugin.commands.get(words[0])
        for word in words[1:]:
            facts = facts.command(word) if facts and word in facts.commands else None
        if facts is not None:
            yield facts


def _parse(command: CheckedCommand, words: Sequence[str]) -> Namespace:
    """Return the options of a command line.

    Raises:
        UsageError: the command line is invalid.
    """
    name = command.name.split()[-1]
    options = Namespace(**SHARED_OPTIONS)
    parsed, unknown = build_parser([DeclaredCommand(name, command.facts)]).parse_known_args([name, *words], options)
    if unknown:
        raise UsageError(f"unknown argument {unknown[0]!r}")
    return parsed
