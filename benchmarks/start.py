"""The start of a process until the first response to `tools/list`, beside an import of pydantic."""

from __future__ import annotations

from typing import Final

from benchmarks.bench import Bench, first_list
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, PEGBOARD_FILES, Contender
from benchmarks.messages import ERAS, result_of
from benchmarks.process import Server

NAME: Final = "start"
_STARTED: Final = (PEGBOARD, PEGBOARD_FILES, *PEERS, FLOOR)
PYDANTIC: Final = "pydantic"
PYTHON: Final = "python"
BASELINES: Final = {
    PYTHON: "pass",
    PYDANTIC: "from pydantic import BaseModel\nclass Model(BaseModel):\n    number: int",
}
"""The code that `python -c` runs in pegboard's environment. Its last statement prints a line, which ends the time."""


def run(bench: Bench) -> None:
    """Measure. Every contender first starts once, so that the kernel has its files in memory."""
    for name in _STARTED:
        if name in bench.names:
            with bench.start(bench.contenders.get(name)) as server:
                first_list(server, ERAS[0])
    for contender in bench.turns(NAME, _STARTED):
        for era in contender.eras:
            with bench.start(contender) as server:
                answer = first_list(server, era)
                _add(bench, server, era, contender.name)
            assert result_of(answer)["result"]["tools"]
        if contender.name == PEGBOARD:
            for era in ERAS:
                _baselines(bench, contender, era)


def _baselines(bench: Bench, contender: Contender, era: str) -> None:
    for name, code in BASELINES.items():
        with Server(contender.python(code), contender.environ(), bench.cpus) as server:
            server.wait_for_line()
            _add(bench, server, era, name)


def _add(bench: Bench, server: Server, era: str, name: str) -> None:
    wall, cpu = server.age_seconds(), server.cpu_seconds()
    now, _ = server.memory_mib()
    bench.results.add(NAME, era, name, wall_ms=wall * 1e3, cpu_ms=cpu * 1e3, rss_mib=now)
