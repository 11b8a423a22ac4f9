"""Commands that plugins add to `pegboard`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    pass


class Command(NamedTuple):
    """A command of `pegboard`.

    Attributes:
        name: what is typed.
        summary: what it does, in one line.
        run: given the options that were typed, gives what is printed, "" for nothing. An `MCPError` ends it with its
            message and the exit code 1.
        arguments: names such as "file" or "--seconds", each with what `argparse.ArgumentParser.add_argument` is told.
        examples: lines that work.
    """

    name: str
    summary: str
    run: Callable[[Any], str]
    arguments: Sequence[tuple[str, Mapping[str, Any]]] = ()
    examples: Sequence[str] = ()
