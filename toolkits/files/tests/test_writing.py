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


def test_create_makes_a_file_and_does_not_replace_one(root: Path, roots: Roots) -> None:
    before = os.umask(0o027)
    try:
        result = write(roots.locate("x/y/a"), "text ä\n", "create", "", parents=True)
    finally:
        os.umask(before)
    assert result == {"path": "x/y/a", "action": "created", "size": 8}
    assert (root / "x/y/a").read_text() == "text ä\n"
    assert (root / "x/y/a").stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileProblem, match=r"already exists\. To change it, overwrite it, append to it or edit it"):
        write(roots.locate("x/y/a"), "other", "create", "")
    assert (root / "x/y/a").read_text() == "text ä\n"
    with pytest.raises(FileProblem, match="'z' does not exist"):
        write(roots.locate("z/a"), "text", "create", "")


def test_overwrite_replaces_in_one_step_and_keeps_permissions(root: Path, roots: Roots) -> None:
    (root / "a").write_text("old")
    (root / "a").chmod(0o751)
    with open(root / "a") as reader:
        assert write(roots.locate("a"), "new text", "overwrite", "")["action"] == "overwritten"
        assert reader.read() == "old"
    assert (root / "a").read_text() == "new text"
    assert (root / "a").stat().st_mode & 0o777 == 0o751
    assert os.listdir(root) == ["a"]


def test_append_adds_to_the_end_in_the_encoding_of_the_file(root: Path, roots: Roots) -> None:
    assert write(roots.locate("a"), "one\n", "append", "")["action"] == "created"
    assert write(roots.locate("a"), "two\n", "append", "") == {"path": "a", "action": "appended", "size": 8}
    assert (root / "a").read_text() == "one\ntwo\n"
    (root / "wide").write_bytes("é".encode("utf-16"))
    write(roots.locate("wide"), "ü", "append", "")
    assert (root / "wide").read_bytes().decode("utf-16") == "éü"
    (root / "empty").write_bytes(b"")
    write(roots.locate("empty"), "ü", "append", "utf-16")
    assert (root / "empty").read_bytes() == codecs.BOM_UTF16_LE + "ü".encode("utf-16-le")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "utf-32"])
def test_a_chosen_encoding_is_written_and_an_edit_keeps_it(root: Path, roots: Roots, encoding: str) -> None:
    write(roots.locate("a"), "é old\n", "create", encoding)
    assert (root / "a").read_bytes().decode(encoding) == "é old\n"
    edit(roots.locate("a"), "old", "new", "latin-1" if encoding == "latin-1" else "")
    assert (root / "a").read_bytes() == "é new\n".encode(encoding)


@pytest.mark.parametrize("mode", ["create", "overwrite", "append"])
def test_a_directory_is_not_written(root: Path, roots: Roots, mode: Any) -> None:
    (root / "directory").mkdir()
    with pytest.raises(FileProblem):
        write(roots.locate("directory"), "text", mode, "")


def failing(monkeypatch: pytest.MonkeyPatch, call: str, code: int, after: int = 0) -> None:
    """Let `os.<call>` fail with this error; a write first takes `after` bytes."""
    real = getattr(os, call)

    def calling(*args: Any, **kwargs: Any) -> Any:
        if call == "write" and after and len(args[1]) > after:
            return real(args[0], args[1][:after])
        raise OSError(code, "failed")

    monkeypatch.setattr(os, call, calling)


@pytest.mark.parametrize(
    ("call", "code", "reason"),
    [
        ("write", errno.ENOSPC, "There is no space left for 'a'"),
        ("fsync", errno.EIO, "'a'"),
        ("rename", errno.EACCES, "no permission for 'a'"),
    ],
)
def test_a_failure_while_overwriting_leaves_the_old_file(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch, call: str, code: int, reason: str
) -> None:
    (root / "a").write_text("old")
    failing(monkeypatch, call, code)
    with pytest.raises(FileProblem, match=reason) as caught:
        write(roots.locate("a"), "new", "overwrite", "")
    assert not caught.value.correctable
    monkeypatch.undo()
    assert (root / "a").read_text() == "old"
    assert os.listdir(root) == ["a"]


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
            (root / "a").write_text("of another program")
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", linking)
    if taken:
        with pytest.raises(FileProblem, match="already exists"):
            write(roots.locate("a"), "mine", "create", "")
    else:
        write(roots.locate("a"), "mine", "create", "")
    assert (root / "a").read_text() == ("of another program" if taken else "mine")
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


def test_an_edit_replaces_one_or_all_occurrences(root: Path, roots: Roots) -> None:
    (root / "a").write_text("one\ntwo\nthree\n")
    (root / "a").chmod(0o600)
    assert edit(roots.locate("a"), "two\nthr", "2\n3", "") == {"path": "a", "replacements": 1, "line": 2}
    assert (root / "a").read_text() == "one\n2\n3ee\n"
    assert (root / "a").stat().st_mode & 0o777 == 0o600
    assert edit(roots.locate("a"), "e", "x", "", everywhere=True) == {"path": "a", "replacements": 3, "line": 1}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "x", "must not be empty"),
        ("def", "def", "nothing was changed"),
        ("f", "g", r"occurs 2 times in 'a', in lines 1, 1\. Include more"),
        ("\treturn 1", "x", r"does not occur in 'a'\. Line 2 is like its first line"),
        ("something else", "x", r"does not occur in 'a'\. Read the file"),
    ],
)
def test_an_ambiguous_or_useless_edit_is_rejected(root: Path, roots: Roots, old: str, new: str, reason: str) -> None:
    (root / "a").write_text("def f():\n    return 1\n")
    with pytest.raises(FileProblem, match=reason):
        edit(roots.locate("a"), old, new, "")


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\r\nc\n", "a\nb", "x\ny", b"x\ny\r\nc\n"),
        (b"a\nb\r\nc\n", "b\nc", "x\ny", b"a\nx\r\ny\n"),
    ],
)
def test_edit_keeps_the_line_ends_of_the_file(
    root: Path, roots: Roots, content: bytes, old: str, new: str, expected: bytes
) -> None:
    (root / "a").write_bytes(content)
    edit(roots.locate("a"), old, new, "")
    assert (root / "a").read_bytes() == expected


def test_an_edit_of_a_binary_or_too_large_file_changes_nothing(
    root: Path, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, reason in ((b"c\0b", "NUL"), (b"caf\xe9", "not valid utf-8")):
        (root / "a").write_bytes(content)
        with pytest.raises(FileProblem, match=reason):
            edit(roots.locate("a"), "c", "b", "")
    (root / "a").write_text("a" * 100_000)
    with pytest.raises(FileProblem, match="would become too large"):
        edit(roots.locate("a"), "a", "b" * 100_000, "", everywhere=True)
    monkeypatch.setattr(writing, "MAX_EDIT", 3)
    with pytest.raises(FileProblem, match="too large to be edited"):
        edit(roots.locate("a"), "a", "b", "")
    assert (root / "a").read_text() == "a" * 100_000


def test_directories_are_made_with_their_parents(root: Path, roots: Roots, outside: Path) -> None:
    assert make_directories(roots.locate("a/b/c"))
    assert not make_directories(roots.locate("a/b/c"))
    (root / "file").write_text("")
    (root / "link").symlink_to(outside)
    long = "x" * 300 + "/y"
    for path, reason in (("file/x", "is a file"), ("link", "symbolic"), ("link/x", "symbolic"), (long, "too long")):
        with pytest.raises(FileProblem, match=reason):
            make_directories(roots.locate(path))
    assert os.listdir(outside) == ["secret.txt"]
