"""The page about evaluations, from captured calls to a failing run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import Page, pegboard
from tests.plugins.authoring.evals.model_server import ModelServer

PAGE = Page("docs/evaluations.md")


def test_a_suite_grows_from_captured_calls_to_a_failing_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    PAGE.write(tmp_path)
    suite = tmp_path / "eval_files.py"
    corrected = suite.read_text("utf-8")
    suite.unlink()
    read, search, find, _ = PAGE.files["messages.txt"].splitlines()
    scripts: dict[str, list[Any]] = {
        read: [[["files_read", {"path": "README.md"}]]],
        search: [[["files_search", {"pattern": "the licence", "path": "docs"}]]],
        find: [[["files_list", {}]]],
        "Which files mention the word licence?": [[["grep", {}]]],
    }
    with ModelServer(scripts) as server:

        def run(*words: str) -> Any:
            line = ("evals", *words, "--only", "files", "--model", "openai:m", "--endpoint", server.address)
            return pegboard(*line, cwd=tmp_path)

        assert run("messages.txt", "--capture", "eval_files.py").code == 0
        assert run("--min-score", "1").code == 0  # the calls of the model are expected, also the wrong one
        suite.write_text(corrected, "utf-8")
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        assert run("tracks.py").out.splitlines()[-1].split() == ["mean", "0.000", "1.000"]
        done = run("--answers", "answers.jsonl", "--output", "before.json", "--min-score", "0.9")
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["failed", "passed", "passed", "passed"]
    assert done.code == 1
    case, *_ = json.loads((tmp_path / "before.json").read_text("utf-8"))["cases"]
    row = PAGE.partition("## The report in JSON")[2]
    assert [name for name in case if f"`{name}`" not in row] == []
    assert [name for name in case["runs"][0]["comparisons"][0] if f"`{name}`" not in row] == []
