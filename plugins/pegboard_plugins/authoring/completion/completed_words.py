"""The words that each command accepts: the commands below it, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pegboard.plugin import CommandDescription

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


def completed_words(line: CommandDescription) -> CompletedWords:
    """Return the words of a command line."""
    places: dict[str, list[CompletedWord]] = {}
    names: dict[str, str] = {}
    values: dict[str, Iterable[str]] = {}
    for place, command in _places(line, ""):
        places[place] = [CompletedWord(name, below.summary) for name, below in command.commands.items()]
        for argument in command.arguments:
            places[place] += [CompletedWord(name, argument.help, argument.takes_value) for name in argument.names]
            if argument.type in _NAMES:
                names[place] = _NAMES[argument.type]
            if argument.completions:
                values |= dict.fromkeys(argument.names, argument.completions)
    return CompletedWords(places, names, values)


def _places(command: CommandDescription, place: str) -> Iterator[tuple[str, CommandDescription]]:
    yield place, command
    for name, below in command.commands.items():
        yield from _places(below, f"{place}/{name}")
