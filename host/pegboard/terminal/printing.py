"""Printed output: data on stdout, messages on stderr. Control characters are escaped and secrets are masked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pegboard.errors import MCPError
from pegboard.terminal.standard_streams import OutputDiversion
from pegboard.wire.codec import encode


class OutputError(MCPError):
    """Standard output cannot be written."""


@contextmanager
def diverted() -> Iterator[None]:
    """Redirect to stderr what plugins and tools print. Stdout is for data."""
    output = OutputDiversion()
    output.divert()
    try:
        yield
    finally:
        output.restore()


def tool_count(number: int) -> str:
    """Return a number of tools in words, such as "1 tool" or "2 tools"."""
    return "1 tool" if number == 1 else f"{number} tools"


_receiver: Callable[[str, int], None] | None = None


def send_messages_to(receiver: Callable[[str, int], None] | None) -> None:
    """Redirect messages of `say` to a function that receives the message and its level; None ends this."""
    global _receiver  # noqa: PLW0603 - the standard streams of a process are global, too
    _receiver = receiver


def say(text: str, level: int = 20) -> None:
    """Print a message on stderr. Places in files below the working directory are relative to it. Ignore write errors.

    Args:
        text: the message.
        level: its level, as in `logging`.
    """
    if _receiver is not None:
        _receiver(text, level)
    elif sys.stderr is not None:
        clear_progress()
        with suppress(OSError, ValueError):
            print(f"pegboard: {printable(_redacted(_near(text)))}", file=sys.stderr)


def _near(text: str) -> str:
    try:
        return text.replace(f"({os.getcwd()}{os.sep}", "(")
    except OSError:  # the working directory was removed
        return text


def is_interactive() -> bool:
    """Return True if a user can answer questions at a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def clear_progress() -> None:
    """Erase the progress bar, if one is shown."""
    if bar := sys.modules.get("pegboard.terminal.progress_bar"):
        bar.clear()


def print_json(value: Any, *, in_one_line: bool = False) -> None:
    """Print data for programs."""
    _print_json(value, _redacted, None if in_one_line else 2)


def print_result_json(value: Any, *, in_one_line: bool = False) -> None:
    """Print the result of a tool for programs. Secrets are not masked."""
    _print_json(value, str, None if in_one_line else 2)


def _print_json(value: Any, convert: Callable[[str], str], indent: int | None) -> None:
    import json

    text = convert(json.dumps(json.loads(encode(value)), indent=indent, ensure_ascii=not _speaks_unicode()))
    write_data("".join(char if printable(char) == char else json.dumps(char)[1:-1] for char in text))


def print_text(text: str) -> None:
    """Print data for people. Control characters are escaped."""
    write_data(printable(_redacted(text)))


def agreed(question: str) -> bool:
    """Ask a person at the terminal, and return True for yes. Every other answer means no."""
    print(f"pegboard: {printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people. A line break within a line is escaped."""
    print_text("\n".join(printable(line).replace("\n", r"\n") for line in lines))


def print_result(text: str) -> None:
    """Print text of a tool. Control characters are escaped at a terminal only."""
    write_data(printable(text) if sys.stdout is not None and sys.stdout.isatty() else text)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns. The last column is not padded, and may have several lines.

    At a terminal, it is broken at words.
    """
    from pegboard.terminal.fitted_lines import fitted

    shown = [[printable(_redacted(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]) - 1)] if shown else []
    for *start, last in shown:
        before = "".join(f"{cell:{width}}  " for cell, width in zip(start, widths, strict=True))
        first, *others = last.splitlines() or [""]
        for line in (before + first, *(" " * len(before) + other for other in others)):
            for fitting in fitted(line.rstrip(), len(before)):
                write_data(fitting)


def _redacted(text: str) -> str:
    """Return a string with the secrets of the host masked, if a host was created."""
    redaction = sys.modules.get("pegboard.secrets.redaction")
    return text if redaction is None else str(redaction.redacted(text))


def printable(text: str) -> str:
    """Escape control characters and invisible characters. Line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    from pegboard.messages.texts import escape_invisible as escaped

    return escaped(text, kept="\n\t")


def first_line(text: str) -> str:
    """Return the first line of a description."""
    return text.strip().split("\n", 1)[0]


def write_data(text: str) -> None:
    """Write a line of data for `print_json` and similar functions, which mask secrets."""
    if sys.stdout is None:
        return  # it was closed before the start
    encoding = sys.stdout.encoding or "ascii"
    with _told():
        print(text.encode(encoding, "backslashreplace").decode(encoding))


def flush() -> None:
    """Flush stdout.

    Raises:
        BrokenPipeError: the reader of stdout is gone.
        OutputError: stdout cannot be written.
    """
    if sys.stdout is not None:
        with _told():
            sys.stdout.flush()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}") from error


def _speaks_unicode() -> bool:
    return sys.stdout is not None and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


# --- The error of an invalid command line.


class UsageError(MCPError):
    """The command line is invalid.

    Args:
        message: the problem and its fix.
        suggestion: the nearest valid name, if any.
        program: the command with help for the arguments, or "" if the message is enough.
    """

    def __init__(self, message: str, suggestion: str | None = None, program: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion
        self.program = program
