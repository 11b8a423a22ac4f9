"""The comparison with an earlier revision: costs, verdict, and a real process that has become slower."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from benchmarks.contenders import Contender
from benchmarks.environments import Environment
from benchmarks.regressions.__main__ import compare
from benchmarks.regressions.accepted import Accepted
from benchmarks.regressions.comparison import Compared, table
from benchmarks.regressions.meters import CPU_TIME, INSTRUCTIONS
from benchmarks.regressions.paths import PATHS, KeyPath


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
    sides = (side("before", 100_000), side("after", 500_000))
    (slower,) = compare(once, [path], sides, {})
    (accepted,) = compare(once, [path], sides, {"call, stdio": 100})
    assert (slower.is_slower, accepted.is_slower) == (True, False)


def test_a_slowdown_is_accepted_with_a_reason_and_until_the_base_moves(tmp_path: Path) -> None:
    file = tmp_path / "accepted.toml"
    row = '[[accepted]]\nrow = "call, stdio"\nold = 100\nnew = 110\n'
    file.write_text(f'base = "1234567"\n{row}reason = "A special case is deleted."\n')
    assert Accepted.read(file).growth("1234567890") == {"call, stdio": pytest.approx(0.1)}
    assert Accepted.read(file).growth("7654321") == {}
    file.write_text(f'base = "1234567"\n{row}reason = ""\n')
    with pytest.raises(ValueError, match="reason"):
        Accepted.read(file)


def test_the_accepted_rows_are_compared() -> None:
    accepted = Accepted.read()
    assert {row.row for row in accepted.accepted} <= {path.name for path in PATHS}
