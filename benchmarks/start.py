"""The start of a process until the first response to `tools/list`, beside an import of pydantic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.bench import Bench, Burst, Bursts, first_list
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, PEGBOARD_FILES, Contender
from benchmarks.locked_toolkits import LockedToolkits
from benchmarks.messages import ERAS, MODERN, WrongAnswerError, result_of
from benchmarks.process import Server

NAME: Final = "start"
PYDANTIC: Final = "pydantic"
PYTHON: Final = "python"
WITHOUT: Final = "pegboard without toolkits"
LAZY: Final = "pegboard lazy"
LOCKED: Final = "pegboard locked"
BASELINES: Final = {
    PYTHON: "pass",
    PYDANTIC: "from pydantic import BaseModel\nclass Model(BaseModel):\n    number: int",
}
"""The code that `python -c` runs in pegboard's environment. Its last statement prints a line, which ends the time."""
SIZES: Final = (200, 1000)
"""The numbers of tools in toolkits that a lock lists."""
_BURSTS: Final = 4


def case(size: int) -> str:
    """Return the name of a number of tools in results."""
    return f"{size} tools"


def run(bench: Bench) -> None:
    """Measure."""
    names = (PEGBOARD, PEGBOARD_FILES, *PEERS, FLOOR)
    bench.measure(NAME, names, partial(_prepared, bench), bursts=_BURSTS)


@contextmanager
def _prepared(bench: Bench, contender: Contender) -> Iterator[Bursts]:
    with TemporaryDirectory() as folder:
        bursts = _own(bench, contender)
        if contender.name == PEGBOARD:
            bursts |= _baselines(bench, contender)
            for size in SIZES:
                bursts |= _of_toolkits(bench, LockedToolkits(contender, f"{folder}/{size}", size), size)
        yield bursts


def _own(bench: Bench, contender: Contender) -> dict[tuple[str, str], Burst]:
    """Return the starts with the few tools of each contender, and those of others with many tools."""
    start = partial(_started, bench, contender.command)
    bursts: dict[tuple[str, str], Burst] = {
        (era, contender.name): partial(start, contender.environ(), era, contender.tool_count) for era in contender.eras
    }
    for size in SIZES if contender.tools and contender.name != PEGBOARD else ():
        environ = contender.environ(size - contender.tool_count)
        bursts[case(size), contender.name] = partial(start, environ, contender.eras[-1], size)
    return bursts


def _baselines(bench: Bench, contender: Contender) -> dict[tuple[str, str], Burst]:
    cases = (*ERAS, *map(case, SIZES))
    return {
        (where, name): partial(ready, bench, contender, code) for where in cases for name, code in BASELINES.items()
    }


def _of_toolkits(bench: Bench, kits: LockedToolkits, size: int) -> dict[tuple[str, str], Burst]:
    commands = {PEGBOARD: kits.eager, LOCKED: kits.locked, LAZY: kits.lazy}
    bursts: dict[tuple[str, str], Burst] = {
        (case(size), name): partial(_started, bench, command, kits.environ, MODERN, size)
        for name, command in commands.items()
    }
    return bursts | {(era, WITHOUT): partial(_started, bench, kits.without, kits.environ, era, 0) for era in ERAS}


def _started(
    bench: Bench, command: Sequence[str], environ: Mapping[str, str], era: str, tools: int
) -> dict[str, float]:
    with Server(command, environ, bench.cpus) as server:
        answer = first_list(server, era)
        metrics = _metrics(server)
    result = result_of(answer)["result"]
    listed = len(result["tools"])
    if listed < tools and "nextCursor" not in result:
        raise WrongAnswerError(f"{tools} tools were expected, {listed} came")
    return metrics


def ready(bench: Bench, contender: Contender, code: str) -> dict[str, float]:
    """Run code in the environment of a contender. Return the time and the memory that it needs."""
    with Server(contender.python(code), contender.environ(), bench.cpus) as server:
        server.wait_for_line()
        return _metrics(server)


def _metrics(server: Server) -> dict[str, float]:
    wall, cpu = server.age_seconds(), server.cpu_seconds()
    return {"wall_ms": wall * 1e3, "cpu_ms": cpu * 1e3, "rss_mib": server.memory_mib()[0]}
