"""The official Python SDK's clients, run as programs in environments of their own against the installed host.

The programs are in `tests/clients/scripts`. This module starts them and reads their output and the record of their
messages, made by the tee over standard streams and by the tap in the client over HTTP. Nothing here imports the SDK.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import tee
from tests.support.environments import executable, make_environment
from tests.support.recorder import Conversation, replay
from tests.support.wire import client_environment

SDKS = {"1": "mcp==1.30.0", "2": "mcp==2.3.0"}
"""The last release of the first line and the current one of the second. Raise them here when there are newer ones."""
SCRIPTS = Path(__file__).parent.parent / "clients" / "scripts"
WAIT = 60.0
"""Seconds that one run of a client may take."""


@dataclass(frozen=True)
class Run:
    """The record of one run of a client.

    Attributes:
        said: what the client's script printed, decoded.
        record: the lines of the tee or the tap.
        conversation: the recorder's view; every line of the host has passed it.
        stderr: what the client and, over standard streams, tee and host wrote to standard error.
    """

    said: dict[str, Any]
    record: list[bytes]
    conversation: Conversation
    stderr: str

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line[1:]) for line in self.record if line.startswith(b">")]

    def statuses(self) -> list[str]:
        """The method and status of each exchange over HTTP, like "POST 200", in order."""
        return [line[1:].decode() for line in self.record if line.startswith(b"#")]

    def exit_code(self) -> int | None:
        """The host's exit code; None when it was killed together with the tee, and over HTTP."""
        last = self.record[-1] if self.record else b""
        return int(last[1:]) if last.startswith(b"=") else None


def sdk_python(line: str) -> Path:
    """The interpreter of an environment with the SDK's line, "1" or "2", in it; made when it is not there."""
    return executable(make_environment(f"mcp-{line}", SDKS[line]))


def run_client(line: str, scenario: str, command: list[str], folder: Path, **plan: Any) -> Run:
    """Run a function of `scenarios.py` with the SDK's client against a server's command, through the tee.

    The record is kept in `folder`, the working directory of both. The rest of the plan is for the script.
    """
    tapped = [str(sdk_python(line)), "-I", str(Path(tee.__file__)), str(folder / "record"), *command]
    return _run(line, folder, plan | {"scenario": scenario, "command": tapped, "cwd": str(folder)})


def run_http_client(line: str, scenario: str, url: str, folder: Path, **plan: Any) -> Run:
    """Run a function of `scenarios.py` with the SDK's client against a running server, with a tap in the client."""
    return _run(line, folder, plan | {"scenario": scenario, "url": url, "record": str(folder / "record")})


def _run(line: str, folder: Path, plan: dict[str, Any]) -> Run:
    client = subprocess.run(
        [str(sdk_python(line)), str(SCRIPTS / "client.py"), json.dumps(plan)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        env=client_environment(folder),
        timeout=WAIT,
        check=False,
    )
    record = folder / "record"
    lines = record.read_bytes().splitlines() if record.exists() else []
    assert client.returncode == 0, f"the client of SDK {line} failed:\n{client.stdout}\n{client.stderr}"
    return Run(json.loads(client.stdout), lines, replay(lines), client.stderr)
