"""The TypeScript SDK's client, in the version that most clients are built on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Place
from tests.support.npm import installed, node
from tests.support.wire import client_environment

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

SCRIPT = Path(__file__).with_name("scripts") / "progress.mjs"
CALLS = 200


def progress(server: dict[str, Any], steps: int) -> dict[str, Any]:
    """Call a tool that reports so many steps, many times."""
    script = installed(SCRIPT, "@modelcontextprotocol/sdk", "1.32.2")
    arguments = [json.dumps(server), "fixture_count", str(CALLS), str(steps)]
    said = subprocess.run([node(), script, *arguments], capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(said)
    return found


@pytest.mark.parametrize("steps", [1, 30])
def test_the_last_report_of_progress_is_heard_before_the_result(place: Place, transport: str, steps: int) -> None:
    """The client drops reports that it reads in one piece with the result."""
    if transport == "http":
        with place.serving() as server:
            said = progress({"url": server.url}, steps)
    else:
        folder = place.folder()
        env = client_environment(folder, place.env)
        said = progress({"command": [str(place.pegboard), "stdio"], "env": env, "cwd": str(folder)}, steps)
    assert said["lost"] <= CALLS // 200
    assert said["heard"] <= CALLS * min(steps, 20)
