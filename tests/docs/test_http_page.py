"""The lines of docs/http.md and docs/worker.md are answered."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Page, serving
from tests.support.environments import run


def test_the_lines_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        script = Page("docs/http.md").blocks["sh http"].replace("http://127.0.0.1:8000", address)
        script = script.replace("pegboard call", f"{sys.executable} -m pegboard call")
        shown = run("sh", "-ec", script, cwd=tmp_path)
    assert '"roots"' in shown.partition("jsonrpc")[0]
    assert '"isError":false' in shown
    assert shown.endswith("ready\n")


def test_the_curl_lines_for_the_worker_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADE_WORKER_SECRET", "0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("ARCADE_DISABLED_TOOLKITS", "github")
    with serving(tmp_path) as address:
        script = Page("docs/worker.md").blocks["sh worker"].replace("http://127.0.0.1:8000", address)
        command = Path(sys.executable).with_name("pegboard")
        answer = json.loads(run("sh", "-c", script.replace("pegboard token", f"{command} token"), cwd=tmp_path))
    assert answer["success"] is True
    assert answer["output"]["value"]["roots"]
