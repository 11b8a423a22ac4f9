"""`tools/call` by clients to `pegboard serve` in both eras: the CPU time of the client."""

from __future__ import annotations

import json
import subprocess
from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import CLIENTS, PEGBOARD
from benchmarks.environments import HERE
from benchmarks.messages import ERAS

NAME: Final = "client"
_PROGRAMS: Final = {name: str(HERE / "clients" / f"with_{program}.py") for name, program in CLIENTS.items()}
_TIMEOUT_SECONDS: Final = 120


def run(bench: Bench) -> None:
    """Measure."""
    host = bench.contenders.get(PEGBOARD)
    with bench.serve(host) as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        for era in ERAS:
            for contender in bench.turns(f"{NAME} {era}", CLIENTS):
                program = (contender.environment.python, _PROGRAMS[contender.name])
                done = subprocess.run(
                    (*program, url, host.tools["add"], era, str(bench.seconds)),
                    capture_output=True,
                    text=True,
                    env=contender.environ(),
                    timeout=_TIMEOUT_SECONDS,
                    check=False,
                )
                if done.returncode:
                    raise RuntimeError(f"the client {contender.name} failed:\n{done.stderr}")
                bench.results.add(NAME, f"{era} add", contender.name, **json.loads(done.stdout))
