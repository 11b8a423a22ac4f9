"""The requests of docs/http.md are answered."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import Page, serving
from tests.support.environments import run


def test_the_curl_lines_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        script = Page("docs/http.md").blocks["sh http"].replace("http://127.0.0.1:8000", address)
        shown = run("sh", "-c", script, cwd=tmp_path)
    assert '"isError":false' in shown
    assert shown.endswith("ready\n")
