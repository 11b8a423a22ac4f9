"""The official Python SDK's clients, run as programs in environments of their own against the installed host.

The programs are in `tests/clients/scripts`; this module starts them and reads what they print and what the tee between
them and the host wrote down. Nothing here imports the SDK.
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
    """What came of one run of a client.

    Attributes:
        said: what the client's script printed, decoded.
        record: the lines of the tee.
        conversation: the recorder's view; every line of the host has passed it.
        stderr: what client, tee and host wrote to standard error.
    """

    said: dict[str, Any]
    record: list[bytes]
    conversation: Conversation
    stderr: str

    def sent(self) -> list[dict[str, Any]]:
        """The messages of the client."""
        return [json.loads(line[1:]) for line in self.record if line.startswith(b">")]

    def exit_code(self) -> int | None:
        """The host's exit code; None when it was killed together with the tee."""
        last = self.record[-1] if self.record else b""
        return int(last[1:]) if last.startswith(b"=") else None


def sdk_python(line: str) -> Path:
    """The interpreter of an environment with the SDK's line, "1" or "2", in it; made when it is not there."""
    return executable(make_environment(f"mcp-{line}", SDKS[line]))


def run_client(line: str, scenario: str, command: list[str], folder: Path, **plan: Any) -> Run:
    """Run a scenario of the scripts with the SDK's client against a server's command, through the tee.

    Args:
        line: which SDK.
        scenario: the function of `scenarios.py`.
        command: how to start the server.
        folder: an empty folder, the working directory of both, where the record is kept.
        plan: what else the script needs to know: `mode`, `env`, ...

    Raises:
        SchemaMismatch: the host said something that it must not.
        AssertionError: the client failed.
    """
    record = folder / "record"
    python = str(sdk_python(line))
    tapped = [python, "-I", str(Path(tee.__file__)), str(record), *command]
    plan |= {"scenario": scenario, "command": tapped, "cwd": str(folder)}
    done = subprocess.run(
        [python, str(SCRIPTS / f"client_{line}.py"), json.dumps(plan)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT,
        cwd=folder,
        env=client_environment(folder),
    )
    lines = record.read_bytes().splitlines() if record.exists() else []
    assert done.returncode == 0, f"the client of SDK {line} failed:\n{done.stdout}\n{done.stderr}"
    return Run(json.loads(done.stdout), lines, replay(lines), done.stderr)
