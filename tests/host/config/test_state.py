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

from pegboard.config.state import (
    UnsafeStateError,
    create_state,
    read_state,
    remove_state,
    state_directory,
    state_lock,
    write_state,
)


def test_the_first_absolute_path_counts() -> None:
    environ = {"PEGBOARD_STATE_DIR": "/own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/a"}
    assert state_directory(environ) == Path("/own")
    assert state_directory(environ | {"PEGBOARD_STATE_DIR": "own"}) == Path("/xdg/pegboard")
    if sys.platform != "darwin":
        assert state_directory({"XDG_STATE_HOME": "xdg", "HOME": "/home/a"}) == Path("/home/a/.local/state/pegboard")


def test_a_file_is_replaced_whole_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "a" / "state")}
    assert read_state("token", environ) is None
    write_state("token", b"first, and longer", environ)
    path = write_state("token", b"second", environ)
    assert read_state("token", environ) == b"second"
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="other systems have no pipes with names")
def test_a_pipe_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token")
    for read in (read_state, partial(create_state, content=b"key")):
        with pytest.raises(OSError, match="is not a regular file"):
            read("token", environ={"PEGBOARD_STATE_DIR": str(tmp_path)})


POSIX = pytest.mark.skipif(os.name != "posix", reason="it is about POSIX modes")


@POSIX
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602])
def test_a_secret_that_others_can_read_or_change_is_refused(mode: int, tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path)}
    create_state("key", b"secret", environ)
    (tmp_path / "key").chmod(mode)
    for read in (partial(create_state, content=b"other"), partial(read_state, secret=True)):
        with pytest.raises(UnsafeStateError, match=f"other users can read or change {tmp_path}/key: run chmod 600"):
            read("key", environ=environ)
    assert read_state("key", environ) == b"secret"


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_directory_that_every_user_can_write_is_refused(mode: int, tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "state")}
    write_state("key", b"secret", environ)
    (tmp_path / "state").chmod(mode)
    uses: list[Callable[[], object]] = [
        partial(state_directory, environ),
        partial(read_state, "key", environ),
        partial(write_state, "key", b"", environ),
        partial(create_state, "key", b"", environ),
        partial(remove_state, "key", environ),
        state_lock("key", environ).__enter__,
    ]
    for use in uses:
        with pytest.raises(UnsafeStateError, match=f"run chmod o-w {tmp_path}/state, or set PEGBOARD_STATE_DIR"):
            use()
    (tmp_path / "state").chmod(0o770)  # a volume of a container
    assert read_state("key", environ) == b"secret"


def test_of_concurrent_creators_one_wins(tmp_path: Path) -> None:
    environ, together = {"PEGBOARD_STATE_DIR": str(tmp_path)}, Barrier(8)

    def create(number: int) -> bytes:
        together.wait()
        return create_state("token", b"%d" % number, environ)

    with ThreadPoolExecutor(8) as pool:
        (token,) = set(pool.map(create, range(8)))
    assert create_state("token", b"late", environ) == token == (tmp_path / "token").read_bytes()
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir()] == [("token", 0o600)]


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot synchronize folders")
@pytest.mark.parametrize(("write", "named"), [(create_state, "link"), (write_state, "replace")])
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
    write("token", b"key", {"PEGBOARD_STATE_DIR": str(tmp_path)})
    assert (tmp_path / "token").read_bytes() == b"key"
    assert done == ["file", "3 bytes", "folder"]
