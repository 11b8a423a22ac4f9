"""Directories to work in: a root, and beside it something that no tool may ever touch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from toolkit_files.roots import Roots

collect_ignore_glob = [] if os.open in os.supports_dir_fd else ["*"]
"""The toolkit refuses to be imported on Windows."""
SECRET = "the secret that lies outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir()
    (path / "secret.txt").write_text(SECRET)
    return path


@pytest.fixture
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work looks up after every fourth step and reports after every sixteenth, so that a few files are many."""
    from toolkit_files import watch

    monkeypatch.setattr(watch, "LOOK_EVERY", 4)
    monkeypatch.setattr(watch, "TELL_EVERY", 16)


@pytest.fixture
def roots(root: Path) -> Roots:
    from toolkit_files.roots import Roots

    return Roots([str(root)])
