"""The page about the worker, and what the README says of it: the curl lines are answered."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environments import run
from tools.install import ROOT

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("page", ["README.md", "docs/worker.md"])
def test_the_curl_lines_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    (script,) = re.findall(r"^```sh worker\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
    monkeypatch.setenv("ARCADE_WORKER_SECRET", SECRET)
    monkeypatch.setenv("ARCADE_DISABLED_TOOLKITS", "github")
    command = Path(sys.executable).with_name("pegboard")
    assert shutil.which("curl")
    environ = {**os.environ, "PEGBOARD_STATE_DIR": str(tmp_path / "state"), "PEGBOARD__PLUGINS__HTTP__PORT": "0"}
    with subprocess.Popen([command, "serve"], cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stderr)), None)
            assert address
            script = script.replace("http://127.0.0.1:8000", address[0]).replace("pegboard token", f"{command} token")
            told = json.loads(run("sh", "-c", script, cwd=tmp_path))
        finally:
            server.terminate()
    assert told["success"] is True
    assert told["output"]["value"]["roots"]
