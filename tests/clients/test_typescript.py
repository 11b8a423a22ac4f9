"""The TypeScript SDK's client, in the version that most clients are built on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import Place
from tests.support.npm import installed, node
from tests.support.wire import client_environment

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

SCRIPT = Path(__file__).with_name("scripts") / "progress.mjs"
CALLS = 200


def test_the_last_report_of_progress_is_heard_before_the_result(place: Place) -> None:
    """The client drops reports that it reads in one piece with the result."""
    script = installed(SCRIPT, "@modelcontextprotocol/sdk", "1.32.2")
    folder = place.folder()
    stdio = {
        "command": [str(place.pegboard), "stdio"],
        "env": client_environment(folder, place.env),
        "cwd": str(folder),
    }
    with place.serving() as server:
        for told in (stdio, {"url": server.url}):
            arguments = [json.dumps(told), "fixture_count", str(CALLS), "30"]
            run = subprocess.run([node(), script, *arguments], capture_output=True, text=True, check=True)
            said = json.loads(run.stdout)
            assert said["lost"] <= CALLS // 200
            assert said["heard"] <= CALLS * 20
