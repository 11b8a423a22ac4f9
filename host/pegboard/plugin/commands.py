"""The contract for commands that plugins add to `pegboard`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.records import NamedTuple


class CommandOutput(NamedTuple):
    """The output of a command, with its exit code.

    Attributes:
        text: the string to print, or "".
        exit_code: 0 for success, or 1 if the command has found a problem.
    """

    text: str
    exit_code: int = 0


class Command(NamedTuple):
    """A command of `pegboard`. Construct it by keyword.

    The command runs in the main thread of the `pegboard` process, without an event loop and without a started host.

    Attributes:
        name: the name that users type: one word.
        summary: the effect of the command, in one line for `pegboard --help`.
        run: a function that is called once with the options, an `argparse.Namespace`. It returns the string to print,
            or "". It may block. An `MCPError` ends the command with its message and exit code 1. A `CommandOutput`
            prints its text and ends the command with its exit code.
        arguments: pairs of a name, such as "file" or "--seconds", and the keyword arguments of
            `argparse.ArgumentParser.add_argument`.
        examples: command lines that work, for `--help`.
    """

    name: str
    summary: str
    run: "Callable[[Any], str | CommandOutput]"
    arguments: Sequence[tuple[str, Mapping[str, Any]]] = ()
    examples: Sequence[str] = ()
