"""Directories to work in: a root, and beside it something that no tool may ever touch."""

from pathlib import Path

import pytest

from toolkit_files.roots import Roots

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
def roots(root: Path) -> Roots:
    return Roots([str(root)])
