"""Resident memory at rest, after calls, and after as many more calls, when it should not have grown."""

from __future__ import annotations

from typing import Final

from benchmarks.bench import Bench, first_list
from benchmarks.calls import Caller
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, PEGBOARD_FILES
from benchmarks.messages import LEGACY

NAME: Final = "memory"
CASE: Final = "stdio"
CALLS: Final = 5_000


def run(bench: Bench) -> None:
    """Measure. Half of the calls are async and half in threads."""
    for contender in bench.turns(NAME, (PEGBOARD, PEGBOARD_FILES, *PEERS, FLOOR)):
        with bench.start(contender) as server:
            first_list(server, LEGACY)
            metrics = {"rest_mib": server.memory_mib()[0]}
            for metric in ("after_mib", "after_twice_mib") if contender.tools else ():
                for tool in ("add", "add_thread"):
                    Caller(server, LEGACY, contender.tools[tool]).call(CALLS // 2)
                metrics[metric], metrics["peak_mib"] = server.memory_mib()
        bench.results.add(NAME, CASE, contender.name, **metrics)
