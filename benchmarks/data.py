"""`tools/call` inside a process, with long lists of nested objects as results and arguments, beside pydantic_core."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, PEGBOARD
from benchmarks.environments import HERE
from benchmarks.process import Server
from benchmarks.results import Promise, Results

NAME: Final = "data"
CORE: Final = "pydantic_core"
"""The part of a call that a ratio is relative to: `to_json` of the result, or `from_json` of the request."""
PROGRAM: Final = str(HERE / "servers" / "large_data.py")
TURNS: Final = {1000: 100, 9000: 25}
"""The turns of a process by the number of rows. 9,000 rows are 1.7 MiB of JSON."""
MODELS: Final = "arguments: models"
LIMITS: Final = {
    "result: TypedDicts": 4.0,
    "result: dicts": 3.0,
    "result: models": 3.0,
    "arguments: dicts": 3.2,
    "arguments: dicts, colons": 3.2,
    "arguments: TypedDicts": 3.2,
}
"""The most CPU time of a call with 9,000 rows relative to `CORE`."""
KINDS: Final = (*LIMITS, MODELS)
_MODELS_LIMIT: Final = 1.35
"""The most CPU time of a call with models as arguments, relative to the floor."""


def case(kind: str, rows: int = 9000) -> str:
    """Return the name of a kind of data in results."""
    return f"{kind}, {rows:,} rows"


def run(bench: Bench) -> None:
    """Measure."""
    for contender in bench.turns(NAME, (PEGBOARD,)):
        for rows, turns in TURNS.items():
            command = (contender.environment.python, PROGRAM, str(rows), str(turns))
            with Server(command, contender.environ(), bench.cpus) as server:
                measured = json.loads(server.wait_for_line())
            for kind in KINDS:
                for part, milliseconds in measured[kind].items():
                    bench.results.add(NAME, case(kind, rows), part, cpu_ms=milliseconds)


def promises(results: Results) -> Iterator[Promise]:
    """Yield each promise that was measured."""
    limits = [(kind, CORE, limit) for kind, limit in LIMITS.items()]
    for kind, base, limit in (*limits, (MODELS, FLOOR, _MODELS_LIMIT)):
        ratio = results.ratio(NAME, case(kind), PEGBOARD, base, "cpu_ms")
        if ratio:
            yield Promise(NAME, case(kind), ratio, limit, f"x {base}")
