"""Paths: what is let through, what is refused, and that a refusal says what to do."""

import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from toolkit_files.problems import FileProblem
from toolkit_files.reading import read_bytes, read_lines
from toolkit_files.roots import Place, Roots, directory, entries, look, parent
from toolkit_files.watch import Watch


def text(roots: Roots, path: str) -> str:
    return read_lines(roots.locate(path), (1, None), "", 10_000, Watch())


@pytest.mark.parametrize("path", ["a/b.txt", "./a//b.txt", "a/./b.txt", "a/b.txt/", "{root}/a/b.txt"])
def test_every_spelling_of_a_path_below_the_root_is_accepted(root: Path, roots: Roots, path: str) -> None:
    (root / "a").mkdir()
    (root / "a/b.txt").write_text("inside")
    assert text(roots, path.format(root=root)) == "inside"
    assert roots.locate(path.format(root=root)).shown == "a/b.txt"
    assert roots.locate("") == roots.locate("./.") == Place(roots.all[0])


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..", "'..'"),
        ("../outside/secret.txt", "'..'"),
        ("a/../../outside/secret.txt", "'..'"),
        ("a/..", "'..'"),
        ("./../outside", "'..'"),
        ("/etc/passwd", "outside"),
        ("//etc/passwd", "outside"),
        ("/", "outside"),
        ("/proc/self/root/etc/passwd", "outside"),
        ("~", "'~'"),
        ("~/secret.txt", "'~'"),
        ("~root/secret.txt", "'~'"),
        ("a\0b", "NUL"),
        ("..\\outside\\secret.txt", "backslash"),
        ("a\\..\\..\\outside", "backslash"),
        ("\\\\server\\share", "backslash"),
        ("C:\\Windows", "backslash"),
        ("a\udcffb", "Unicode"),
        ("\ud800", "Unicode"),
        ("a" * 5000, "4096"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_as_text(roots: Roots, path: str, reason: str) -> None:
    with pytest.raises(FileProblem, match=reason):
        roots.locate(path)


def test_an_absolute_path_out_of_the_root_is_rejected(root: Path, roots: Roots, outside: Path) -> None:
    with pytest.raises(FileProblem, match=r"'\.\.'"):
        roots.locate(f"{root}/../outside/secret.txt")
    for path in (f"{root}side/secret.txt", str(outside)):
        with pytest.raises(FileProblem, match="outside the directories") as caught:
            roots.locate(path)
        assert str(root) in caught.value.message
        assert caught.value.correctable


def test_a_message_repeats_no_control_characters_and_no_long_path(roots: Roots) -> None:
    with pytest.raises(FileProblem) as caught:
        roots.locate("\x1b[31m\n/../" + "x" * 3000)
    assert not {"\x1b", "\n"} & set(caught.value.message)
    assert len(caught.value.message) < 400


def test_a_link_is_rejected_at_every_place_of_a_path(root: Path, roots: Roots, outside: Path) -> None:
    (root / "real").mkdir()
    (root / "real/file.txt").write_text("inside")
    for name, target in (
        ("to_directory", outside),
        ("to_file", outside / "secret.txt"),
        ("inside_link", Path("real")),
        ("real/up", Path("..")),
        ("dangling", Path("nowhere")),
        ("loop", Path("loop")),
    ):
        (root / name).symlink_to(target)
    for path in (
        "to_directory/secret.txt",
        "to_file",
        "inside_link/file.txt",
        "real/up/real/file.txt",
        "dangling",
        "loop/x",
    ):
        with pytest.raises(FileProblem, match="symbolic link"):
            text(roots, path)
    with pytest.raises(FileProblem, match="is a symbolic link"), directory(roots.locate("to_directory")):
        pass
    with pytest.raises(FileProblem, match="is a symbolic link"), parent(roots.locate("to_directory/new")):
        pass
    place = roots.locate("to_directory")
    with parent(place) as fd:
        assert look(fd, place).st_ino == (root / "to_directory").lstat().st_ino


def test_a_root_that_is_a_link_is_resolved_once(tmp_path: Path, root: Path, outside: Path) -> None:
    (root / "file.txt").write_text("inside")
    link = tmp_path / "link"
    link.symlink_to(root)
    roots = Roots([str(link)])
    link.unlink()
    link.symlink_to(outside)
    assert text(roots, "file.txt") == "inside"
    assert text(roots, f"{link}/file.txt") == "inside"
    assert text(roots, f"{root}/file.txt") == "inside"


def test_a_root_that_became_a_link_is_rejected_until_it_is_a_directory_again(
    tmp_path: Path, root: Path, roots: Roots, outside: Path
) -> None:
    root.rename(tmp_path / "moved")
    root.symlink_to(outside)
    with pytest.raises(FileProblem, match="can no longer be opened") as caught:
        text(roots, "secret.txt")
    assert not caught.value.correctable
    root.unlink()
    root.mkdir()
    (root / "file.txt").write_text("new")
    assert text(roots, "file.txt") == "new"


def test_devices_pipes_and_sockets_are_rejected_without_opening_them(root: Path, roots: Roots) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(root, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
    for place in (roots.locate("pipe"), roots.locate("socket"), Roots(["/dev"]).locate("zero")):
        with pytest.raises(FileProblem, match="device, pipe or socket"):
            read_bytes(place, 0, 10)


@pytest.mark.parametrize("path", ["self/root/etc/passwd", "self/cwd/x", "self/fd/0", "self/exe", "thread-self"])
def test_the_links_of_proc_lead_nowhere(path: str) -> None:
    with pytest.raises(FileProblem, match="symbolic link"):
        read_bytes(Roots(["/proc"]).locate(path), 0, 10)


def test_a_missing_file_names_similar_names(root: Path, roots: Roots) -> None:
    (root / "source").mkdir()
    (root / "source/main.py").write_text("")
    for path, message in (
        ("source/mian.py", r"'source/mian\.py' does not exist\. Did you mean 'source/main\.py'\?"),
        ("SOURCE/main.py", r"'SOURCE' does not exist\. Did you mean 'source'\?"),
        ("source/main.py/below", r"'source/main\.py' is a file, not a directory"),
        ("source", "'source' is a directory, not a file"),
    ):
        with pytest.raises(FileProblem, match=message):
            text(roots, path)


def test_relative_paths_begin_at_the_first_root_and_others_are_absolute(root: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    for folder in (second, root / "inner"):
        folder.mkdir()
    (root / "a.txt").write_text("first")
    (second / "a.txt").write_text("second")
    roots = Roots([str(root), str(second), str(root / "inner"), f"{root}/."], deny=["inner/secret"])
    assert len(roots.all) == 3
    assert (text(roots, "a.txt"), text(roots, f"{second}/a.txt")) == ("first", "second")
    assert roots.locate(f"{second}/a.txt").shown == f"{second}/a.txt"
    assert roots.locate(f"{root}/inner/x").root is roots.all[2], "the inner root has precedence"
    with pytest.raises(FileProblem, match="is a root"):
        roots.locate_for_change("inner")
    with pytest.raises(FileProblem, match="closed"):
        roots.locate(f"{root}/inner/secret")


def test_denied_paths_are_closed_and_protected_ones_are_read_only(root: Path) -> None:
    roots = Roots([str(root)], deny=["mine", "mine.*", "/keys", "a/**/*.txt"], protect=[".git"])
    for path in ("mine", "a/mine", "MINE", "mine.local", "keys/x", "a/b/private.txt", "a/b/private.txt/x"):
        with pytest.raises(FileProblem, match="closed to these tools") as caught:
            roots.locate(path)
        assert not caught.value.correctable
    for path in ("ine", "a/keys", "my.mine", "private.txt", ".git/HEAD"):
        roots.locate(path)
    with pytest.raises(FileProblem, match="protected"):
        roots.locate_for_change(".git/HEAD")


def test_no_descriptor_is_left_open(root: Path, roots: Roots) -> None:
    (root / "a").mkdir()
    (root / "a/b.txt").write_text("inside")
    (root / "link").symlink_to("a")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a/b.txt", "a", "link", "link/b.txt", "nothing", "a/nothing", "a/b.txt/x"):
        with suppress(FileProblem):
            text(roots, path)
        with parent(roots.locate("a/b.txt")) as fd, entries(fd, roots.locate("a")):
            pass
    assert len(os.listdir("/proc/self/fd")) == before
