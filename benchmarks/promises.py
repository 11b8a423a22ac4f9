"""The promises of the project about speed, each with the measured value. Ratios are ratios of medians."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks import calls, client_calls, data, lazy, lists, locked, memory, start
from benchmarks.contenders import FLOOR, FLOOR_TASKS, PEGBOARD, PEGBOARD_FILES, SDK
from benchmarks.http import mounted_calls
from benchmarks.http import promises as http_promises
from benchmarks.messages import ERAS
from benchmarks.results import Results

_START: Final = 1.35
"""The most CPU time of a start, relative to the import of pydantic with the definition of one model."""


def lines(results: Results) -> list[str]:
    """Return a line for each promise that was measured."""
    found = [*http_promises.lines(results), *mounted_calls.promises(results), *data.promises(results)]
    others = [f"{_kept(kept)} {promise}" for kept, promise in found]
    return [
        *_start(results),
        *_memory(results),
        *_calls(results),
        *_lists(results),
        *_locks(results),
        *_lazy(results),
        *others,
        *_clients(results),
    ]


def _start(results: Results) -> Iterator[str]:
    for era in ERAS:
        for name in (PEGBOARD, PEGBOARD_FILES):
            wall = results.get(start.NAME, era, name, "wall_ms")
            ratio = results.ratio(start.NAME, era, name, start.PYDANTIC, "cpu_ms")
            if wall and ratio:
                said = _kept(wall.median <= 150 or ratio <= _START)
                limits = f"(150 ms, {_START} x)"
                yield f"{said} start of {name}, {era}: {wall.median:.0f} ms, {ratio:.2f} x pydantic {limits}"


def _memory(results: Results) -> Iterator[str]:
    for name in (PEGBOARD, PEGBOARD_FILES):
        rest = results.get(memory.NAME, memory.CASE, name, "rest_mib")
        if rest:
            yield f"{_kept(rest.median < 37)} memory of {name} at rest: {rest.median:.1f} MiB (under 37)"
    after = results.get(memory.NAME, memory.CASE, PEGBOARD, "after_mib")
    twice = results.get(memory.NAME, memory.CASE, PEGBOARD, "after_twice_mib")
    if after and twice:
        grown = twice.median - after.median
        yield f"{_kept(grown < 1)} memory: the second half of the load added {grown:.2f} MiB (under 1)"


def _calls(results: Results) -> Iterator[str]:
    for case in results.cases(calls.NAME):
        peer = results.ratio(calls.NAME, case, SDK, PEGBOARD, "cpu_us")
        floors = [results.ratio(calls.NAME, case, PEGBOARD, floor, "cpu_us") for floor in (FLOOR, FLOOR_TASKS)]
        if peer and None not in floors:
            shown = " and ".join(f"{floor:.2f}" for floor in floors)
            yield f"{_kept(peer >= 3)} call {case}: {peer:.1f} times faster than {SDK} (several); x floors: {shown}"


def _lists(results: Results) -> Iterator[str]:
    """Yield the promises about lists, relative to the floor. Both must copy the bytes of each response."""
    few, many = lists.SIZES
    for era in ERAS:
        case = f"{era} {many} tools"
        ratio = results.ratio(lists.NAME, case, PEGBOARD, FLOOR, "cpu_us")
        ours, floors = (_growth(results, era, name) for name in (PEGBOARD, FLOOR))
        if ratio and ours and floors:
            grown = f"{many} tools cost {ours:.1f} x {few}, on the floor {floors:.1f} x"
            yield f"{_kept(ratio <= 2)} list {era}: {ratio:.2f} x floor (within 2); {grown}"


def _locks(results: Results) -> Iterator[str]:
    plain, with_lock = (results.get(locked.NAME, locked.CASE, name, "cpu_ms") for name in (PEGBOARD, locked.LOCKED))
    if plain and with_lock:
        added = with_lock.minimum - plain.minimum  # other load increases both medians
        yield f"{_kept(added < 30)} lock: {locked.CASE} are compared in {added:.1f} ms at the start (under 30)"


def _lazy(results: Results) -> Iterator[str]:
    bare, late = (results.get(lazy.NAME, lazy.CASE, name, "cpu_ms") for name in (lazy.WITHOUT, lazy.LAZY))
    if bare and late:
        added = late.minimum - bare.minimum  # as above
        yield f"{_kept(added < 60)} lazy start: {lazy.CASE} are listed in {added:.0f} ms (under 60)"


def _growth(results: Results, era: str, name: str) -> float | None:
    costs = [results.get(lists.NAME, f"{era} {size} tools", name, "cpu_us") for size in lists.SIZES]
    return costs[1].median / costs[0].median if costs[0] and costs[1] else None


def _clients(results: Results) -> Iterator[str]:
    for case in results.cases(client_calls.NAME):
        peer = results.ratio(client_calls.NAME, case, SDK, PEGBOARD, "cpu_us")
        if peer:
            yield f"{_kept(peer >= 3)} client {case}: {peer:.1f} times faster than that of {SDK} (3)"


def _kept(kept: bool) -> str:
    return "kept  " if kept else "BROKEN"
