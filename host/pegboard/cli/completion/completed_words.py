"""The words that each command accepts: the commands below it, and its options."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from pegboard.cli.parsing.declared_commands import DeclaredCommand, added_options
from pegboard.cli.parsing.parser import build_parser
from pegboard.config import HostSection
from pegboard.loading.fact_models import Argument, CommandFacts
from pegboard.records import NamedTuple

_NAMES = {
    "tool": 'pegboard list @FILES@ 2>/dev/null | cut -d " " -f 1',
    "plugin": 'pegboard plugins 2>/dev/null | cut -d " " -f 1',
}
"""The shell command that prints the names for an argument of a type, one per line.

@FILES@ stands for the options `--file` before the cursor.
"""


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


class CompletedWords(NamedTuple):
    """All words of the command line.

    Attributes:
        places: the words of each place. The place of `pegboard config check` is "/config/check".
        names: the shell command that prints the names for the first argument of a command, by place.
        values: the values of options that accept few. Other options with a value accept files.
    """

    places: Mapping[str, list[CompletedWord]]
    names: Mapping[str, str]
    values: Mapping[str, Iterable[str]]


def completed_words(commands: Iterable[DeclaredCommand]) -> CompletedWords:
    """Return the words that these commands accept."""
    commands = [*commands]
    places: dict[str, list[CompletedWord]] = {}
    names: dict[str, str] = {}
    values: dict[str, Iterable[str]] = {"--log-level": get_args(HostSection.model_fields["log_level"].annotation)}
    for command in commands:
        places |= _places(build_parser([command], added_options(command.name)), "")
        for place, argument in _arguments(command.facts, f"/{command.name}"):
            if argument.type in _NAMES:
                names[place] = _NAMES[argument.type]
            if argument.completions:
                values[argument.name] = argument.completions
    return CompletedWords(places | dict([next(_places(build_parser(commands), ""))]), names, values)


def _arguments(facts: CommandFacts, place: str) -> Iterator[tuple[str, Argument]]:
    """Yield the arguments of a command and of the commands below it, each with its place."""
    yield from ((place, argument) for argument in facts.arguments)
    for name in facts.commands:
        yield from _arguments(facts.command(name), f"{place}/{name}")


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
