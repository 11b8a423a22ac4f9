"""Searching: what is found, in which order, how much of it, and how to go on."""

from pathlib import Path
from typing import Any

import pytest

from toolkit_files.answers import Match, Matches
from toolkit_files.listing import fitting
from toolkit_files.patterns import Globs
from toolkit_files.problems import Cancelled, FileProblem
from toolkit_files.roots import Roots
from toolkit_files.searching import Needle, Position, Search
from toolkit_files.walking import Walk
from toolkit_files.watch import Watch


def search(
    roots: Roots,
    text: str,
    *,
    regex: bool = False,
    ignore_case: bool = False,
    around: int = 0,
    most: int = 100,
    budget: int = 100_000,
    resume: str = "",
    watch: Watch | None = None,
    files: str = "",
    **walk: Any,
) -> Matches:
    watch = watch or Watch()
    begin = Position.parse(resume)
    needle = (Needle.regex if regex else Needle.text)(text, ignore_case=ignore_case)
    walker = Walk(roots, roots.locate("."), watch, after=begin.names, again=begin.line >= 0, **walk)
    return Search(needle, watch, around=around, most=most, budget=budget, begin=begin).run(
        walker, fitting(walker, files, kind="file")
    )


def places(result: Matches) -> list[tuple[str, int]]:
    return [(match["path"], match["line"]) for match in result["matches"]]


def test_lines_that_hold_a_text(root: Path, roots: Roots) -> None:
    (root / "b.txt").write_text("one\nneedle (1)\ntwo\nthe needle (1) again")
    (root / "a").mkdir()
    (root / "a/c.txt").write_bytes(b"needle (1)\r\nnot\r\n")
    (root / "d.txt").write_text("Needle (1)\n")
    assert search(roots, "needle (1)") == {
        "matches": [
            {"path": "a/c.txt", "line": 1, "text": "needle (1)"},
            {"path": "b.txt", "line": 2, "text": "needle (1)"},
            {"path": "b.txt", "line": 4, "text": "the needle (1) again"},
        ],
        "files_searched": 3,
    }
    assert ("d.txt", 1) in places(search(roots, "needle (1)", ignore_case=True))


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^b", [2]),
        ("b$", [1, 3]),
        (r"b\z", [1, 3]),
        (r"(?i)BC", [2, 4]),
        (r"\bbc\b", [2]),
        (r"c\s+x", []),
        ("^$", [5]),
    ],
)
@pytest.mark.parametrize("ends", ["\r\n"])
def test_patterns_are_for_one_line_at_a_time(
    root: Path, roots: Roots, pattern: str, lines: list[int], ends: str
) -> None:
    (root / "a").write_bytes(ends.join(["a b", "bc", "xb", "abcd", "", "a"]).encode())
    assert [line for _, line in places(search(roots, pattern, regex=True))] == lines


def test_lines_around_a_match_are_given_once(root: Path, roots: Roots) -> None:
    (root / "a").write_text("".join(f"{number}{' x' if number in (4, 6, 12) else ''}\n" for number in range(1, 14)))
    assert search(roots, "x", around=2)["matches"] == [
        Match(path="a", line=4, text="4 x", before=["2", "3"], after=["5"]),
        Match(path="a", line=6, text="6 x", after=["7", "8"]),
        Match(path="a", line=12, text="12 x", before=["10", "11"], after=["13"]),
    ]


@pytest.mark.parametrize("most", [1, 2, 4])
def test_every_match_comes_once_by_following_resume(root: Path, roots: Roots, most: int) -> None:
    for name in ("a.txt", "b/a:1.txt", "b/c.txt", "d.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x\nno\nx\nx\n")
    whole = places(search(roots, "x"))
    assert len(whole) == 12
    collected: list[tuple[str, int]] = []
    resume = ""
    for _ in range(20):
        result = search(roots, "x", most=most, resume=resume)
        collected += places(result)
        if "resume" not in result:
            break
        assert "There may be more" in result["note"]
        resume = result["resume"]
    assert collected == whole


def test_an_invalid_resume_or_text_is_rejected(roots: Roots) -> None:
    for resume in ("a", ":", "x:a", "-1:a", "1:", "²:a"):
        with pytest.raises(FileProblem, match="resume must be the value from an earlier search"):
            search(roots, "x", resume=resume)
    for text in ("", "two\nlines"):
        with pytest.raises(FileProblem, match="one line"):
            search(roots, text)


def test_binary_linked_hidden_ignored_and_denied_files_are_skipped(root: Path, outside: Path) -> None:
    (root / "binary").write_bytes(b"x\0y secret\n")
    (root / ".env").write_text("secret\n")
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "directory").symlink_to(outside)
    for name in (".hidden", "node_modules", "src"):
        (root / name).mkdir()
        (root / name / "a").write_bytes(b"caf\xe9 secret\n")
    roots, ignore = Roots([str(root)], deny=[".env"]), Globs(["node_modules"])
    assert search(roots, "secret", ignore=ignore)["matches"] == [Match(path="src/a", line=1, text="caf\ufffd secret")]
    assert places(search(roots, "secret", ignore=ignore, hidden=True)) == [(".hidden/a", 1), ("src/a", 1)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_files_with_a_mark_are_searched_in_their_encoding(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_bytes("one\nnädel\n".encode(encoding))
    assert search(roots, "nädel")["matches"] == [Match(path="a", line=2, text="nädel")]
    assert places(search(roots, "^on", regex=True)) == [("a", 1)]


@pytest.mark.parametrize("regex", [False, True])
def test_a_long_line_is_cut_to_what_is_around_the_match(root: Path, roots: Roots, regex: bool) -> None:
    (root / "a").write_text("x" * 5000 + "needle" + "y" * 5000 + "\n")
    text = search(roots, "needle", regex=regex)["matches"][0]["text"]
    assert len(text) == 406
    assert text.startswith("...x")
    assert "needle" in text
    assert text.endswith("y...")


def test_a_pattern_is_found_in_every_block(root: Path, roots: Roots) -> None:
    (root / "a").write_text("".join(f"line {number}\n" for number in range(50_000)))
    assert places(search(roots, "^line 4999[0-9]$", regex=True)) == [("a", 49_991 + number) for number in range(10)]
    (root / "b").write_text("x" * 100_000 + "needle\nneedle\n")
    assert places(search(roots, "needle", regex=True)) == [("b", 1), ("b", 2)]


def test_a_search_continues_after_the_time_or_the_budget(root: Path, roots: Roots) -> None:
    for name in ("a", "b", "c"):
        (root / name).write_text("x\n")
    collected: list[tuple[str, int]] = []
    resume: str | None = ""
    while resume is not None:
        result = search(roots, "x", resume=resume, watch=Watch(seconds=2, clock=iter(range(100)).__next__))
        collected += places(result)
        resume = result.get("resume")
        assert resume is None or "The time is over." in result["note"]
    assert collected == [("a", 1), ("b", 1), ("c", 1)]
    (root / "a").write_text(("x" * 100 + "\n") * 50)
    assert search(roots, "x", budget=1000)["resume"] == "10:a"


def test_a_file_too_large_for_the_time_is_left_out_and_named(root: Path, roots: Roots) -> None:
    (root / "a").write_text("y\n" * 100_000 + "x\n")
    (root / "b").write_text("x\n")
    result = search(roots, "x", regex=True, watch=Watch(seconds=3, clock=iter(range(100)).__next__))
    assert result["matches"] == []
    assert "'a' is too large" in result["note"]
    assert places(search(roots, "x", resume=result["resume"])) == [("b", 1)]


@pytest.mark.parametrize("regex", [False, True])
def test_a_match_is_found_across_the_pieces_of_a_long_line(root: Path, roots: Roots, regex: bool) -> None:
    piece = (Needle.regex if regex else Needle.text)("x").piece
    for before in ("", "first\n", "first\nsecond\n"):
        (root / "a").write_text(before + "x" * (2 * piece - (16 if regex else 3)) + "needle" + "x" * 100 + "\n")
        assert places(search(roots, "needle", regex=regex)) == [("a", before.count("\n") + 1)]


def test_a_cancelled_search_ends_even_inside_one_file(root: Path, roots: Roots) -> None:
    (root / "a").write_text("y\n" * 100_000)
    with pytest.raises(Cancelled):
        search(roots, "x", watch=Watch(cancelled=lambda: True))
