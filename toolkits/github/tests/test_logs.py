"""The end of a log: pieces of any size, lines of any length."""

from __future__ import annotations

import pytest

from toolkit_github.logs import Tail


def read(
    data: bytes, *, size: int = 7, lines: int = 100, contains: str = "", around: int = 0, chars: int = 1000
) -> Tail:
    tail = Tail(lines, contains, around, chars)
    for start in range(0, len(data), size):
        tail.feed(data[start : start + size])
    return tail


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_pieces_may_end_anywhere(size: int) -> None:
    text = "one ü\ntwo 世\r\n\nfour"
    tail = read(text.encode(), size=size)
    assert tail.end() == ("one ü\ntwo 世\n\nfour", 4)
    assert (tail.total, tail.size) == (4, len(text.encode()))


def test_the_last_lines_are_kept() -> None:
    tail = read(b"".join(b"%d\n" % number for number in range(1000)), lines=3)
    assert tail.end() == ("997\n998\n999", 3)
    assert tail.total == 1000


def test_the_last_characters_are_kept_in_whole_lines() -> None:
    assert read(b"aaaa\nbbbb\ncccc\n", chars=10).end() == ("bbbb\ncccc", 2)
    assert read(b"aaaa\nbbbb\ncccc\n", chars=9).end() == ("cccc", 1)
    assert read(b"x" * 100, chars=10).end() == ("x" * 10, 1)
    assert read(b"").end() == ("", 0)


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    tail = Tail(2, "", 0, 1000)
    for _ in range(1000):
        tail.feed(b"x" * 10_000)
    assert len(tail._rest) <= 65_536 + 10_000
    assert sum(map(len, tail._kept)) <= 2 * 65_536
    assert tail.end()[0] == "x" * 1000


def test_lines_around_are_not_given_twice() -> None:
    data = b"".join(b"%d%s\n" % (number, b"!" if number in (3, 4, 9) else b"") for number in range(12))
    assert read(data, contains="!", around=2).end()[0].split() == [
        "1",
        "2",
        "3!",
        "4!",
        "5",
        "6",
        "7",
        "8",
        "9!",
        "10",
        "11",
    ]
    assert read(data, contains="!", around=0).end()[0].split() == ["3!", "4!", "9!"]


def test_case_does_not_matter_and_bytes_that_are_no_text_neither() -> None:
    assert read(b"\xff\xfe ERROR: stra\xc3\x9fe\nfine\n", contains="STRASSE").end() == ("\ufffd\ufffd ERROR: straße", 1)


def test_times_and_colours_are_left_out_and_what_looks_alike_stays() -> None:
    data = b"2026-01-02T03:04:05.1234567Z 2026-01-02T03:04:05.1Z \x1b[36;1mgo\x1b[0m [31m 2026-01-02\n"
    assert read(data).end()[0] == "2026-01-02T03:04:05.1Z go [31m 2026-01-02"
