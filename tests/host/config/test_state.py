"""The state directory and its files."""

from __future__ import annotations

import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from pegboard.config.state import create_state, read_state, state_directory, write_state


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PEGBOARD_STATE_DIR": "/own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/a"}, "/own"),
        ({"PEGBOARD_STATE_DIR": "own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/a"}, "/xdg/pegboard"),
        pytest.param(
            {"XDG_STATE_HOME": "xdg", "HOME": "/home/a"},
            "/home/a/.local/state/pegboard",
            marks=pytest.mark.skipif(sys.platform == "darwin", reason="macOS keeps it in Library"),
        ),
    ],
)
def test_the_first_absolute_path_wins(environ: dict[str, str], expected: str) -> None:
    assert state_directory(environ) == Path(expected)


def test_a_file_is_replaced_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    environ = {"PEGBOARD_STATE_DIR": str(tmp_path / "a" / "state")}
    assert read_state("token", environ) is None
    write_state("token", b"first, and longer", environ)
    path = write_state("token", b"second", environ)
    assert read_state("token", environ) == b"second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_of_those_who_create_a_file_at_once_one_wins(tmp_path: Path) -> None:
    environ, together = {"PEGBOARD_STATE_DIR": str(tmp_path)}, Barrier(8)

    def create(number: int) -> bytes:
        together.wait()
        return create_state("token", b"%d" % number, environ)

    with ThreadPoolExecutor(8) as pool:
        (found,) = set(pool.map(create, range(8)))
    assert create_state("token", b"late", environ) == found == (tmp_path / "token").read_bytes()
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir()] == [("token", 0o600)]
