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


@pytest.mark.parametrize("path", ["a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "a/b.txt/"])
def test_a_path_below_the_root_is_found_however_it_is_spelt(root: Path, roots: Roots, path: str) -> None:
    (root / "a").mkdir()
    (root / "a/b.txt").write_text("inside")
    assert text(roots, path) == "inside"
    assert roots.locate(path).shown == "a/b.txt"


def test_an_absolute_path_inside_the_root_is_accepted(root: Path, roots: Roots) -> None:
    (root / "b.txt").write_text("inside")
    assert text(roots, f"{root}/b.txt") == "inside"


@pytest.mark.parametrize("path", ["", ".", "./", "./."])
def test_nothing_names_the_root_itself(roots: Roots, path: str) -> None:
    assert roots.locate(path) == Place(roots.all[0])


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


def test_an_absolute_path_through_the_root_and_out_again_is_refused(root: Path, roots: Roots, outside: Path) -> None:
    with pytest.raises(FileProblem, match=r"'\.\.'"):
        roots.locate(f"{root}/../outside/secret.txt")
    with pytest.raises(FileProblem, match="outside"):
        roots.locate(f"{root}side/secret.txt")
    with pytest.raises(FileProblem, match="outside the directories"):
        roots.locate(str(outside))


@pytest.mark.parametrize(
    "name", ["%2e%2e", "%2f", "..%2foutside", "...", "..a", "~$report.docx", "a:b", "file:", "..\u2215x"]
)
def test_names_that_only_look_like_an_escape_are_names(root: Path, roots: Roots, name: str) -> None:
    (root / name).write_text("a file of that name")
    assert text(roots, name) == "a file of that name"


def test_a_refusal_shows_the_roots_and_nothing_else_of_the_machine(root: Path, roots: Roots) -> None:
    with pytest.raises(FileProblem) as caught:
        roots.locate("/etc/passwd")
    assert str(root) in caught.value.message
    assert caught.value.mendable


def test_a_refusal_repeats_no_control_characters_and_no_long_path(roots: Roots) -> None:
    with pytest.raises(FileProblem) as caught:
        roots.locate("\x1b[31m\n/../" + "x" * 3000)
    assert "\x1b" not in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


def test_a_link_is_refused_wherever_it_stands(root: Path, roots: Roots, outside: Path) -> None:
    (root / "real").mkdir()
    (root / "real/file.txt").write_text("inside")
    (root / "to_directory").symlink_to(outside)
    (root / "to_file").symlink_to(outside / "secret.txt")
    (root / "inside_link").symlink_to("real")
    (root / "real/up").symlink_to("..")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    for path in (
        "to_directory/secret.txt",
        "to_file",
        "inside_link/file.txt",
        "real/up/real/file.txt",
        "dangling",
        "loop",
        "loop/x",
    ):
        with pytest.raises(FileProblem, match="symbolic link"):
            text(roots, path)


def test_a_link_is_refused_as_a_directory(root: Path, roots: Roots, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    with pytest.raises(FileProblem, match="'link' is a symbolic link"), directory(roots.locate("link")):
        pass
    with pytest.raises(FileProblem, match="'link' is a symbolic link"), parent(roots.locate("link/new")):
        pass


def test_a_link_may_be_looked_at(root: Path, roots: Roots, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    place = roots.locate("link")
    with parent(place) as fd:
        assert look(fd, place).st_ino == (root / "link").lstat().st_ino


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


def test_a_root_that_became_a_link_is_refused(tmp_path: Path, root: Path, roots: Roots, outside: Path) -> None:
    root.rename(tmp_path / "moved")
    root.symlink_to(outside)
    with pytest.raises(FileProblem, match="can no longer be opened") as caught:
        text(roots, "secret.txt")
    assert not caught.value.mendable


def test_a_root_that_was_made_again_is_found(tmp_path: Path, root: Path, roots: Roots) -> None:
    root.rename(tmp_path / "moved")
    root.mkdir()
    (root / "file.txt").write_text("new")
    assert text(roots, "file.txt") == "new"


def test_devices_pipes_and_sockets_are_refused_without_being_opened(root: Path, roots: Roots) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(root, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
    for name in ("pipe", "socket"):
        with pytest.raises(FileProblem, match="device, pipe or socket"):
            text(roots, name)


def test_a_device_is_refused() -> None:
    with pytest.raises(FileProblem, match="device, pipe or socket"):
        read_bytes(Roots(["/dev"]).locate("zero"), 0, 10)


@pytest.mark.parametrize("path", ["self/root/etc/passwd", "self/cwd/x", "self/fd/0", "self/exe", "thread-self"])
def test_the_links_of_proc_lead_nowhere(path: str) -> None:
    with pytest.raises(FileProblem, match="symbolic link"):
        read_bytes(Roots(["/proc"]).locate(path), 0, 10)


def test_the_nearest_names_are_told(root: Path, roots: Roots) -> None:
    (root / "source").mkdir()
    (root / "source/main.py").write_text("")
    with pytest.raises(FileProblem, match=r"'source/mian\.py' does not exist\. Did you mean 'source/main\.py'\?"):
        text(roots, "source/mian.py")
    with pytest.raises(FileProblem, match=r"'sorce' does not exist\. Did you mean 'source'\?"):
        text(roots, "sorce/main.py")
    with pytest.raises(FileProblem, match=r"'SOURCE' does not exist\. Did you mean 'source'\?"):
        text(roots, "SOURCE/main.py")


def test_a_file_on_the_way_is_named(root: Path, roots: Roots) -> None:
    (root / "file").write_text("")
    with pytest.raises(FileProblem, match="'file' is a file, not a directory"):
        text(roots, "file/below")
    (root / "directory").mkdir()
    with pytest.raises(FileProblem, match="'directory' is a directory, not a file"):
        text(roots, "directory")


def test_relative_paths_begin_at_the_first_root_and_others_are_absolute(root: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (root / "a.txt").write_text("first")
    (second / "a.txt").write_text("second")
    roots = Roots([str(root), str(second)])
    assert text(roots, "a.txt") == "first"
    assert text(roots, f"{second}/a.txt") == "second"
    assert roots.locate(f"{second}/a.txt").shown == f"{second}/a.txt"
    with pytest.raises(FileProblem, match="second"):
        roots.locate("/elsewhere")


def test_of_two_roots_within_each_other_the_inner_one_is_meant(root: Path) -> None:
    (root / "inner").mkdir()
    roots = Roots([str(root), str(root / "inner")])
    assert roots.locate(f"{root}/inner/x").root is roots.all[1]
    with pytest.raises(FileProblem, match="is a root"):
        roots.locate_for_change("inner")


def test_the_same_root_twice_is_one(root: Path) -> None:
    assert len(Roots([str(root), f"{root}/.", str(root)]).all) == 1


@pytest.mark.parametrize(
    "path", ["mine", "a/mine", "MINE", "mine.local", "keys/x", "a/b/private.txt", "a/b/private.txt/x"]
)
def test_what_the_operator_denies_cannot_be_named(root: Path, path: str) -> None:
    roots = Roots([str(root)], deny=["mine", "mine.*", "/keys", "a/**/*.txt"])
    with pytest.raises(FileProblem, match="closed to these tools") as caught:
        roots.locate(path)
    assert not caught.value.mendable


@pytest.mark.parametrize("path", ["ine", "a/keys", "my.mine", "private.txt"])
def test_what_no_glob_names_is_open(root: Path, path: str) -> None:
    Roots([str(root)], deny=["mine", "mine.*", "/keys", "a/**/*.txt"]).locate(path)


def test_a_denied_path_stays_denied_by_way_of_an_inner_root(root: Path) -> None:
    (root / "inner").mkdir()
    roots = Roots([str(root), str(root / "inner")], deny=["inner/secret"])
    with pytest.raises(FileProblem, match="closed"):
        roots.locate(f"{root}/inner/secret")


def test_what_the_operator_protects_may_be_read_only(root: Path) -> None:
    roots = Roots([str(root)], protect=[".git"])
    roots.locate(".git/HEAD")
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
