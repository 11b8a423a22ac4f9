"""The benchmark of long lists of objects: its program, its promises and its figure."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks import data
from benchmarks.contenders import FLOOR, PEGBOARD
from benchmarks.page.figures import FIGURES
from benchmarks.results import Results


def test_the_program_measures_each_part_of_each_kind() -> None:
    command = (sys.executable, data.PROGRAM, "200", "1")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    assert tuple(measured) == data.KINDS
    assert all(set(parts) == {PEGBOARD, FLOOR, data.CORE} and min(parts.values()) > 0 for parts in measured.values())


@pytest.mark.parametrize(("milliseconds", "kept"), [(11.0, True), (23.0, False)])
def test_promises_and_the_figure_are_relative_to_pydantic_core(milliseconds: float, kept: bool) -> None:
    results = Results()
    for kind in data.KINDS:
        for part, cpu_ms in ((PEGBOARD, milliseconds), (FLOOR, 10.0), (data.CORE, 5.6)):
            results.add(data.NAME, data.case(kind), part, cpu_ms=cpu_ms)
    assert [promise.kept for promise in data.promises(results)] == [kept] * len(data.KINDS)
    times = f"{milliseconds / 5.6:.2f}"
    assert list(FIGURES["data"].table(results))[2:] == [f"| {kind} | {times} | 1.79 |" for kind in data.KINDS]
    assert FIGURES["data"].picture(results).count(f">{times}<") == len(data.KINDS)
