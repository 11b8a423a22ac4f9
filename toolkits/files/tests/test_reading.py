"""Reading: lines, offsets, bytes, encodings, and how to go on after as much as fits."""

import codecs
import re
from base64 import b64decode
from pathlib import Path

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


def test_a_small_file_comes_back_as_it_is(root: Path, roots: Roots) -> None:
    (root / "a").write_text("one\ntwo\n\nfour")
    assert lines(roots, "a") == "one\ntwo\n\nfour"


def test_an_empty_file_says_so(root: Path, roots: Roots) -> None:
    (root / "a").write_text("")
    (root / "marked").write_bytes(codecs.BOM_UTF8)
    for path, start in (("a", 1), ("a", -5), ("marked", 1), ("marked", -5)):
        assert lines(roots, path, start) == "[The file is empty.]"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 1, "1\n"),
        (2, 3, "2\n3\n"),
        (4, None, "4\n5"),
        (5, 5, "5"),
        (4, 99, "4\n5"),
        (-1, None, "5"),
        (-2, None, "4\n5"),
        (-99, None, "1\n2\n3\n4\n5"),
    ],
)
def test_a_range_of_lines(root: Path, roots: Roots, start: int, end: int | None, expected: str, encoding: str) -> None:
    (root / "a").write_bytes("1\n2\n3\n4\n5".encode(encoding))
    assert lines(roots, "a", start, end, encoding) == expected


def test_the_last_lines_of_a_file_that_ends_with_a_line_end(root: Path, roots: Roots) -> None:
    (root / "a").write_text("1\n2\n3\n")
    assert lines(roots, "a", -2) == "2\n3\n"


@pytest.mark.parametrize(("content", "count"), [("1\n2\n3", 3), ("1\n2\n3\n", 3)])
def test_a_line_after_the_end_says_how_many_there_are(root: Path, roots: Roots, content: str, count: int) -> None:
    (root / "a").write_text(content)
    with pytest.raises(FileProblem, match=f"'a' has {count} lines: line 4 does not exist"):
        lines(roots, "a", 4)


@pytest.mark.parametrize(("start", "end"), [(0, None), (3, 2), (-2, 5)])
def test_a_range_that_makes_no_sense_is_refused(root: Path, roots: Roots, start: int, end: int | None) -> None:
    (root / "a").write_text("1\n2\n")
    with pytest.raises(FileProblem, match="count from 1"):
        lines(roots, "a", start, end)


def test_line_numbers(root: Path, roots: Roots) -> None:
    (root / "a").write_text("one\ntwo\u2028still two\nthree\n")
    assert lines(roots, "a", 2, numbers=True) == "     2\ttwo\u2028still two\n     3\tthree\n"
    assert lines(roots, "a", -1, numbers=True) == "     3\tthree\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_a_large_file_is_read_to_its_end_by_following_the_notes(root: Path, roots: Roots, encoding: str) -> None:
    whole = "".join(f"line {number} with some text\n" for number in range(1, 200))
    (root / "a").write_bytes(whole.encode(encoding))
    collected, start = "", 1
    for _ in range(100):
        text = lines(roots, "a", start, encoding=encoding)
        assert len(text) < BUDGET + 200
        found = re.search(r"\[Lines (\d+) to (\d+) of a file of \d+ bytes\. Continue with start_line=(\d+)\.\]$", text)
        collected += text[: found.start()] if found else text
        if not found:
            break
        assert int(found[1]) == start
        assert int(found[3]) == int(found[2]) + 1
        start = int(found[3])
    assert collected == whole


def test_a_long_line_is_read_to_its_end_by_offset(root: Path, roots: Roots) -> None:
    whole = "äöü€" * 1000
    (root / "a").write_text("first\n" + whole + "\nlast\n")
    text = lines(roots, "a", 2)
    collected = ""
    for _ in range(100):
        found = re.search(r"\n\[.*?(?:Continue with offset=(\d+)\.|the end of the file\.)\]$", text)
        assert found
        collected += text[: found.start()]
        if found[1] is None:
            break
        text = read_window(roots.locate("a"), int(found[1]), "", BUDGET)
    assert collected == whole + "\nlast"


def test_lines_before_a_long_one_come_first(root: Path, roots: Roots) -> None:
    (root / "a").write_text("first\n" + "x" * 5000 + "\n")
    assert lines(roots, "a") == "first\n[Lines 1 to 1 of a file of 5007 bytes. Continue with start_line=2.]"
    note = "The beginning of line 2, which is too long for one answer. Continue with offset=1006."
    assert lines(roots, "a", 2) == "x" * 1000 + f"\n[{note}]"


def test_a_line_that_fits_exactly_is_whole(root: Path, roots: Roots) -> None:
    (root / "a").write_text("x" * (BUDGET - 1) + "\n")
    assert lines(roots, "a") == "x" * (BUDGET - 1) + "\n"


def test_the_last_lines_of_a_large_file(root: Path, roots: Roots) -> None:
    (root / "a").write_text("".join(f"line {number}\n" for number in range(1, 100_001)))
    assert lines(roots, "a", -2, numbers=True) == " 99999\tline 99999\n100000\tline 100000\n"
    text = lines(roots, "a", -500)
    assert text.startswith("line 99")
    assert text.endswith("line 100000\n[Lines 99911 to 100000, the end of the file; more did not fit.]")


def test_the_last_line_may_be_too_long(root: Path, roots: Roots) -> None:
    (root / "a").write_text("first\n" + "x" * 5000)
    with pytest.raises(FileProblem, match=r"last line of 'a' is too long for one result: read it with offset=4006"):
        lines(roots, "a", -1)


def test_line_ends_are_shown_as_line_feeds(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"one\r\ntwo\r\n")
    assert lines(roots, "a") == "one\ntwo\n"
    assert read_window(roots.locate("a"), 0, "", BUDGET) == "one\ntwo\n[Bytes 0 to 10, the end of the file.]"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_mark_at_the_beginning_decides(root: Path, roots: Roots, mark: bytes, encoding: str) -> None:
    (root / "a").write_bytes(mark + "é\n€\n\u0a0a\n".encode(encoding))
    for asked in ("", encoding, encoding.rpartition("-")[0] if encoding != "utf-8" else "utf-8-sig"):
        assert lines(roots, "a", encoding=asked) == "é\n€\n\u0a0a\n"
    assert lines(roots, "a", 2, 2) == "€\n"
    assert read_window(roots.locate("a"), 0, "", BUDGET).startswith("é\n€\n")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "gb18030", "utf-16-be", "cp037"])
def test_an_encoding_that_is_asked_for(root: Path, roots: Roots, encoding: str) -> None:
    text = "ソ表\nabc\n" if encoding in ("shift_jis", "gb18030") else "é\nabc\n"
    (root / "a").write_bytes(text.encode(encoding))
    assert lines(roots, "a", encoding=encoding) == text
    assert lines(roots, "a", 2, encoding=encoding) == "abc\n"
    assert lines(roots, "a", -1, encoding=encoding) == "abc\n"


def test_text_that_is_not_utf_8_says_where_and_what_to_try(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"caf\xe9\n")
    with pytest.raises(FileProblem, match=r"'a' is not valid utf-8 \(byte 0xe9 at offset 3\)\. Try encoding='cp1252'"):
        lines(roots, "a")
    (root / "b").write_bytes(b"ok\n" * 10 + b"caf\xe9\n")
    assert lines(roots, "b", 1, 10) == "ok\n" * 10
    with pytest.raises(FileProblem, match="at offset 33"):
        lines(roots, "b", 11)


def test_what_is_binary_says_so(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"\x7fELF\x02\x01\x00\x00\x01\x02\x03\x00")
    with pytest.raises(FileProblem, match="'a' is not text because it contains NUL bytes"):
        lines(roots, "a")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_guessed(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_bytes("some plain text\n".encode(encoding))
    with pytest.raises(FileProblem, match=f"try encoding='{encoding}'"):
        lines(roots, "a")
    assert lines(roots, "a", encoding=encoding) == "some plain text\n"


@pytest.mark.parametrize(
    "encoding",
    [
        "no-such",
        "hex",
        "rot13",
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "undefined",
        "utf-7",
        "a\0b",
    ],
)
def test_what_is_no_text_encoding_is_refused(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_text("a")
    with pytest.raises(FileProblem, match="is not a text encoding"):
        lines(roots, "a", encoding=encoding)


def test_text_from_an_offset_begins_and_ends_between_characters(root: Path, roots: Roots) -> None:
    (root / "a").write_text("€€€€€")
    assert read_window(roots.locate("a"), 1, "", 7) == "€\n[Bytes 3 to 6 of 15. Continue with offset=6.]"
    (root / "wide").write_bytes(codecs.BOM_UTF16_LE + "abc𝄞".encode("utf-16-le"))
    assert read_window(roots.locate("wide"), 3, "", 8) == "abc\n[Bytes 2 to 8 of 12. Continue with offset=8.]"


def test_text_from_an_offset_after_the_end_is_refused(root: Path, roots: Roots) -> None:
    (root / "a").write_text("abc")
    with pytest.raises(FileProblem, match="'a' has 3 bytes: use an offset below that"):
        read_window(roots.locate("a"), 3, "", BUDGET)


def test_bytes(root: Path, roots: Roots) -> None:
    data = bytes(range(256)) * 10
    (root / "a").write_bytes(data)
    place = roots.locate("a")
    assert read_bytes(place, 0, 5000) == {
        "path": "a",
        "offset": 0,
        "length": 2560,
        "size": 2560,
        "data": read_bytes(place, 0, 2560)["data"],
    }
    collected, offset = b"", 0
    for _ in range(10):
        part = read_bytes(place, offset, 1000)
        collected += b64decode(part["data"], validate=True)
        if "next_offset" not in part:
            break
        offset = part["next_offset"]
    assert collected == data


def test_bytes_after_the_end_are_refused(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"abc")
    assert read_bytes(roots.locate("a"), 3, 10)["length"] == 0
    with pytest.raises(FileProblem, match="'a' has 3 bytes"):
        read_bytes(roots.locate("a"), 4, 10)


def test_a_file_whose_size_is_not_told_is_read() -> None:
    place = Roots(["/proc"]).locate("sys/kernel/ostype")
    assert read_lines(place, (1, None), "", BUDGET, Watch()) == "Linux\n"
    assert b64decode(read_bytes(place, 0, 100)["data"]) == b"Linux\n"


def test_a_cancelled_call_stops_looking_for_a_far_line(root: Path, roots: Roots) -> None:
    (root / "a").write_text("x\n" * 10_000)
    for start in (9_000, -1):
        with pytest.raises(Cancelled):
            read_lines(roots.locate("a"), (start, None), "", BUDGET, Watch(cancelled=lambda: True))
