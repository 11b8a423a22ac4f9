"""Listing, finding and describing: order, depth, limits and how to go on."""

import os
from pathlib import Path
from typing import Any

import pytest

from toolkit_files.listing import Found, Listed, details, find, fitting, list_directory
from toolkit_files.patterns import Globs
from toolkit_files.problems import Cancelled, FileProblem
from toolkit_files.roots import Kind, Roots
from toolkit_files.walking import Walk
from toolkit_files.watch import Watch


def make(root: Path, *paths: str) -> None:
    for path in paths:
        if path.endswith("/"):
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("x")


def listed(roots: Roots, path: str = ".", pattern: str = "", limit: int = 100, resume: str = "", **walk: Any) -> Listed:
    after = tuple(resume.split("/")) if resume else ()
    watch = walk.pop("watch", None) or Watch()
    one = Walk(roots, roots.locate(path), watch, after=after, show_ignored=True, **{"depth": 1, **walk})
    return list_directory(one, pattern, limit)


def found(
    roots: Roots,
    pattern: str,
    path: str = ".",
    kind: Kind | None = None,
    limit: int = 100,
    resume: str = "",
    **walk: Any,
) -> Found:
    after = tuple(resume.split("/")) if resume else ()
    one = Walk(roots, roots.locate(path), walk.pop("watch", None) or Watch(), after=after, **walk)
    return find(one, fitting(one, pattern, kind=kind), limit)


def paths(result: Listed) -> list[str]:
    return [entry["path"] for entry in result["entries"]]


def test_entries_come_by_name_with_type_size_and_time(root: Path, roots: Roots) -> None:
    make(root, "b.txt", "a/", "B/")
    (root / "c").symlink_to("/etc/passwd")
    os.mkfifo(root / "d")
    for name in ("b.txt", "a", "B", "d"):
        os.utime(root / name, (0, 1_700_000_000.9))
    os.utime(root / "c", (0, 0), follow_symlinks=False)
    time = "2023-11-14T22:13:20Z"
    assert listed(roots) == {
        "entries": [
            {"path": "B", "type": "directory", "modified": time},
            {"path": "a", "type": "directory", "modified": time},
            {"path": "b.txt", "type": "file", "size": 1, "modified": time},
            {"path": "c", "type": "symlink", "modified": "1970-01-01T00:00:00Z"},
            {"path": "d", "type": "other", "modified": time},
        ]
    }


def test_an_empty_directory_is_an_empty_list(roots: Roots) -> None:
    assert listed(roots) == {"entries": []}


def test_depth(root: Path, roots: Roots) -> None:
    make(root, "a/b/c/d", "a/x", "z")
    assert paths(listed(roots, depth=1)) == ["a", "z"]
    assert paths(listed(roots, depth=2)) == ["a", "a/b", "a/x", "z"]
    assert paths(listed(roots, depth=9)) == ["a", "a/b", "a/b/c", "a/b/c/d", "a/x", "z"]
    assert paths(listed(roots, "a/b", depth=2)) == ["a/b/c", "a/b/c/d"]


def test_links_are_not_entered(root: Path, roots: Roots, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    assert paths(listed(roots, depth=9)) == ["link"]
    assert found(roots, "*") == {"paths": ["link"]}


def test_hidden_names(root: Path, roots: Roots) -> None:
    make(root, ".a/b", "c/.d", "e")
    assert paths(listed(roots, depth=9)) == ["c", "e"]
    assert paths(listed(roots, depth=9, hidden=True)) == [".a", ".a/b", "c", "c/.d", "e"]


def test_what_is_ignored_is_shown_but_not_entered_in_a_list_and_absent_elsewhere(root: Path, roots: Roots) -> None:
    make(root, "node_modules/a/b", "src/node_modules/c", "src/d")
    ignore = Globs(["node_modules"])
    assert paths(listed(roots, depth=9, ignore=ignore)) == ["node_modules", "src", "src/d", "src/node_modules"]
    assert found(roots, "*", ignore=ignore) == {"paths": ["src/", "src/d"]}
    assert found(roots, "*", "node_modules", ignore=ignore) == {"paths": ["node_modules/a/", "node_modules/a/b"]}


def test_what_is_denied_is_absent(root: Path) -> None:
    make(root, "keys/a", "b/.env", "b/c")
    roots = Roots([str(root)], deny=["keys", ".env"])
    assert paths(listed(roots, depth=9, hidden=True)) == ["b", "b/c"]
    two = Roots([str(root), str(root / "b")], deny=["keys", ".env"])
    assert paths(listed(two, depth=9, hidden=True)) == ["b", "b/c"]


def test_a_glob_chooses_what_is_listed(root: Path, roots: Roots) -> None:
    make(root, "a.py", "b.txt", "c/d.py", "c/e/f.py")
    assert paths(listed(roots, pattern="*.py", depth=9)) == ["a.py", "c/d.py", "c/e/f.py"]
    assert paths(listed(roots, "c", pattern="e/*", depth=9)) == ["c/e/f.py"]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7])
def test_every_entry_comes_once_by_following_resume(root: Path, roots: Roots, limit: int) -> None:
    make(root, "a/b/c", "a/b/d", "a/e", "a-b", "a.b", "f", "g/h")
    whole = paths(listed(roots, depth=9))
    for one in ("list", "find"):
        collected: list[str] = []
        resume = ""
        for _ in range(20):
            if one == "list":
                page = listed(roots, depth=9, limit=limit, resume=resume)
                collected += paths(page)
            else:
                names = found(roots, "*", limit=limit, resume=resume)
                collected += [path.rstrip("/") for path in names["paths"]]
                page = Listed(entries=[], **{key: names[key] for key in ("note", "resume") if key in names})  # type: ignore[typeddict-item]
            if "resume" not in page:
                break
            assert f"These are {limit}" in page["note"]
            resume = page["resume"]
        assert collected == whole


def test_a_list_that_just_fits_has_no_rest(root: Path, roots: Roots) -> None:
    make(root, "a", "b")
    assert "resume" not in listed(roots, limit=2)
    assert "resume" not in found(roots, "*", limit=2)


def test_what_cannot_be_read_is_counted(root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "a/b", "c/d", "e/f")
    real = os.open

    def opening(path: Any, *args: Any, **kwargs: Any) -> int:
        if path == "c":
            raise PermissionError(13, "no")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", opening)
    result = listed(roots, depth=9)
    assert paths(result) == ["a", "a/b", "c", "e", "e/f"]
    assert result["note"] == "Directories that could not be read: 1."


def test_names_that_are_not_utf_8_are_shown_and_the_list_goes_on(root: Path, roots: Roots) -> None:
    for name in (b"a\xff", b"b", b"z\xe9"):
        (Path(os.fsdecode(os.fsencode(root) + b"/" + name))).write_text("")
    assert paths(listed(roots)) == ["a\\xff", "b", "z\\xe9"]
    assert paths(listed(roots, limit=1, resume="a\\xff")) == ["b"]
    assert found(roots, "a*") == {"paths": ["a\\xff"]}


def test_find_by_kind_and_below_a_directory(root: Path, roots: Roots) -> None:
    make(root, "src/test/test_a.py", "src/test_b.py", "test_c.py")
    assert found(roots, "test*", kind="file")["paths"] == ["src/test/test_a.py", "src/test_b.py", "test_c.py"]
    assert found(roots, "test*", kind="directory")["paths"] == ["src/test/"]
    assert found(roots, "test/*", "src")["paths"] == ["src/test/test_a.py"]


@pytest.mark.usefixtures("looking_often")
def test_a_find_without_time_goes_on_from_where_it_was(root: Path, roots: Roots) -> None:
    make(root, *(f"{number:04}" for number in range(12)))
    late = Watch(seconds=0, clock=iter(range(100)).__next__)
    first = found(roots, "*1", watch=late, limit=1000)
    assert first["resume"] == "0000"
    assert "The time is over" in first["note"]
    assert found(roots, "*1", resume=first["resume"], limit=1000)["paths"][0] == "0001"


@pytest.mark.usefixtures("looking_often")
def test_a_list_without_time_goes_on_from_where_it_was(root: Path, roots: Roots) -> None:
    make(root, *(f"{number:04}" for number in range(12)))
    late = Watch(seconds=0, clock=iter(range(100)).__next__)
    first = listed(roots, pattern="nothing*", watch=late)
    assert first["entries"] == []
    assert first["resume"] == "0000"
    assert "The time is over" in first["note"]


@pytest.mark.usefixtures("looking_often")
def test_a_cancelled_walk_ends(root: Path, roots: Roots) -> None:
    make(root, *(f"d/{number}" for number in range(12)))
    with pytest.raises(Cancelled):
        found(roots, "*", watch=Watch(cancelled=lambda: True))


def test_the_walk_knows_the_kinds(root: Path, roots: Roots, outside: Path) -> None:
    make(root, "a/", "b")
    (root / "c").symlink_to(outside)
    (root / "d").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "e")
    kinds = [entry.kind for entry in Walk(roots, roots.locate("."), Watch())]
    assert kinds == ["directory", "file", "symlink", "symlink", "other"]


def test_what_is_listed_must_be_a_directory(root: Path, roots: Roots) -> None:
    make(root, "file")
    with pytest.raises(FileProblem, match="'file' is a file, not a directory"):
        listed(roots, "file")
    with pytest.raises(FileProblem, match="'nothing' does not exist"):
        listed(roots, "nothing")


def test_a_tree_deeper_than_any_walk_says_so(root: Path, roots: Roots) -> None:
    make(root, "d/" * 120)
    walk = Walk(roots, roots.locate("."), Watch())
    assert len(list(walk)) == 100
    assert walk.too_deep


@pytest.mark.usefixtures("looking_often")
def test_progress_is_reported_while_walking(root: Path, roots: Roots) -> None:
    make(root, *(f"{number:04}" for number in range(20)))
    reports: list[tuple[int, int]] = []
    found(roots, "x", watch=Watch(report=lambda steps, files: reports.append((steps, files))))
    assert reports == [(16, 0)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"text\n", {"binary": False, "encoding": "utf-8", "line_ends": "lf"}),
        (b"a\r\nb\r\n", {"binary": False, "encoding": "utf-8", "line_ends": "crlf"}),
        (b"a\r\nb\n", {"binary": False, "encoding": "utf-8", "line_ends": "mixed"}),
        (b"one line", {"binary": False, "encoding": "utf-8"}),
        (b"\xff\xfea\0\n\0", {"binary": False, "encoding": "utf-16-le", "line_ends": "lf"}),
        ("x" * 8191 + "ä", {"binary": False, "encoding": "utf-8"}),
        (b"caf\xe9\n", {"binary": False}),
        (b"\0\1\2\3", {"binary": True}),
    ],
)
def test_what_a_file_is(root: Path, roots: Roots, content: bytes | str, expected: dict[str, object]) -> None:
    data = content.encode() if isinstance(content, str) else content
    (root / "a").write_bytes(data)
    (root / "a").chmod(0o640)
    os.utime(root / "a", (0, 0))
    assert details(roots.locate("a")) == {
        "path": "a",
        "type": "file",
        "modified": "1970-01-01T00:00:00Z",
        "permissions": "-rw-r-----",
        "size": len(data),
        **expected,
    }


def test_what_other_things_are(root: Path, roots: Roots, outside: Path) -> None:
    make(root, "d/a", "d/.b")
    (root / "link").symlink_to(outside)
    assert details(roots.locate("d"))["entries"] == 2
    assert details(roots.locate("."))["path"] == "."
    link = details(roots.locate("link"))
    assert link["type"] == "symlink"
    assert "outside" not in str(link)
