"""`python -c 'import ...'`: the time and memory of the import of each package."""

from __future__ import annotations

from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import PEGBOARD, SDK, Contender
from benchmarks.process import Server
from benchmarks.start import BASELINES

NAME: Final = "import"
CASE: Final = "python -c"


def run(bench: Bench) -> None:
    """Measure."""
    for contender in bench.turns(NAME, (PEGBOARD, SDK)):
        codes = dict(contender.imports)
        if contender.name == PEGBOARD:
            codes |= BASELINES
        for what, code in codes.items():
            _measure(bench, contender, what, code)


def _measure(bench: Bench, contender: Contender, what: str, code: str) -> None:
    with Server(contender.python(code), contender.environ(), bench.cpus) as server:
        server.wait_for_line()
        wall, cpu = server.age_seconds(), server.cpu_seconds()
        now, _ = server.memory_mib()
    bench.results.add(NAME, CASE, what, wall_ms=wall * 1e3, cpu_ms=cpu * 1e3, rss_mib=now)
