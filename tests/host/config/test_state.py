"""The state directory and its files."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from pegboard.config.state import read_state, state_directory, write_state


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
