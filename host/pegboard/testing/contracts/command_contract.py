"""The rules of commands (`pegboard.plugin.Command`)."""

from __future__ import annotations

import re
import shlex
from abc import abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from pegboard.errors import MCPError
from pegboard.plugin.commands import Command
from pegboard.testing.contracts.contract import Contract, rule

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


class CommandContract(Contract[Command]):
    """The rules of a command of `pegboard`."""

    @abstractmethod
    def make(self) -> Command:
        """Return a command."""

    @abstractmethod
    def lines(self) -> Sequence[str]:
        """Return valid arguments of the command, such as "file.txt --seconds 5"; "" for none."""

    def invalid_lines(self) -> Sequence[str]:
        """Return arguments that the command rejects."""
        return ()

    @rule
    def test_its_name_and_summary_are_valid(self, command: Command) -> None:
        """`pegboard --help` lists the name and the summary."""
        assert re.fullmatch(r"[a-z][a-z0-9-]*", command.name), f"its name is {command.name!r}; write a-z, 0-9 and -"
        assert command.summary.strip(), "its summary is empty"
        assert "\n" not in command.summary, "its summary has several lines"

    @rule
    def test_its_arguments_have_help(self, command: Command) -> None:
        """`pegboard NAME --help` describes each argument."""
        text = _parser(command).format_help()
        for name, options in command.arguments:
            assert options.get("help"), f"the argument {name!r} has no help"
            assert name.lstrip("-") in text or "metavar" in options, f"the help does not contain {name!r}"

    @rule
    def test_its_examples_are_valid(self, command: Command) -> None:
        """Each example begins with "pegboard NAME" and has valid arguments."""
        for example in command.examples:
            words = shlex.split(example)
            assert words[:2] == ["pegboard", command.name], f"the example {example!r} is of another command"
            options, unknown = _parse(command, words[2:])
            own = {"--json", "--strict", "--safe", "-v", "--verbose", "--config", "--only", "--file"}
            wrong = [word for word in unknown if word.startswith("-") and word.partition("=")[0] not in own]
            assert options is not None, f"the example {example!r} has invalid arguments"
            assert not wrong, f"the example {example!r} has unknown options: {wrong}"

    @rule
    def test_it_returns_a_string(self, command: Command) -> None:
        """`pegboard` prints the string; the command itself prints nothing."""
        for line in self.lines():
            options, unknown = _parse(command, shlex.split(line))
            assert options is not None, f"the arguments {line!r} are invalid"
            assert not unknown, f"the arguments {unknown} of {line!r} are unknown"
            with redirect_stdout(StringIO()) as output:
                text = command.run(options)
            assert isinstance(text, str), f"for {line!r} it returned {text!r}"
            assert not output.getvalue(), f"for {line!r} it printed {output.getvalue()!r}; return the string"

    @rule
    def test_invalid_arguments_are_rejected(self, command: Command) -> None:
        """The parser rejects invalid arguments, or the command raises an `MCPError` with a message."""
        for line in self.invalid_lines():
            options, unknown = _parse(command, shlex.split(line))
            if options is None or unknown:
                continue
            found = None
            try:
                command.run(options)
            except MCPError as error:
                found = error
            assert found is not None, f"the arguments {line!r} were accepted"
            assert found.message.strip(), f"the error for {line!r} has no message"


def _parser(command: Command) -> ArgumentParser:
    parser = ArgumentParser(prog=f"pegboard {command.name}", description=command.summary, allow_abbrev=False)
    for name, options in command.arguments:
        parser.add_argument(name, **options)
    return parser


def _parse(command: Command, words: Sequence[str]) -> tuple[Namespace | None, list[str]]:
    """Return the options and the unknown words of a command line; no options if the parser rejects it."""
    try:
        with redirect_stderr(StringIO()):
            return _parser(command).parse_known_args(words, Namespace(**SHARED_OPTIONS))
    except SystemExit:
        return None, []
