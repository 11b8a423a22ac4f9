"""Listing, finding and describing: order, depth, limits and how to go on."""

import os
from pathlib import Path
from typing import Any

import pytest

from toolkit_files.answers import Found, Listed
from toolkit_files.listing import details, find, fitting, list_directory
from toolkit_files.patterns import Globs
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
    walker = Walk(roots, roots.locate(path), watch, after=after, show_ignored=True, **{"depth": 1, **walk})
    return list_directory(walker, pattern, limit)


def find_paths(
    roots: Roots,
    pattern: str,
    path: str = ".",
    kind: Kind | None = None,
    limit: int = 100,
    resume: str = "",
    **walk: Any,
) -> Found:
    after = tuple(resume.split("/")) if resume else ()
    walker = Walk(roots, roots.locate(path), walk.pop("watch", None) or Watch(), after=after, **walk)
    return find(walker, fitting(walker, pattern, kind=kind), limit)


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


def test_depth_and_glob_choose_the_entries(root: Path, roots: Roots) -> None:
    make(root, "a/b/c/d", "a/x", "z.py")
    assert paths(listed(roots, depth=1)) == ["a", "z.py"]
    assert paths(listed(roots, depth=2)) == ["a", "a/b", "a/x", "z.py"]
    assert paths(listed(roots, "a/b", depth=2)) == ["a/b/c", "a/b/c/d"]
    assert paths(listed(roots, pattern="*.py", depth=9)) == ["z.py"]
    assert find_paths(roots, "b*", kind="directory")["paths"] == ["a/b/"]
    assert find_paths(roots, "b/*/*", "a", kind="file")["paths"] == ["a/b/c/d"]


def test_links_are_not_entered(root: Path, roots: Roots, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    assert paths(listed(roots, depth=9)) == ["link"]
    assert find_paths(roots, "*") == {"paths": ["link"]}
    link = details(roots.locate("link"))
    assert link["type"] == "symlink"
    assert "outside" not in str(link)


def test_hidden_ignored_and_denied_names_are_absent(root: Path) -> None:
    make(root, ".a/b", "c/.d", "node_modules/a/b", "keys/a", "c/.env")
    roots, ignore = Roots([str(root)], deny=["keys", ".env"]), Globs(["node_modules"])
    assert paths(listed(roots, depth=9, ignore=ignore)) == ["c", "node_modules"]
    assert paths(listed(roots, depth=9, hidden=True, ignore=ignore)) == [".a", ".a/b", "c", "c/.d", "node_modules"]
    assert find_paths(roots, "*", ignore=ignore) == {"paths": ["c/"]}
    assert find_paths(roots, "*", "node_modules", ignore=ignore) == {"paths": ["node_modules/a/", "node_modules/a/b"]}
    inner = Roots([str(root), str(root / "c")], deny=["keys", ".env"])
    assert paths(listed(inner, "c", depth=9, hidden=True)) == ["c/.d"]


@pytest.mark.parametrize("limit", [1, 2, 5, 7])
@pytest.mark.parametrize("tool", ["list", "find"])
def test_every_entry_comes_once_by_following_resume(root: Path, roots: Roots, tool: str, limit: int) -> None:
    make(root, "a/b/c", "a/b/d", "a/e", "a-b", "a.b", "f", "g/h")
    whole, collected = paths(listed(roots, depth=9)), []
    resume: str | None = ""
    while resume is not None:
        page: Any
        if tool == "list":
            page = listed(roots, depth=9, limit=limit, resume=resume)
            collected += paths(page)
        else:
            page = find_paths(roots, "*", limit=limit, resume=resume)
            collected += [path.rstrip("/") for path in page["paths"]]
        resume = page.get("resume")
        assert resume is None or f"These are {limit}" in page["note"]
    assert collected == whole


def test_names_that_are_not_utf_8_are_shown_and_the_list_goes_on(root: Path, roots: Roots) -> None:
    for name in (b"a\xff", b"b", b"z\xe9"):
        (Path(os.fsdecode(os.fsencode(root) + b"/" + name))).write_text("")
    assert paths(listed(roots)) == ["a\\xff", "b", "z\\xe9"]
    assert paths(listed(roots, limit=1, resume="a\\xff")) == ["b"]
    assert find_paths(roots, "a*") == {"paths": ["a\\xff"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\r\nb\r\n", {"binary": False, "encoding": "utf-8", "line_ends": "crlf"}),
        (b"a\r\nb\n", {"binary": False, "encoding": "utf-8", "line_ends": "mixed"}),
        (b"\xff\xfea\0\n\0", {"binary": False, "encoding": "utf-16-le", "line_ends": "lf"}),
        (b"x" * 8191 + "ä".encode(), {"binary": False, "encoding": "utf-8"}),
        (b"caf\xe9\n", {"binary": False}),
        (b"\0\1\2\3", {"binary": True}),
    ],
)
def test_details_of_a_file(root: Path, roots: Roots, content: bytes, expected: dict[str, object]) -> None:
    (root / "a").write_bytes(content)
    (root / "a").chmod(0o640)
    os.utime(root / "a", (0, 0))
    times = {"modified": "1970-01-01T00:00:00Z", "permissions": "-rw-r-----"}
    assert details(roots.locate("a")) == {"path": "a", "type": "file", "size": len(content), **times, **expected}
