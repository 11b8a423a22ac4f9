"""Another program swaps files between two system calls of one tool: the tools never read or change anything outside.

Each swap happens right before one system call, so the outcome does not depend on luck. One test also relies on luck.
"""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from toolkit_files.moving import delete, move
from toolkit_files.problems import FileProblem
from toolkit_files.reading import read_lines
from toolkit_files.roots import Roots
from toolkit_files.watch import Watch
from toolkit_files.writing import edit, write

SECRET = "the secret that lies outside"
FILE = "a/b/secret.txt"


def before(
    monkeypatch: pytest.MonkeyPatch, call: str, name: str | None, swap: Callable[[], object], nth: int = 1
) -> None:
    """Run `swap` once, right before the nth call of `os.<call>` with this first argument; None means any argument."""
    real, left = getattr(os, call), [nth]

    def calling(path: Any, *args: Any, **kwargs: Any) -> Any:
        if name in (path, None):
            left[0] -= 1
            if left[0] == 0:
                swap()
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, call, calling)


def become_link(path: Path, target: Path) -> None:
    path.rename(path.with_name(path.name + ".aside"))
    path.symlink_to(target)


@pytest.fixture
def tree(root: Path, outside: Path) -> Path:
    (root / "a/b").mkdir(parents=True)
    (root / FILE).write_text("inside")
    (root / "file.txt").write_text("mine")
    (outside / "b").mkdir()
    (outside / "b/secret.txt").write_text(SECRET)
    return root


def read(roots: Roots, path: str = FILE) -> str:
    return read_lines(roots.locate(path), (1, None), "", 10_000, Watch())


def overwrite(roots: Roots) -> object:
    return write(roots.locate(FILE), "changed", "overwrite", "")


def append(roots: Roots) -> object:
    return write(roots.locate(FILE), "more", "append", "")


def remove(roots: Roots) -> object:
    return delete(roots, roots.locate("a"), Watch(), recursive=True)


def take(roots: Roots) -> object:
    return move(roots, roots.locate("file.txt"), roots.locate("a/b/moved.txt"), Watch())


@pytest.mark.parametrize(
    ("act", "call", "name", "nth", "swapped", "target", "problem"),
    [
        (read, "open", "a", 1, "a", "outside", "'a' is a symbolic link"),
        (read, "open", "b", 1, "a/b", "outside/b", "'a/b' is a symbolic link"),
        (read, "open", "secret.txt", 1, FILE, "outside/secret.txt", "symbolic link"),
        (read, "open", "root", 1, ".", "outside", "can no longer be opened"),
        (append, "open", "secret.txt", 1, FILE, "outside/secret.txt", "symbolic link"),
        (remove, "rmdir", "b", 1, "a/b", "outside/b", "only in part"),
        (remove, "open", "b", 2, "a/b", "outside/b", "symbolic link"),
    ],
)
def test_a_link_that_appears_before_its_place_is_used_is_rejected(
    tree: Path,
    roots: Roots,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Roots], object],
    call: str,
    name: str,
    nth: int,
    swapped: str,
    target: str,
    problem: str,
) -> None:
    before(monkeypatch, call, name, lambda: become_link(tree / swapped, tmp_path / target), nth)
    with pytest.raises(FileProblem, match=problem):
        act(roots)
    assert_unchanged(tmp_path / "outside")


@pytest.mark.parametrize(
    ("act", "call", "name", "swapped", "target"),
    [
        (read, "open", "secret.txt", "a", "outside"),
        (read, "open", "secret.txt", "a/b", "outside/b"),
        (overwrite, "open", "secret.txt", "a/b", "outside/b"),
        (overwrite, "stat", "secret.txt", "a/b", "outside/b"),
        (overwrite, "rename", None, "a/b", "outside/b"),
        (overwrite, "rename", None, FILE, "outside/secret.txt"),
        (take, "link", None, "a/b", "outside/b"),
    ],
)
def test_a_link_that_appears_after_its_place_was_opened_changes_nothing(
    tree: Path,
    roots: Roots,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Roots], object],
    call: str,
    name: str | None,
    swapped: str,
    target: str,
) -> None:
    before(monkeypatch, call, name, lambda: become_link(tree / swapped, tmp_path / target))
    result = act(roots)
    monkeypatch.undo()
    assert_unchanged(tmp_path / "outside")
    if act is read:
        assert result == "inside"
    else:
        folder = tree / "a/b.aside" if swapped == "a/b" else tree / "a/b"
        assert (folder / ("moved.txt" if act is take else "secret.txt")).read_text() in ("changed", "mine")
        assert not (folder / "secret.txt").is_symlink()


def assert_unchanged(outside: Path) -> None:
    assert sorted(os.listdir(outside)) == ["b", "secret.txt"]
    assert os.listdir(outside / "b") == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == (outside / "b/secret.txt").read_text() == SECRET


def test_a_file_that_becomes_a_pipe_does_not_block(tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    def swap() -> None:
        (tree / FILE).unlink()
        os.mkfifo(tree / FILE)

    before(monkeypatch, "open", "secret.txt", swap)
    with pytest.raises(FileProblem, match="device, pipe or socket"):
        read(roots)


def test_a_file_that_appears_while_it_is_created_is_not_lost(
    tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "link", None, lambda: (tree / "new.txt").write_text("of another program"))
    with pytest.raises(FileProblem, match="already exists"):
        write(roots.locate("new.txt"), "mine", "create", "")
    assert (tree / "new.txt").read_text() == "of another program"
    assert sorted(os.listdir(tree)) == ["a", "file.txt", "new.txt"]


def test_a_new_directory_that_becomes_a_link_is_rejected(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "mkdir", "new", lambda: (tree / "new").symlink_to(outside))
    with pytest.raises(FileProblem, match="symbolic link"):
        write(roots.locate("new/file.txt"), "text", "create", "", parents=True)
    assert_unchanged(outside)


def test_an_edit_of_a_file_that_changed_meanwhile_is_rejected(
    tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "open", "secret.txt", lambda: (tree / FILE).write_text("inside, changed"), nth=2)
    with pytest.raises(FileProblem, match="was changed meanwhile"):
        edit(roots.locate(FILE), "inside", "mine", "")
    assert (tree / FILE).read_text() == "inside, changed"


def test_nothing_outside_is_read_while_a_thread_swaps_a_directory_for_a_link(
    tree: Path, roots: Roots, outside: Path
) -> None:
    link, directory, aside = tree / "link", tree / "a/b", tree / "aside"
    link.symlink_to(outside / "b")
    stop = Event()

    def swap() -> None:
        while not stop.is_set():
            directory.rename(aside)
            link.rename(directory)
            directory.rename(link)
            aside.rename(directory)

    thread = Thread(target=swap)
    thread.start()
    outcomes: set[str] = set()
    try:
        for _ in range(1000):
            try:
                outcomes.add(read(roots))
            except FileProblem as problem:
                outcomes.add(problem.message)
    finally:
        stop.set()
        thread.join()
    assert not [outcome for outcome in outcomes if SECRET in outcome]
    assert "inside" in outcomes
