"""The promises of the project about HTTP, each with the measured value. Ratios are ratios of medians."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.contenders import FLOOR, FLOOR_UVLOOP, PEGBOARD, PEGBOARD_UVLOOP, SDK, SDK_FAST, SDK_STATELESS
from benchmarks.http import auth, calls, lists, memory
from benchmarks.messages import ERAS, MODERN
from benchmarks.results import Results

_HOP: Final = "add_thread"
_SAME: Final = 1.15
"""The ratio below which two costs count as equal."""
_QUARTER: Final = 1.25
_STREAM: Final = 1.3


def lines(results: Results) -> Iterator[tuple[bool, str]]:
    """Yield True or False and a sentence for each promise that was measured: True if it is kept."""
    yield from _calls(results)
    yield from _auth(results)
    yield from _lists(results)
    yield from _memory(results)


def _calls(results: Results) -> Iterator[tuple[bool, str]]:
    for case in results.cases(calls.NAME):
        for ours, floor in ((PEGBOARD, FLOOR), (PEGBOARD_UVLOOP, FLOOR_UVLOOP)):
            ratio = results.ratio(calls.NAME, case, ours, floor, "cpu_us")
            if ratio and _HOP not in case:
                yield ratio <= 2, f"http-call {case}: {ours} {ratio:.2f} x {floor} (within 2)"
        peers = {
            peer: ratio
            for peer in (SDK, SDK_STATELESS, SDK_FAST)
            if (ratio := results.ratio(calls.NAME, case, peer, PEGBOARD, "cpu_us"))
        }
        if peers:
            shown = ", ".join(f"{peer} {ratio:.1f}" for peer, ratio in peers.items())
            yield min(peers.values()) >= 3, f"http-call {case}: times faster than {shown} (several)"


def _auth(results: Results) -> Iterator[tuple[bool, str]]:
    for case in results.cases(auth.NAME):
        for way in results.contenders(auth.NAME, case):
            ratio = results.ratio(auth.NAME, case, way, auth.OPEN, "cpu_us")
            if ratio and way not in (auth.OPEN, FLOOR):
                yield ratio <= _QUARTER, f"auth {case}: {way} {ratio:.2f} x {auth.OPEN} (within a quarter)"
    for concurrency in calls.CONCURRENCIES:
        mcp, worker = (calls.case(era, auth.TOOL, concurrency) for era in (MODERN, auth.WORKER))
        plain = results.get(auth.NAME, mcp, auth.OPEN, "cpu_us")
        invoked = results.get(auth.NAME, worker, auth.WORKER, "cpu_us")
        if plain and invoked:
            ratio = invoked.median / plain.median
            yield ratio <= _QUARTER, f"auth {worker}: {ratio:.2f} x {auth.OPEN} of {mcp} (within a quarter)"


def _lists(results: Results) -> Iterator[tuple[bool, str]]:
    few, some, many = map(lists.tools, lists.SIZES)
    for era in ERAS:
        for metric, base, other in (
            ("page_us", few, lists.PAGED),
            ("page_us", some, many),
            ("call_us", few, some),
            ("call_us", few, many),
        ):
            costs = [results.get(lists.NAME, lists.case(era, label), PEGBOARD, metric) for label in (base, other)]
            if costs[0] and costs[1]:
                ratio = costs[1].median / costs[0].median
                what = "a call" if metric == "call_us" else "a page"
                yield (
                    ratio <= _SAME,
                    f"http-list {era}: {what} with {other} costs {ratio:.2f} x one with {base} (the same)",
                )


def _memory(results: Results) -> Iterator[tuple[bool, str]]:
    for name in (PEGBOARD, PEGBOARD_UVLOOP):
        each = results.get(memory.NAME, memory.SESSIONS, name, "each_kib")
        if each:
            yield each.median <= 2, f"http-memory: an idle session of {name} takes {each.median:.2f} KiB (2)"
    for name, floor in ((PEGBOARD, FLOOR), (PEGBOARD_UVLOOP, FLOOR_UVLOOP)):
        ratio = results.ratio(memory.NAME, memory.STREAMS, name, floor, "each_kib")
        if ratio:
            yield (
                ratio <= _STREAM,
                f"http-memory: an open stream of {name} takes {ratio:.2f} x {floor} (within {_STREAM})",
            )
