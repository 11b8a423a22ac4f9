"""Input cut into lines: the same messages however it is cut, and printed output cut into lines of a log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.transports.stdio.line_splitter import LineSplitter
from pegboard_plugins.transports.stdio.output_log import PrintedLines


def split(chunks: list[bytes]) -> tuple[list[bytes], int]:
    splitter = LineSplitter(10)
    all_lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()
    return all_lines, len(splitter.take_refused())


@pytest.mark.parametrize(
    ("data", "lines", "refused"),
    [
        (b"\n\r\n  \n\ta \nlast", [b"a", b"last"], 0),
        (b"0123456789\n0123456789a\nb\n", [b"0123456789", b"b"], 1),
        (b"a\n" + b"x" * 40, [b"a"], 1),
    ],
)
def test_lines_up_to_the_limit_are_found(data: bytes, lines: list[bytes], refused: int) -> None:
    assert split([data]) == (lines, refused)


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"0123456789", b"0123456789+"])), st.data())
def test_chunks_make_no_difference(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + data.draw(st.sampled_from([b"\n", b" \n"])) for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(chunks) == split([stream])


def test_printed_lines_are_fit_for_a_terminal_and_do_not_mix() -> None:
    lines = PrintedLines()
    printed = "tab\tstays\r\n\n\r\n10%\r20%\n\u202eright to left\n".encode() + b"\xff\x1b[31mred\n"
    records = lines.add("one", ("a",), printed + b"from ")
    shown = ["tab\tstays", "10%\\r20%", "\\u202eright to left", "\\xff\\x1b[31mred"]
    assert [str(line) for line in records] == shown
    lines.add("two", ("b",), b"of b")
    (line,) = lines.add("one", ("b",), b"a\n")
    assert (str(line), line.names) == ("from a", ("a",))
    lines.add("one", ("a",), b"of a")
    assert [str(line) for line in lines.finish(running=("a",))] == ["of b"]
    assert [str(line) for line in lines.finish()] == ["of a"]
