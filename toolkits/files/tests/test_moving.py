"""Moving and deleting: what is refused, what replaces what, and that nothing outside is touched."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from toolkit_files.answers import Deleted, Moved
from toolkit_files.moving import delete, move
from toolkit_files.problems import Cancelled, FileProblem
from toolkit_files.roots import Roots
from toolkit_files.watch import Watch


def moved(roots: Roots, source: str, destination: str, *, overwrite: bool = False) -> Moved:
    places = roots.locate_for_change(source), roots.locate_for_change(destination)
    return move(roots, *places, Watch(), overwrite=overwrite)


def deleted(roots: Roots, path: str, *, recursive: bool = False) -> Deleted:
    return delete(roots, roots.locate_for_change(path), Watch(), recursive=recursive)


def test_a_file_or_directory_is_moved_within_and_between_roots(root: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    (root / "d").mkdir()
    (root / "a").write_text("x")
    roots = Roots([str(root), str(tmp_path / "second")])
    assert moved(roots, "a", "b") == {"path": "a", "to": "b", "type": "file"}
    assert moved(roots, "b", "d/c")["to"] == "d/c"
    assert (root / "d/c").stat().st_nlink == 1
    assert moved(roots, "d", f"{tmp_path}/second/z")["type"] == "directory"
    assert (tmp_path / "second/z/c").read_text() == "x"
    assert os.listdir(root) == []


def test_a_file_replaces_a_file_only_with_overwrite(root: Path, roots: Roots) -> None:
    (root / "a").write_text("new")
    (root / "b").write_text("old")
    with pytest.raises(FileProblem, match="'b' already exists: set overwrite"):
        moved(roots, "a", "b")
    assert (root / "b").read_text() == "old"
    moved(roots, "a", "b", overwrite=True)
    assert (root / "b").read_text() == "new"
    assert os.listdir(root) == ["b"]


@pytest.mark.parametrize(
    ("source", "destination", "reason"),
    [
        ("a", "d", "'d' is a directory: use the complete new path"),
        ("e", "d", "'d' already exists"),
        ("e", "a", "'a' already exists"),
        ("d", "d/c", "'d' cannot be moved into itself"),
        ("d", "d", "'d' cannot be moved into itself"),
        ("a", "a", "The new path of 'a' is the current path"),
        ("d", "new", "or contains one"),
    ],
)
def test_a_move_never_replaces_a_directory_or_moves_a_root(
    root: Path, source: str, destination: str, reason: str
) -> None:
    (root / "a").write_text("x")
    (root / "d/inner").mkdir(parents=True)
    (root / "e").mkdir()
    roots = Roots([str(root)] + ([str(root / "d/inner")] if destination == "new" else []))
    with pytest.raises(FileProblem, match=reason):
        moved(roots, source, destination, overwrite=True)
    assert sorted(os.listdir(root)) == ["a", "d", "e"]


def test_another_name_of_the_same_file_is_taken_as_a_new_spelling(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "readme").write_text("x")
    real_stat = os.stat

    def without_case(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        return real_stat("readme" if path == "README" else path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", without_case)
    moved(roots, "readme", "README")
    monkeypatch.undo()
    assert os.listdir(root) == ["README"]


@pytest.mark.parametrize("path", [".", "", "{root}"])
def test_a_root_is_neither_moved_nor_deleted(root: Path, roots: Roots, path: str) -> None:
    with pytest.raises(FileProblem, match="is a root"):
        deleted(roots, path.format(root=root), recursive=True)
    with pytest.raises(FileProblem, match="is a root"):
        moved(roots, path.format(root=root), "x")


def test_a_directory_is_deleted_only_with_recursive(root: Path, roots: Roots, outside: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/c").write_text("x")
    (root / "a/link").symlink_to(outside)
    (root / "file").write_text("x")
    with pytest.raises(FileProblem, match="'a' is a directory: set recursive"):
        deleted(roots, "a")
    assert deleted(roots, "a", recursive=True) == {"path": "a", "type": "directory", "count": 4}
    assert deleted(roots, "file") == {"path": "file", "type": "file", "count": 1}
    assert os.listdir(root) == []
    assert os.listdir(outside) == ["secret.txt"]


@pytest.mark.parametrize(("name", "reason"), [(".env", "close to these tools"), (".git", "protect")])
@pytest.mark.parametrize("depth", ["a", "a/b/c"])
def test_what_the_operator_closed_or_protected_keeps_the_directories_above_it(
    root: Path, name: str, reason: str, depth: str
) -> None:
    (root / depth).mkdir(parents=True)
    (root / depth / name).write_text("x")
    roots = Roots([str(root)], deny=[".env"], protect=[".git"])
    for act in (lambda: deleted(roots, "a", recursive=True), lambda: moved(roots, "a", "z")):
        with pytest.raises(FileProblem, match=reason):
            act()
    assert (root / depth / name).exists()


def test_a_deletion_that_stops_says_how_far_it_came(root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").mkdir()
    for name in ("x", "y", "z"):
        (root / "a" / name).write_text("")
    real, calls = os.unlink, iter([True, False])

    def unlinking(*args: Any, **kwargs: Any) -> None:
        if next(calls):
            return real(*args, **kwargs)
        raise OSError(errno.EACCES, "no")

    monkeypatch.setattr(os, "unlink", unlinking)
    with pytest.raises(
        FileProblem, match=r"'a' was deleted only in part, 1 entries of it\. The host has no permission"
    ):
        deleted(roots, "a", recursive=True)


@pytest.mark.usefixtures("looking_often")
def test_a_deletion_that_is_cancelled_on_its_way_stops_there(root: Path, roots: Roots) -> None:
    (root / "a").mkdir()
    for number in range(12):
        (root / f"a/{number}").write_text("")
    with pytest.raises(Cancelled):
        delete(roots, roots.locate("a"), Watch(cancelled=lambda: len(os.listdir(root / "a")) < 12), recursive=True)
    assert 0 < len(os.listdir(root / "a")) < 12
