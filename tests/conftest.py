"""The state directory of commands that tests start."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

_state = TemporaryDirectory(prefix="pegboard-state-")


def pytest_configure() -> None:
    """Keep commands that inherit the environment from the state directory of the person who runs the tests."""
    os.environ["PEGBOARD_STATE_DIR"] = _state.name
