"""Cutting input into lines: whatever the chunks, the same messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard_plugins.stdio.line_splitter import LineSplitter

LIMIT = 10


def split(chunks: list[bytes], limit: int = LIMIT) -> tuple[list[bytes], int]:
    splitter = LineSplitter(limit)
    found = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()
    return found, len(splitter.take_refused())


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\n\r\n  \n\ta \n", [b"a"]),
        (b"a\nlast", [b"a", b"last"]),
    ],
)
def test_lines_are_found(data: bytes, lines: list[bytes]) -> None:
    assert split([data]) == (lines, 0)


def test_a_line_of_exactly_the_limit_passes_and_a_longer_one_does_not() -> None:
    assert split([b"0123456789\n0123456789a\nb\n"]) == ([b"0123456789", b"b"], 1)


def test_a_long_line_is_refused_while_it_comes_and_forgotten() -> None:
    splitter = LineSplitter(LIMIT)
    assert splitter.feed(b"x" * 11) == []
    for _ in range(3):
        assert splitter.feed(b"x" * 100) == []
    assert splitter.take_refused() == []
    assert splitter.feed(b"xx\nnext\n") == [b"next"]
    assert len(splitter.take_refused()) == 1


def test_a_long_last_line_is_refused_once() -> None:
    assert split([b"a\n", b"x" * 20, b"x" * 20]) == ([b"a"], 1)


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"0123456789", b"0123456789+"])), st.data())
def test_chunks_make_no_difference(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + data.draw(st.sampled_from([b"\n", b" \n"])) for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(chunks) == split([stream])
