"""The state directory and its files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from pegboard.config.state import StateFiles, UnsafeStateError


def test_the_first_absolute_path_counts() -> None:
    environ = {"PEGBOARD_STATE_DIR": "/own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/a"}
    assert StateFiles(environ).directory == Path("/own")
    assert StateFiles(environ | {"PEGBOARD_STATE_DIR": "own"}).directory == Path("/xdg/pegboard")
    if sys.platform != "darwin":
        of_home = StateFiles({"XDG_STATE_HOME": "xdg", "HOME": "/home/a"})
        assert of_home.directory == Path("/home/a/.local/state/pegboard")


def test_a_file_is_replaced_whole_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "state" / "token"
    files = StateFiles({"PEGBOARD_STATE_DIR": str(path.parent)})
    assert files.read("token") is None
    files.write("token", b"first, and longer")
    files.write("token", b"second")
    assert files.read("token") == b"second"
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="other systems have no pipes with names")
def test_a_pipe_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token")
    files = StateFiles({"PEGBOARD_STATE_DIR": str(tmp_path)})
    for read in (files.read, partial(files.create, content=b"key")):
        with pytest.raises(OSError, match="is not a regular file"):
            read("token")


POSIX = pytest.mark.skipif(os.name != "posix", reason="it is about POSIX modes")


@POSIX
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602])
def test_a_secret_that_others_can_read_or_change_is_refused(mode: int, tmp_path: Path) -> None:
    files = StateFiles({"PEGBOARD_STATE_DIR": str(tmp_path)})
    files.create("key", b"secret")
    (tmp_path / "key").chmod(mode)
    for read in (partial(files.create, content=b"other"), files.read):
        with pytest.raises(UnsafeStateError, match=f"other users can read or change {tmp_path}/key: run chmod 600"):
            read("key")
    assert files.read("key", secret=False) == b"secret"


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_directory_that_every_user_can_write_is_refused(mode: int, tmp_path: Path) -> None:
    files = StateFiles({"PEGBOARD_STATE_DIR": str(tmp_path / "state")})
    files.write("key", b"secret")
    (tmp_path / "state").chmod(mode)
    uses: list[Callable[[], object]] = [
        lambda: files.directory,
        partial(files.read, "key"),
        partial(files.write, "key", b""),
        partial(files.create, "key", b""),
        partial(files.remove, "key"),
        files.lock("key").__enter__,
    ]
    for use in uses:
        with pytest.raises(UnsafeStateError, match=f"run chmod o-w {tmp_path}/state, or set PEGBOARD_STATE_DIR"):
            use()
    (tmp_path / "state").chmod(0o770)  # a volume of a container
    assert files.read("key") == b"secret"


def test_of_concurrent_creators_one_wins(tmp_path: Path) -> None:
    files = StateFiles({"PEGBOARD_STATE_DIR": str(tmp_path)})
    together = Barrier(8)

    def create(number: int) -> bytes:
        together.wait()
        return files.create("token", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        (token,) = set(pool.map(create, range(8)))
    assert files.create("token", b"late") == token == (tmp_path / "token").read_bytes()
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir()] == [("token", 0o600)]


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot synchronize folders")
@pytest.mark.parametrize(("write", "named"), [(StateFiles.create, "link"), (StateFiles.write, "replace")])
def test_a_file_is_on_the_disk_before_it_gets_its_name(
    write: Callable[..., Any], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure could leave an empty file, and lose a key with which tokens have been encrypted."""
    done: list[str] = []

    def recorded(name: str, tell: Any) -> None:
        real = getattr(os, name)

        def record(*arguments: Any) -> None:
            done.append(tell(*arguments))
            real(*arguments)

        monkeypatch.setattr(os, name, record)

    recorded("fsync", lambda handle: "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
    recorded(named, lambda source, _: f"{len(Path(source).read_bytes())} bytes")
    write(StateFiles({"PEGBOARD_STATE_DIR": str(tmp_path)}), "token", b"key")
    assert (tmp_path / "token").read_bytes() == b"key"
    assert done == ["file", "3 bytes", "folder"]
