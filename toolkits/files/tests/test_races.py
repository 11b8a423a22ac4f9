"""What happens when somebody swaps things between two steps of one call: never anything outside of the root.

Each swap is made exactly before one system call, so that the outcome does not depend on luck; one test relies on luck
as well.
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

Swap = Callable[[], object]
SECRET = "the secret that lies outside"


def before(monkeypatch: pytest.MonkeyPatch, call: str, name: str, swap: Swap) -> None:
    """Run `swap` once, right before `os.<call>` is given `name` first."""
    real = getattr(os, call)
    left = [swap]

    def calling(path: Any, *args: Any, **kwargs: Any) -> Any:
        if path == name and left:
            left.pop()()
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, call, calling)


def becomes_link(path: Path, target: Path) -> Swap:
    def swap() -> None:
        path.rename(path.with_name(path.name + ".aside"))
        path.symlink_to(target)

    return swap


@pytest.fixture
def tree(root: Path, outside: Path) -> Path:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/secret.txt").write_text("inside")
    (outside / "b").mkdir()
    (outside / "b/secret.txt").write_text(SECRET)
    return root


def text(roots: Roots, path: str) -> str:
    return read_lines(roots.locate(path), (1, None), "", 10_000, Watch())


@pytest.mark.parametrize(("swapped", "target"), [("a", "outside"), ("a/b", "outside/b")])
def test_a_directory_that_becomes_a_link_before_it_is_opened(
    tree: Path, roots: Roots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, target: str
) -> None:
    before(monkeypatch, "open", Path(swapped).name, becomes_link(tree / swapped, tmp_path / target))
    with pytest.raises(FileProblem, match=f"'{swapped}' is a symbolic link"):
        text(roots, "a/b/secret.txt")


@pytest.mark.parametrize(("swapped", "target"), [("a", "outside"), ("a/b", "outside/b")])
def test_a_directory_that_becomes_a_link_after_it_was_opened(
    tree: Path, roots: Roots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, target: str
) -> None:
    before(monkeypatch, "open", "secret.txt", becomes_link(tree / swapped, tmp_path / target))
    assert text(roots, "a/b/secret.txt") == "inside"


def test_a_file_that_becomes_a_link_after_it_was_looked_at(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "open", "secret.txt", becomes_link(tree / "a/b/secret.txt", outside / "secret.txt"))
    with pytest.raises(FileProblem, match="symbolic link"):
        text(roots, "a/b/secret.txt")


def test_a_file_that_becomes_a_pipe_after_it_was_looked_at_does_not_block(
    tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (tree / "a/b/secret.txt").unlink()
        os.mkfifo(tree / "a/b/secret.txt")

    before(monkeypatch, "open", "secret.txt", swap)
    with pytest.raises(FileProblem, match="device, pipe or socket"):
        text(roots, "a/b/secret.txt")


def test_the_root_that_becomes_a_link_before_it_is_opened(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "open", tree.name, becomes_link(tree, outside))
    with pytest.raises(FileProblem, match="can no longer be opened"):
        text(roots, "secret.txt")


@pytest.mark.parametrize("call", ["open", "stat", "rename"])
def test_overwriting_in_a_directory_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    swap = becomes_link(tree / "a/b", outside / "b")
    if call == "rename":
        before_first(monkeypatch, call, swap)
    else:
        before(monkeypatch, call, "secret.txt", swap)
    write(roots.locate("a/b/secret.txt"), "changed", "overwrite", "")
    assert (outside / "b/secret.txt").read_text() == SECRET
    assert (tree / "a/b.aside/secret.txt").read_text() == "changed"


def before_first(monkeypatch: pytest.MonkeyPatch, call: str, swap: Swap) -> None:
    """Run `swap` once, right before `os.<call>` is used for the first time from now on, but not by the swap itself."""
    real = getattr(os, call)

    def calling(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(os, call, real)
        swap()
        return real(*args, **kwargs)

    monkeypatch.setattr(os, call, calling)


def test_a_file_to_be_overwritten_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_first(monkeypatch, "rename", becomes_link(tree / "a/b/secret.txt", outside / "secret.txt"))
    write(roots.locate("a/b/secret.txt"), "changed", "overwrite", "")
    assert (outside / "secret.txt").read_text() == SECRET
    assert not (tree / "a/b/secret.txt").is_symlink()


def test_a_file_that_appears_while_it_is_created_is_not_lost(
    tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_first(monkeypatch, "link", lambda: (tree / "new.txt").write_text("somebody else's"))
    with pytest.raises(FileProblem, match="already exists"):
        write(roots.locate("new.txt"), "mine", "create", "")
    assert (tree / "new.txt").read_text() == "somebody else's"
    assert sorted(os.listdir(tree)) == ["a", "new.txt"]


def test_a_file_to_append_to_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "open", "secret.txt", becomes_link(tree / "a/b/secret.txt", outside / "secret.txt"))
    with pytest.raises(FileProblem, match="symbolic link"):
        write(roots.locate("a/b/secret.txt"), "more", "append", "")
    assert (outside / "secret.txt").read_text() == SECRET


def test_a_directory_to_be_made_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "mkdir", "new", lambda: (tree / "new").symlink_to(outside))
    with pytest.raises(FileProblem, match="symbolic link"):
        write(roots.locate("new/file.txt"), "text", "create", "", parents=True)
    assert not (outside / "file.txt").exists()


def test_an_edit_of_a_file_that_somebody_changes_meanwhile(
    tree: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tree / "a/b/secret.txt"
    seen: list[Any] = []
    real = os.open

    def opening(path: Any, *args: Any, **kwargs: Any) -> int:
        seen.append(path)
        if seen.count("secret.txt") == 2:  # read once; now it is opened to see whether it may be written
            file.write_text("inside, changed by somebody else")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", opening)
    with pytest.raises(FileProblem, match="was changed meanwhile"):
        edit(roots.locate("a/b/secret.txt"), "inside", "mine", "")
    assert file.read_text() == "inside, changed by somebody else"


def test_a_directory_to_be_deleted_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = becomes_link(tree / "a/b", outside / "b")
    before(monkeypatch, "rmdir", "b", swap)
    with pytest.raises(FileProblem, match="only in part"):
        delete(roots, roots.locate("a"), Watch(), recursive=True)
    assert (outside / "b/secret.txt").read_text() == SECRET


def test_a_directory_within_that_becomes_a_link_before_it_is_emptied(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    real = os.open

    def opening(path: Any, *args: Any, **kwargs: Any) -> int:
        opened.append(path)
        if path == "b" and opened.count("b") == 2:  # once to look for what is protected, once to empty it
            becomes_link(tree / "a/b", outside / "b")()
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", opening)
    with pytest.raises(FileProblem, match="symbolic link"):
        delete(roots, roots.locate("a"), Watch(), recursive=True)
    assert (outside / "b/secret.txt").read_text() == SECRET


def test_a_destination_that_becomes_a_link(
    tree: Path, roots: Roots, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "file.txt").write_text("mine")
    before_first(monkeypatch, "link", becomes_link(tree / "a/b", outside / "b"))
    move(roots, roots.locate("file.txt"), roots.locate("a/b/moved.txt"), Watch())
    assert not (outside / "b/moved.txt").exists()
    assert (tree / "a/b.aside/moved.txt").read_text() == "mine"


def test_nothing_outside_is_ever_read_while_a_thread_swaps_a_directory_for_a_link(
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
        for _ in range(2000):
            try:
                outcomes.add(text(roots, "a/b/secret.txt"))
            except FileProblem as problem:
                outcomes.add(problem.message)
    finally:
        stop.set()
        thread.join()
    assert not [outcome for outcome in outcomes if SECRET in outcome]
    assert "inside" in outcomes
