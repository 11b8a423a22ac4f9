"""Writing and editing: modes, encodings, line ends, and that a failure leaves everything as it was."""

import codecs
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from toolkit_files import writing
from toolkit_files.problems import FileProblem
from toolkit_files.roots import Roots
from toolkit_files.writing import edit, make_directories, write


def test_create_makes_a_file_and_refuses_to_replace_one(root: Path, roots: Roots) -> None:
    assert write(roots.locate("a"), "text ä\n", "create", "") == {"path": "a", "action": "created", "size": 8}
    assert (root / "a").read_text() == "text ä\n"
    with pytest.raises(FileProblem, match=r"'a' already exists\. To change it, overwrite it, append to it or edit it"):
        write(roots.locate("a"), "other", "create", "")
    assert (root / "a").read_text() == "text ä\n"
    assert os.listdir(root) == ["a"]


def test_a_new_file_has_the_permissions_that_the_host_gives(root: Path, roots: Roots) -> None:
    before = os.umask(0o027)
    try:
        write(roots.locate("a"), "text", "create", "")
    finally:
        os.umask(before)
    assert (root / "a").stat().st_mode & 0o777 == 0o640


def test_overwrite_replaces_in_one_step_and_keeps_permissions(root: Path, roots: Roots) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(0o751)
    with open(root / "a") as reader:
        assert write(roots.locate("a"), "new text", "overwrite", "")["action"] == "overwritten"
        assert reader.read() == "old"
    assert (root / "a").read_text() == "new text"
    assert (root / "a").stat().st_mode & 0o777 == 0o751
    assert os.listdir(root) == ["a"]


def test_overwrite_and_append_make_what_is_not_there(root: Path, roots: Roots) -> None:
    assert write(roots.locate("a"), "one", "overwrite", "")["action"] == "created"
    assert write(roots.locate("b"), "one", "append", "")["action"] == "created"
    assert (root / "b").read_text() == "one"


def test_append_adds_to_the_end(root: Path, roots: Roots) -> None:
    (root / "a").write_text("one\n")
    assert write(roots.locate("a"), "two\n", "append", "") == {"path": "a", "action": "appended", "size": 8}
    assert (root / "a").read_text() == "one\ntwo\n"


def test_append_follows_the_encoding_of_the_file(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes("é".encode("utf-16"))
    write(roots.locate("a"), "ü", "append", "")
    assert (root / "a").read_bytes().decode("utf-16") == "éü"
    (root / "empty").write_bytes(b"")
    write(roots.locate("empty"), "ü", "append", "utf-16")
    assert (root / "empty").read_bytes() == codecs.BOM_UTF16_LE + "ü".encode("utf-16-le")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "utf-16-be", "utf-32"])
def test_an_encoding_that_is_asked_for(root: Path, roots: Roots, encoding: str) -> None:
    write(roots.locate("a"), "é\n", "create", encoding)
    assert (root / "a").read_bytes().decode(encoding) == "é\n"


def test_a_character_that_does_not_exist_in_the_encoding(root: Path, roots: Roots) -> None:
    (root / "a").write_bytes(b"old")
    for mode in ("overwrite", "append"):
        with pytest.raises(FileProblem, match=r"'\\u20ac' does not exist in iso8859-1"):
            write(roots.locate("a"), "1 €", mode, "latin-1")
    with pytest.raises(FileProblem, match=r"'\\ud800' does not exist in utf-8"):
        write(roots.locate("new"), "\ud800", "create", "")
    assert (root / "a").read_bytes() == b"old"
    assert os.listdir(root) == ["a"]


def test_directories_above_are_made_only_when_asked(root: Path, roots: Roots) -> None:
    with pytest.raises(FileProblem, match="'x' does not exist"):
        write(roots.locate("x/y/a"), "text", "create", "")
    write(roots.locate("x/y/a"), "text", "create", "", parents=True)
    assert (root / "x/y/a").read_text() == "text"


def test_what_is_no_file_is_not_written(root: Path, roots: Roots, outside: Path) -> None:
    (root / "directory").mkdir()
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "dangling").symlink_to(outside / "new")
    os.mkfifo(root / "pipe")
    for mode in ("create", "overwrite", "append"):
        for name in ("directory", "link", "dangling", "pipe"):
            with pytest.raises(FileProblem):
                write(roots.locate(name), "text", mode, "")
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() != "text"
    assert (root / "link").is_symlink()


def failing(monkeypatch: pytest.MonkeyPatch, call: str, code: int, after: int = 0) -> None:
    """Let `os.<call>` fail with this error; a write first takes `after` bytes."""
    real = getattr(os, call)

    def calling(*args: Any, **kwargs: Any) -> Any:
        if call == "write" and after and len(args[1]) > after:
            return real(args[0], args[1][:after])
        raise OSError(code, "failed")

    monkeypatch.setattr(os, call, calling)


@pytest.mark.parametrize(("call", "code"), [("write", errno.ENOSPC), ("fsync", errno.EIO), ("rename", errno.EACCES)])
def test_a_failure_while_overwriting_leaves_the_old_file(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    (root / "a").write_text("old")
    failing(monkeypatch, call, code)
    with pytest.raises(FileProblem) as caught:
        write(roots.locate("a"), "new", "overwrite", "")
    assert not caught.value.mendable
    monkeypatch.undo()
    assert (root / "a").read_text() == "old"
    assert os.listdir(root) == ["a"]


def test_a_full_disk_is_told_in_words_and_leaves_nothing(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, "write", errno.ENOSPC)
    with pytest.raises(FileProblem, match="There is no space left for 'a'"):
        write(roots.locate("a"), "new", "create", "")
    assert os.listdir(root) == []


def test_a_failure_while_appending_takes_back_what_was_written(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("old")
    failing(monkeypatch, "write", errno.ENOSPC, after=3)
    with pytest.raises(FileProblem, match="no space left"):
        write(roots.locate("a"), "new text", "append", "")
    assert (root / "a").read_text() == "old"


@pytest.mark.parametrize("taken", [False, True])
def test_where_there_are_no_links_a_file_is_still_created_and_none_replaced(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    def linking(*args: Any, **kwargs: Any) -> None:
        if taken:
            (root / "a").write_text("somebody else's")
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", linking)
    if taken:
        with pytest.raises(FileProblem, match="already exists"):
            write(roots.locate("a"), "mine", "create", "")
    else:
        write(roots.locate("a"), "mine", "create", "")
    assert (root / "a").read_text() == ("somebody else's" if taken else "mine")
    assert os.listdir(root) == ["a"]


def test_a_file_that_the_system_keeps_from_being_written_is_not_replaced(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("old")
    real = os.open

    def opening(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if path == "a" and flags & os.O_WRONLY:
            raise PermissionError(errno.EACCES, "no")
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", opening)
    with pytest.raises(FileProblem, match="no permission for 'a'"):
        write(roots.locate("a"), "new", "overwrite", "")
    with pytest.raises(FileProblem, match="no permission for 'a'"):
        edit(roots.locate("a"), "old", "new", "")
    assert (root / "a").read_text() == "old"


def test_edit_replaces_what_occurs_once(root: Path, roots: Roots) -> None:
    (root / "a").write_text("one\ntwo\nthree\n")
    (root / "a").chmod(0o600)
    assert edit(roots.locate("a"), "two\nthr", "2\n3", "") == {"path": "a", "replacements": 1, "line": 2}
    assert (root / "a").read_text() == "one\n2\n3ee\n"
    assert (root / "a").stat().st_mode & 0o777 == 0o600


def test_edit_refuses_what_occurs_more_often_unless_all_are_meant(root: Path, roots: Roots) -> None:
    (root / "a").write_text("x\nx\n\nx x\n" + "x\n" * 9)
    with pytest.raises(FileProblem, match=r"occurs 13 times in 'a', in lines 1, 2, 4, 4, 5, \.\.\.\. Include more"):
        edit(roots.locate("a"), "x", "y", "")
    assert edit(roots.locate("a"), "x", "y", "", everywhere=True) == {"path": "a", "replacements": 13, "line": 1}
    assert "x" not in (root / "a").read_text()


def test_edit_says_where_something_similar_is(root: Path, roots: Roots) -> None:
    (root / "a").write_text("def f():\n    return 1\n")
    with pytest.raises(FileProblem, match=r"does not occur in 'a'\. Line 2 is like its first line"):
        edit(roots.locate("a"), "\treturn 1", "\treturn 2", "")
    with pytest.raises(FileProblem, match=r"does not occur in 'a'\. Read the file"):
        edit(roots.locate("a"), "something else", "", "")


@pytest.mark.parametrize(("old", "new", "reason"), [("", "x", "must not be empty"), ("a", "a", "nothing was changed")])
def test_an_edit_that_makes_no_sense_is_refused(root: Path, roots: Roots, old: str, new: str, reason: str) -> None:
    (root / "a").write_text("a")
    with pytest.raises(FileProblem, match=reason):
        edit(roots.locate("a"), old, new, "")


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\nb\r\nc\n", "a\nb", "x\ny", b"x\ny\r\nc\n"),
        (b"a\nb\r\nc\n", "b\nc", "x\ny", b"a\nx\r\ny\n"),
        (b"a\nb\n", "a\nb", "x\ny", b"x\ny\n"),
    ],
)
def test_edit_keeps_the_line_ends_of_the_file(
    root: Path, roots: Roots, content: bytes, old: str, new: str, expected: bytes
) -> None:
    (root / "a").write_bytes(content)
    edit(roots.locate("a"), old, new, "")
    assert (root / "a").read_bytes() == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_edit_keeps_the_mark_and_the_encoding(root: Path, roots: Roots, encoding: str) -> None:
    (root / "a").write_bytes("é old\n".encode(encoding))
    edit(roots.locate("a"), "old", "new", "")
    assert (root / "a").read_bytes() == "é new\n".encode(encoding)


def test_edit_refuses_what_is_not_text_and_what_is_too_large(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(b"a\0b")
    with pytest.raises(FileProblem, match="NUL"):
        edit(roots.locate("a"), "a", "b", "")
    (root / "b").write_bytes(b"caf\xe9")
    with pytest.raises(FileProblem, match="not valid utf-8"):
        edit(roots.locate("b"), "c", "b", "")
    edit(roots.locate("b"), "é", "e", "latin-1")
    assert (root / "b").read_bytes() == b"cafe"
    monkeypatch.setattr(writing, "MAX_EDIT", 3)
    with pytest.raises(FileProblem, match="too large to be edited"):
        edit(roots.locate("b"), "c", "b", "")


def test_directories_are_made_with_those_above(root: Path, roots: Roots, outside: Path) -> None:
    assert make_directories(roots.locate("a/b/c"))
    assert (root / "a/b/c").is_dir()
    assert not make_directories(roots.locate("a/b/c"))
    (root / "file").write_text("")
    (root / "link").symlink_to(outside)
    for path, reason in (("file", "is a file"), ("file/x", "is a file"), ("link", "symbolic"), ("link/x", "symbolic")):
        with pytest.raises(FileProblem, match=reason):
            make_directories(roots.locate(path))
    assert os.listdir(outside) == ["secret.txt"]


def test_a_name_that_is_too_long_is_told(roots: Roots) -> None:
    with pytest.raises(FileProblem, match="name that is too long"):
        write(roots.locate("x" * 300), "", "create", "")
    with pytest.raises(FileProblem, match="name that is too long"):
        make_directories(roots.locate("x" * 300 + "/y"))


@pytest.mark.parametrize(("code", "reason"), [(errno.EACCES, "no permission for 'x'"), (errno.ENOSPC, "no space left")])
def test_a_directory_that_cannot_be_made_says_why(
    roots: Roots, monkeypatch: pytest.MonkeyPatch, code: int, reason: str
) -> None:
    failing(monkeypatch, "mkdir", code)
    with pytest.raises(FileProblem, match=reason):
        write(roots.locate("x/y"), "", "create", "", parents=True)
    with pytest.raises(FileProblem, match=reason):
        make_directories(roots.locate("x"))


def test_an_edit_that_makes_a_file_too_large_changes_nothing(root: Path, roots: Roots) -> None:
    (root / "a.txt").write_text("a" * 100_000)
    place = roots.locate_for_change("a.txt")
    with pytest.raises(FileProblem, match="would become too large"):
        edit(place, "a", "b" * 100_000, "", everywhere=True)
    assert (root / "a.txt").read_text() == "a" * 100_000
    assert edit(place, "a", "bb", "", everywhere=True)["replacements"] == 100_000
