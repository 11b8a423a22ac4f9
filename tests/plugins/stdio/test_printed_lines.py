"""Lines of output that comes in pieces: whose they are, and how they look in a log."""

from __future__ import annotations

import pytest

from pegboard_plugins.stdio.printed_lines import MAX_LINE_BYTES, PrintedLines

A, B = ("a",), ("b",)


def shown(data: bytes) -> list[str]:
    lines = PrintedLines()
    return [str(line) for line in lines.add(1, A, data) + lines.finish()]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("grüße".encode(), "grüße"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("\u202eright to left".encode(), "\\u202eright to left"),
        (b"tab\tstays\r", "tab\tstays"),
        (b"10%\r20%", "10%\\r20%"),
    ],
)
def test_a_line_is_fit_for_a_terminal(data: bytes, text: str) -> None:
    assert shown(data + b"\n") == [text]


def test_a_long_line_is_cut_and_its_size_told() -> None:
    assert shown(b"x" * MAX_LINE_BYTES) == ["x" * MAX_LINE_BYTES]
    assert shown(b"x" * 100_000) == ["x" * MAX_LINE_BYTES + "... (100000 bytes)"]


def test_empty_lines_do_not_count() -> None:
    assert shown(b"\n\r\na\n\n") == ["a"]


def test_sources_do_not_mix() -> None:
    lines = PrintedLines()
    assert lines.add("one", A, b"from ") == []
    assert lines.add("two", B, b"other\n")[0].names == B
    (line,) = lines.add("one", B, b"a\n")
    assert (str(line), line.names) == ("from a", A)


def test_incomplete_lines_end_with_their_tool() -> None:
    lines = PrintedLines()
    lines.add("one", A, b"of a")
    lines.add("two", B, b"of b")
    assert [str(line) for line in lines.finish(running=A)] == ["of b"]
    assert [str(line) for line in lines.finish()] == ["of a"]
    assert lines.finish() == []
