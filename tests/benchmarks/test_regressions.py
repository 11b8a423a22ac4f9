"""The comparison with an earlier revision: costs, verdict, and a real process that has become slower."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from benchmarks.contenders import Contender
from benchmarks.environments import Environment
from benchmarks.regressions.__main__ import compare
from benchmarks.regressions.comparison import Compared, table
from benchmarks.regressions.meters import CPU_TIME, INSTRUCTIONS
from benchmarks.regressions.paths import KeyPath


@pytest.mark.parametrize(("after", "verdict"), [(900, "ok"), (1049, "ok"), (1051, "SLOWER")])
def test_a_path_is_slower_above_the_limit(after: float, verdict: str) -> None:
    shown = table([Compared("call", 1000, after, INSTRUCTIONS.limit)], "v0.1.0", INSTRUCTIONS)
    assert shown.splitlines()[1].endswith(verdict)


def test_the_cost_of_a_call_is_without_the_start() -> None:
    assert KeyPath("call", few=10, many=60).cost({10: 1_000, 60: 1_500}) == 10
    assert KeyPath("start", many=0).cost({0: 1_000}) == 1_000


def test_a_slowed_call_of_a_real_server_is_found(tmp_path: Path) -> None:
    def side(name: str, work: int) -> Contender:
        file = tmp_path / f"{name}.py"
        file.write_text(
            "from pegboard import tool\n\n"
            "@tool(inline=True)\n"
            "def add(a: int, b: int) -> int:\n"
            f'    """Add."""\n    return sum(range({work}))\n'
        )
        command = (sys.executable, "-m", "pegboard", "stdio", str(file))
        return Contender(name, Environment(Path(sys.prefix), {}), command, tools={"add": f"{name}_add"})

    # CPU time, five times as much: counting the instructions would take minutes
    once = dataclasses.replace(CPU_TIME, rounds=1, times=1)
    path = KeyPath("call, stdio", few=10, many=110)
    (found,) = compare(once, [path], (side("before", 100_000), side("after", 500_000)))
    assert found.is_slower
