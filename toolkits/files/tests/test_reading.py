"""Reading: lines, offsets, bytes, encodings, and how to go on after as much as fits."""

import codecs
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from toolkit_files.problems import Cancelled, FileProblem
from toolkit_files.reading import read_bytes, read_lines, read_window
from toolkit_files.roots import Roots
from toolkit_files.watch import Watch

BUDGET = 1000


def lines(
    roots: Roots, path: str, start: int = 1, end: int | None = None, encoding: str = "", *, numbers: bool = False
) -> str:
    return read_lines(roots.locate(path), (start, end), encoding, BUDGET, Watch(), numbers=numbers)


def test_an_empty_file_says_so(root: Path, roots: Roots) -> None:
    (root / "a").write_text("")
    (root / "marked").write_bytes(codecs.BOM_UTF8)
    for path in ("a", "marked"):
        assert lines(roots, path) == lines(roots, path, -5) == "[The file is empty.]"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(1, None, "1\n2\n3\n4\n"), (2, 3, "2\n3\n"), (4, 99, "4\n"), (-2, None, "3\n4\n"), (-99, None, "1\n2\n3\n4\n")],
)
def test_a_range_of_lines(root: Path, roots: Roots, start: int, end: int | None, expected: str, encoding: str) -> None:
    (root / "a").write_bytes("1\n2\n3\n4\n".encode(encoding))
    assert lines(roots, "a", start, end, encoding) == expected
    (root / "a").write_bytes("1\n2\n3\n4".encode(encoding))
    assert lines(roots, "a", start, end, encoding) == (expected[:-1] if expected.endswith("4\n") else expected)


def test_a_position_after_the_end_is_rejected_with_the_length(root: Path, roots: Roots) -> None:
    (root / "a").write_text("1\n2\n3\n")
    with pytest.raises(FileProblem, match="'a' has 3 lines: line 4 does not exist"):
        lines(roots, "a", 4)
    with pytest.raises(FileProblem, match="is not within the 6 bytes of 'a': use a smaller offset"):
        read_window(roots.locate("a"), 6, "", BUDGET)
    assert read_bytes(roots.locate("a"), 6, 10)["length"] == 0
    with pytest.raises(FileProblem, match="Offset 7 is not within the 6 bytes of 'a'"):
        read_bytes(roots.locate("a"), 7, 10)


@pytest.mark.parametrize(("start", "end"), [(0, None), (3, 2), (-2, 5)])
def test_a_range_that_makes_no_sense_is_refused(root: Path, roots: Roots, start: int, end: int | None) -> None:
    (root / "a").write_text("1\n2\n")
    with pytest.raises(FileProblem, match="Invalid line range"):
        lines(roots, "a", start, end)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_a_large_file_is_read_to_its_end_by_following_the_notes(root: Path, roots: Roots, encoding: str) -> None:
    whole = "".join(f"line {number} with some text\n" for number in range(1, 200))
    (root / "a").write_bytes(whole.encode(encoding))
    collected, start = "", 1
    for _ in range(100):
        text = lines(roots, "a", start, encoding=encoding)
        assert len(text) < BUDGET + 200
        match = re.search(r"\[Lines (\d+) to (\d+) of a file of \d+ bytes\. Continue with start_line=(\d+)\.\]$", text)
        collected += text[: match.start()] if match else text
        if not match:
            break
        assert int(match[1]) == start
        assert int(match[3]) == int(match[2]) + 1
        start = int(match[3])
    assert collected == whole


def test_a_long_line_is_read_to_its_end_by_offset(root: Path, roots: Roots) -> None:
    whole = "äöü€" * 1000
    (root / "a").write_text("first\n" + whole + "\nlast\n")
    text = lines(roots, "a", 2)
    collected = ""
    for _ in range(100):
        match = re.search(r"\n\[.*?(?:Continue with offset=(\d+)\.|the end of the file\.)\]$", text)
        assert match
        collected += text[: match.start()]
        if match[1] is None:
            break
        text = read_window(roots.locate("a"), int(match[1]), "", BUDGET)
    assert collected == whole + "\nlast"


def test_lines_before_a_long_one_come_first(root: Path, roots: Roots) -> None:
    (root / "a").write_text("first\n" + "x" * 5000 + "\n")
    assert lines(roots, "a") == "first\n[Lines 1 to 1 of a file of 5007 bytes. Continue with start_line=2.]"
    note = "The beginning of line 2, which is too long for one answer. Continue with offset=1006."
    assert lines(roots, "a", 2) == "x" * 1000 + f"\n[{note}]"
    (root / "exact").write_text("x" * (BUDGET - 1) + "\n")
    assert lines(roots, "exact") == "x" * (BUDGET - 1) + "\n"


def test_the_last_lines_of_a_large_file(root: Path, roots: Roots) -> None:
    (root / "a").write_text("".join(f"line {number}\r\n" for number in range(1, 100_001)), newline="")
    assert lines(roots, "a", -2, numbers=True) == " 99999\tline 99999\n100000\tline 100000\n"
    text = lines(roots, "a", -500)
    assert text.startswith("line 99")
    assert text.endswith("line 100000\n[Lines 99918 to 100000, the end of the file; more did not fit.]")
    (root / "b").write_text("first\n" + "x" * 5000)
    with pytest.raises(FileProblem, match=r"last line of 'b' is too long for one result: read it with offset=4006"):
        lines(roots, "b", -1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_selects_the_encoding(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_bytes("é\n€\n\u0a0a\n".encode(encoding))
    for chosen in ("", encoding):
        assert lines(roots, "a", encoding=chosen) == "é\n€\n\u0a0a\n"
    assert lines(roots, "a", 2, 2) == "€\n"
    assert read_window(roots.locate("a"), 0, "", BUDGET).startswith("é\n€\n")
    (root / "b").write_bytes(codecs.BOM_UTF16_BE + "é\n".encode("utf-16-be"))
    assert lines(roots, "b") == "é\n"


@pytest.mark.parametrize(("encoding", "first"), [("cp1252", "é"), ("shift_jis", "ソ表"), ("cp037", "é")])
def test_a_chosen_encoding(root: Path, roots: Roots, encoding: str, first: str) -> None:
    (root / "a").write_bytes(f"{first}\nabc\n".encode(encoding))
    assert lines(roots, "a", encoding=encoding) == f"{first}\nabc\n"
    assert lines(roots, "a", -1, encoding=encoding) == "abc\n"


def test_text_that_is_not_utf_8_says_where_and_what_to_try(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"caf\xe9\n")
    with pytest.raises(FileProblem, match=r"'a' is not valid utf-8 \(byte 0xe9 at offset 3\)\. Try encoding='cp1252'"):
        lines(roots, "a")
    (root / "b").write_bytes(b"ok\n" * 10 + b"caf\xe9\n")
    assert lines(roots, "b", 1, 10) == "ok\n" * 10
    with pytest.raises(FileProblem, match="at offset 33"):
        lines(roots, "b", 11)


def test_a_binary_file_is_rejected_and_utf_16_is_guessed(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"\x7fELF\x02\x01\x00\x00\x01\x02\x03\x00")
    with pytest.raises(FileProblem, match="'a' is not text because it contains NUL bytes"):
        lines(roots, "a")
    for encoding in ("utf-16-le", "utf-16-be"):
        (root / "a").write_bytes("some plain text\n".encode(encoding))
        with pytest.raises(FileProblem, match=f"try encoding='{encoding}'"):
            lines(roots, "a")
        assert lines(roots, "a", encoding=encoding) == "some plain text\n"


@pytest.mark.parametrize("encoding", ["no-such", "hex", "idna", "unicode_escape", "undefined", "utf-7", "a\0b"])
def test_an_unsafe_encoding_is_rejected(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_text("a")
    with pytest.raises(FileProblem, match="is not a text encoding"):
        lines(roots, "a", encoding=encoding)


def test_bytes_are_read_to_the_end_by_following_next_offset(root: Path, roots: Roots) -> None:
    data = bytes(range(256)) * 10
    (root / "a").write_bytes(data)
    collected = b""
    offset: int | None = 0
    while offset is not None:
        part: Any = read_bytes(roots.locate("a"), offset, 1000)
        assert (part["path"], part["offset"], part["size"]) == ("a", offset, 2560)
        collected += b64decode(part["data"], validate=True)
        offset = part.get("next_offset")
    assert collected == data


def test_a_file_whose_size_is_not_told_is_read() -> None:
    place = Roots(["/proc"]).locate("sys/kernel/ostype")
    assert read_lines(place, (1, None), "", BUDGET, Watch()) == "Linux\n"
    assert b64decode(read_bytes(place, 0, 100)["data"]) == b"Linux\n"


def test_a_cancelled_call_stops_looking_for_a_far_line(root: Path, roots: Roots) -> None:
    (root / "a").write_text("x\n" * 10_000)
    for start in (9_000, -1):
        with pytest.raises(Cancelled):
            read_lines(roots.locate("a"), (start, None), "", BUDGET, Watch(cancelled=lambda: True))
