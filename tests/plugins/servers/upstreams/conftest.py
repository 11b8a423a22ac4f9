"""A state directory for each test, so that no test lists what another one has connected to. A server with a login."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.login_server import server
from tests.support.person import person

__all__ = ["person", "server"]


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a new state directory in this process, and in the processes that inherit its variables."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(folder))
    return folder
