"""Printing: data to stdout, talk to stderr, nothing in either that a terminal would obey, no secrets but in results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pegboard.cli.standard_streams import OutputDiversion
from pegboard.errors import MCPError


class OutputError(MCPError):
    """Standard output cannot be written."""


@contextmanager
def diverted() -> Iterator[None]:
    """While plugins and tools run, what they print goes to stderr: stdout is for data."""
    output = OutputDiversion()
    output.divert()
    try:
        yield
    finally:
        output.restore()


_receiver: Callable[[str, int], None] | None = None


def send_messages_to(receiver: Callable[[str, int], None]) -> None:
    """Have `say` call this instead, with the text and its level."""
    global _receiver  # noqa: PLW0603 - the standard streams of a process are one, too
    _receiver = receiver


def say(text: str, level: int = 20) -> None:
    """Talk to the person, on stderr. A stderr that cannot be written stops nothing.

    Args:
        text: the text.
        level: how serious it is, as in `logging`.
    """
    if _receiver is not None:
        _receiver(text, level)
    elif sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"pegboard: {printable(_redacted(text))}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Data for programs."""
    _print_json(value, _redacted)


def print_result_json(value: Any) -> None:
    """What a tool gave, for programs: as it is."""
    _print_json(value, str)


def _print_json(value: Any, told: Callable[[str], str]) -> None:
    import json

    from pegboard.wire.codec import encode

    text = told(json.dumps(json.loads(encode(value)), indent=2, ensure_ascii=not _speaks_unicode()))
    _write("".join(char if printable(char) == char else json.dumps(char)[1:-1] for char in text))


def print_text(text: str) -> None:
    """Data for people: what a terminal would obey is shown escaped."""
    _write(printable(_redacted(text)))


def print_lines(lines: Iterable[str]) -> None:
    """Lines for people: each stays one line."""
    print_text("\n".join(printable(line).replace("\n", r"\n") for line in lines))


def print_result(text: str) -> None:
    """Text that a tool gave: to a terminal as `print_text`, to a file or another program as it is."""
    _write(printable(text) if sys.stdout is not None and sys.stdout.isatty() else text)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in columns as wide as they need to be; the last column runs free."""
    shown = [[printable(_redacted(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]) - 1)] if shown else []
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        _write("  ".join([*cells, row[-1]]).rstrip())


def _redacted(text: str) -> str:
    """Without the secrets of the host that was made, if one was."""
    redaction = sys.modules.get("pegboard.secrets.redaction")
    return text if redaction is None else str(redaction.redacted(text))


def printable(text: str) -> str:
    """Escape every character that controls a terminal or is not seen. Line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    from pegboard.messages.texts import escape_invisible as escaped

    return escaped(text, kept="\n\t")


def first_line(text: str) -> str:
    """The first line of a description."""
    return text.strip().split("\n", 1)[0]


def _write(text: str) -> None:
    if sys.stdout is None:
        return  # closed before we began
    encoding = sys.stdout.encoding or "ascii"
    with _told():
        print(text.encode(encoding, "backslashreplace").decode(encoding))


def flush() -> None:
    """Hand over what was printed so far.

    Raises:
        BrokenPipeError: whoever read it has gone.
        OutputError: it cannot be written.
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
