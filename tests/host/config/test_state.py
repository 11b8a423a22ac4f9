"""The state directory and its files."""

from __future__ import annotations

import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from pegboard.config.state import create_state, read_state, state_directory, write_state


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


def test_of_concurrent_creators_one_wins(tmp_path: Path) -> None:
    environ, together = {"PEGBOARD_STATE_DIR": str(tmp_path)}, Barrier(8)

    def create(number: int) -> bytes:
        together.wait()
        return create_state("token", b"%d" % number, environ)

    with ThreadPoolExecutor(8) as pool:
        (found,) = set(pool.map(create, range(8)))
    assert create_state("token", b"late", environ) == found == (tmp_path / "token").read_bytes()
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir()] == [("token", 0o600)]
