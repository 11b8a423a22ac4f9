"""The words that each command accepts: the commands below it, and its options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import get_args

from pegboard.cli.parsing.cli_command import all_declared
from pegboard.cli.parsing.parser import build_parser
from pegboard.cli.parsing.plugin_options import added_options
from pegboard.config import HostSection
from pegboard.records import NamedTuple
from pegboard.scaffolds.kinds import PLUGINS

_TOOLS = 'pegboard list @FILES@ 2>/dev/null | cut -d " " -f 1'
_PLUGINS = 'pegboard plugins 2>/dev/null | cut -d " " -f 1'
NAME_COMMANDS = {"/show": _TOOLS, "/call": _TOOLS, "/why": _TOOLS, "/enable": _PLUGINS, "/disable": _PLUGINS}
"""The shell command that prints the names for the first argument of a command, one per line, by place.

@FILES@ stands for the options `--file` before the cursor.
"""
OPTION_VALUES = {
    "--log-level": get_args(HostSection.model_fields["log_level"].annotation),
    "--kind": tuple(PLUGINS),
}
"""The values of options that accept few. Other options with a value accept files."""


class CompletedWord(NamedTuple):
    """A word of the command line.

    Attributes:
        text: the word.
        meaning: its meaning.
        takes_value: True for an option with a value.
    """

    text: str
    meaning: str
    takes_value: bool = False


def completed_words() -> dict[str, list[CompletedWord]]:
    """Return the words of each place. The place of `pegboard config check` is "/config/check"."""
    return dict(_places(build_parser(all_declared(), added_options()), ""))


def _places(parser: argparse.ArgumentParser, place: str) -> Iterator[tuple[str, list[CompletedWord]]]:
    commands: list[CompletedWord] = []
    options: list[CompletedWord] = []
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            commands += [CompletedWord(one.dest, one.help or "") for one in action._choices_actions]
            below += action.choices.items()
        options += [CompletedWord(option, action.help or "", action.nargs != 0) for option in action.option_strings]
    yield place, [*commands, *options]
    for name, own in below:
        yield from _places(own, f"{place}/{name}")
