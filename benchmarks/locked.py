"""The start with 1,000 tools that are compared with `pegboard.lock`, beside the start without the lock."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench, first_list
from benchmarks.contenders import PEGBOARD
from benchmarks.messages import MODERN, WrongAnswerError, result_of
from benchmarks.process import Server

NAME: Final = "lock"
TOOLS: Final = 1000
CASE: Final = f"{TOOLS} tools"
LOCKED: Final = "pegboard --locked"


def run(bench: Bench) -> None:
    """Measure."""
    for contender in bench.turns(NAME, (PEGBOARD,)):
        environ = contender.environ(TOOLS - contender.tool_count)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "hostconfig.toml")
            file.touch(0o600)
            options = ("--config", str(file))
            command = (contender.command[0], "lock", *options)
            subprocess.run(command, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name, more in ((PEGBOARD, ()), (LOCKED, ("--locked",))):
                with Server((*contender.command, *options, *more), environ, bench.cpus) as server:
                    answer = first_list(server, MODERN)
                    bench.results.add(
                        NAME, CASE, name, wall_ms=server.age_seconds() * 1e3, cpu_ms=server.cpu_seconds() * 1e3
                    )
                if len(result_of(answer)["result"]["tools"]) != TOOLS:
                    raise WrongAnswerError(f"{name} did not list {TOOLS} tools")
