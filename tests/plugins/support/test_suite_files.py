"""Files with suites of evaluations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegboard_plugins.support.suite_files import suite_files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="other systems have no pipes with names")
def test_only_regular_files_are_suites(tmp_path: Path) -> None:
    """Reading a named pipe would not end."""
    (tmp_path / "eval_a.py").touch()
    (tmp_path / "eval_b.py").mkdir()
    os.mkfifo(tmp_path / "eval_c.py")
    assert list(suite_files(tmp_path)) == [tmp_path / "eval_a.py"]
