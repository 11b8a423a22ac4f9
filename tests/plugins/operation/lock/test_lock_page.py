"""The example of docs/lock.md: its output is that of the command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.pages import Page, pegboard
from tests.support.wire import PEGBOARD

PAGE = Page("docs/lock.md")


def test_the_mounted_server_loses_the_tool_that_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(PEGBOARD.parent), prepend=os.pathsep)
    PAGE.write(tmp_path)
    for line in ("config trust", "lock"):
        assert pegboard(*line.split(), cwd=tmp_path).code == 0
    (tmp_path / "server/changed.py").replace(tmp_path / "server/weather.py")
    checked = pegboard("lock", "--check", cwd=tmp_path)
    assert (checked.code, checked.out) == (1, PAGE.blocks["text output"])
    called = pegboard("call", "weather_forecast", "city=Oslo", cwd=tmp_path)
    assert (called.code, "is not served: it differs from pegboard.lock: description was" in called.err) == (1, True)
