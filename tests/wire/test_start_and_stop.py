"""What is printed while plugins are loaded, started and stopped is not for the client either."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distributions import make_distribution

KIT = """\
import os
from pegboard import Toolkit

print("printed at import")
os.write(1, b"written at import\\n")
kit = Toolkit("loud")


@kit.lifespan
async def live(config):
    print("printed at start")
    yield
    print("printed at stop")
    os.write(1, b"written at stop\\n")


@kit.tool(inline=True)
def one() -> str:
    '''Give one.'''
    return "one"
"""


@pytest.mark.requirement("STDIO-02")
def test_only_messages_are_on_standard_output(tmp_path: Path) -> None:
    make_distribution(
        tmp_path, "toolkit-loud", "1", {"pegboard.toolkits": {"loud": "loud_kit:kit"}}, {"loud_kit.py": KIT}
    )
    (tmp_path / "hostconfig.toml").write_text("[host]\nautoload = false\n[toolkits.loud]\n")
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    done = subprocess.run(
        [sys.executable, "-m", "pegboard", "stdio", "--config", "hostconfig.toml"],
        input=ping + "\n",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    for said in ("printed at import", "written at import", "printed at start", "printed at stop", "written at stop"):
        assert said in done.stderr


def test_closed_standard_streams_are_filled(tmp_path: Path) -> None:
    (tmp_path / "hostconfig.toml").write_text("[host]\nautoload = false\n")
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -m pegboard stdio --config hostconfig.toml 2>&-"],
        input=ping + "\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
