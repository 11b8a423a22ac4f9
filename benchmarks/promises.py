"""The promises of the project about speed and memory, each with its values and the best other framework."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from benchmarks import calls, client_calls, data, lists, memory, start
from benchmarks.contenders import (
    FLOOR,
    FLOOR_TASKS,
    FLOOR_UVLOOP,
    PEERS,
    PEGBOARD,
    PEGBOARD_FILES,
    PEGBOARD_PUBLIC,
    PEGBOARD_UVLOOP,
    SDK,
    SDK_FAST,
    SDK_STATELESS,
)
from benchmarks.http import auth, mounted_calls
from benchmarks.http import calls as http_calls
from benchmarks.http import lists as http_lists
from benchmarks.http import memory as http_memory
from benchmarks.messages import ERAS, LEGACY, MODERN
from benchmarks.results import Peer, Promise, Results

EARLY: Final = {MODERN: 1.2, LEGACY: 1.35}
"""The most CPU time of a call over HTTP relative to the floor, by era.

It depends on the caches, which server and client share: 1.13 and 1.23 on an AMD EPYC, 1.4 and 1.7 on an Intel Xeon.
"""
PUBLIC: Final = {MODERN: 1.6, LEGACY: 1.8}
"""The same without the private attributes of aiohttp, by which requests begin before its task."""
START: Final = 2.5
"""The most CPU time of a start without toolkits or of `pegboard+files`, relative to `import pydantic` and one model.

The records and settings of the host are plain NamedTuples and pydantic models. Their classes alone take a fifth of it.
"""
START_LAZY: Final = 3.0
"""The same with a lazy lock of up to 1,000 tools, which is read and checked."""
STDIO: Final = 3.0
"""The most CPU time of a pipelined call over stdio relative to the floor with a task for each call, as pegboard has."""
MEMORY_MIB: Final = 44
"""The most memory of a host at rest. pydantic, which every host imports for its settings, has 10 MiB of it."""
A_THIRD: Final = 1 / 3
LIST: Final = 2.0
SAME: Final = 1.15
"""The ratio below which two costs count as equal."""
TOKEN: Final = 1.25
STREAM: Final = 1.3
_HOP: Final = "add_thread"


class Value(NamedTuple):
    """The place of a value in the results."""

    scenario: str
    case: str
    contender: str
    metric: str


def of(results: Results) -> list[Promise]:
    """Return the promises that were measured."""
    relative = [
        promise
        for ours, base, limit in (*_starts(), *_calls(results), *_auth(results), *_lists())
        for promise in _relative(results, ours, base, limit)
    ]
    return [*relative, *_absolute(results), *_added(results), *data.promises(results)]


def line(promise: Promise) -> str:
    """Return a promise as a line of text."""
    first, third = promise.measured.quartiles
    value = f"{promise.measured.median:.4g} ({first:.4g} to {third:.4g}) {promise.unit}, at most {promise.limit:.4g}"
    text = f"{promise.verdict:6} {promise.scenario} {promise.subject}: {value}"
    return f"{text}; {promise.peer.name} {promise.peer.value:.3g}" if promise.peer else text


def _starts() -> Iterator[tuple[Value, Value, float]]:
    for row, case, limit in (
        *((start.WITHOUT, era, START) for era in ERAS),
        *((start.LAZY, start.case(size), START_LAZY) for size in start.SIZES),
        *((PEGBOARD_FILES, era, START) for era in ERAS),
    ):
        at = partial(Value, start.NAME, case, metric="cpu_ms")
        yield at(contender=row), at(contender=start.PYDANTIC), limit


def _calls(results: Results) -> Iterator[tuple[Value, Value, float]]:
    for case in results.cases(calls.NAME):
        at = partial(Value, calls.NAME, case, metric="cpu_us")
        if "pipelined" in case and _HOP not in case:
            yield at(contender=PEGBOARD), at(contender=FLOOR_TASKS), STDIO
        yield at(contender=PEGBOARD), at(contender=SDK), A_THIRD
    for case in results.cases(http_calls.NAME):
        era, tool, _ = case.split()
        at = partial(Value, http_calls.NAME, case, metric="cpu_us")
        for row, floor, limits in (
            (PEGBOARD, FLOOR, EARLY),
            (PEGBOARD_UVLOOP, FLOOR_UVLOOP, EARLY),
            (PEGBOARD_PUBLIC, FLOOR, PUBLIC),
        ):
            if tool != _HOP:
                yield at(contender=row), at(contender=floor), limits[era]
    for case in results.cases(client_calls.NAME):
        at = partial(Value, client_calls.NAME, case, metric="cpu_us")
        yield at(contender=PEGBOARD), at(contender=SDK), A_THIRD


def _auth(results: Results) -> Iterator[tuple[Value, Value, float]]:
    for case in results.cases(auth.NAME):
        at = partial(Value, auth.NAME, case, metric="cpu_us")
        for row in results.contenders(auth.NAME, case):
            if row not in (auth.OPEN, FLOOR):
                yield at(contender=row), at(contender=auth.OPEN), TOKEN
    for concurrency in http_calls.CONCURRENCIES:
        modern, worker = (http_calls.case(era, auth.TOOL, concurrency) for era in (MODERN, auth.WORKER))
        yield Value(auth.NAME, worker, auth.WORKER, "cpu_us"), Value(auth.NAME, modern, auth.OPEN, "cpu_us"), TOKEN


def _lists() -> Iterator[tuple[Value, Value, float]]:
    few, some, many = map(http_lists.tools, http_lists.SIZES)
    for era in ERAS:
        at = partial(Value, lists.NAME, lists.case(era, lists.SIZES[-1]), metric="cpu_us")
        yield at(contender=PEGBOARD), at(contender=FLOOR), LIST
        for metric, base, other in (
            ("page_us", few, http_lists.PAGED),
            ("page_us", some, many),
            ("call_us", few, some),
            ("call_us", few, many),
        ):
            ours, theirs = (Value(http_lists.NAME, http_lists.case(era, at), PEGBOARD, metric) for at in (other, base))
            yield ours, theirs, SAME


def _absolute(results: Results) -> Iterator[Promise]:
    for value, limit in (
        *((Value(memory.NAME, memory.CASE, name, "rest_mib"), MEMORY_MIB) for name in (PEGBOARD, PEGBOARD_FILES)),
        *((Value(http_memory.NAME, http_memory.SESSIONS, name, "each_kib"), 2) for name in (PEGBOARD, PEGBOARD_UVLOOP)),
    ):
        measured = results.get(*value)
        if measured:
            unit = {"mib": "MiB", "kib": "KiB"}[value.metric.rpartition("_")[2]]
            yield Promise(value.scenario, value.case, measured, limit, unit, _contender(value), _peer(results, value))
    for name, floor in ((PEGBOARD, FLOOR), (PEGBOARD_UVLOOP, FLOOR_UVLOOP)):
        at = partial(Value, http_memory.NAME, http_memory.STREAMS, metric="each_kib")
        yield from _relative(results, at(contender=name), at(contender=floor), STREAM)


def _added(results: Results) -> Iterator[Promise]:
    """Yield the promises about differences."""
    at = partial(Value, memory.NAME, memory.CASE, PEGBOARD)
    starts = partial(Value, start.NAME, start.case(start.SIZES[-1]), metric="cpu_ms")
    mounts = [partial(Value, mounted_calls.NAME, mounted_calls.case(era), metric="cpu_us") for era in ERAS]
    for more, base, limit, unit in (
        (at("after_twice_mib"), at("after_mib"), 1, "MiB more than after half of the calls"),
        (starts(contender=start.LOCKED), starts(contender=PEGBOARD), 30, "ms more than without --locked"),
        *(
            (mount(contender=mounted_calls.MOUNTED), mount(contender=PEGBOARD), 300, "µs more than the host's own")
            for mount in mounts
        ),
    ):
        ours, theirs = results.get(*more), results.get(*base)
        if ours and theirs:
            yield Promise(more.scenario, more.case, ours.above(theirs), limit, unit, _contender(more))


def _relative(results: Results, ours: Value, base: Value, limit: float) -> Iterator[Promise]:
    measured, divisor = results.get(*ours), results.get(*base)
    if not measured or not divisor:
        return
    same = ours.contender == base.contender
    named = base.case if same else base.contender if base.case == ours.case else f"{base.contender} of {base.case}"
    ratio, peer = measured.over(divisor), _peer(results, ours, base)
    yield Promise(ours.scenario, ours.case, ratio, limit, f"x {named}", _contender(ours), peer)


def _peer(results: Results, ours: Value, base: Value | None = None) -> Peer | None:
    """Return the best other framework and its value. Its base is the same, or its own case if ours is a base.

    Others have no inline functions. Their async function stands beside ours.
    """
    medians = []
    for name in (*PEERS, SDK_STATELESS, SDK_FAST):
        theirs = results.get(*ours._replace(contender=name, case=ours.case.replace("add_inline", "add")))
        divisor = base and results.get(*(base._replace(contender=name) if base.contender == ours.contender else base))
        if theirs and (divisor or not base):
            medians.append(Peer(name, (theirs.over(divisor) if divisor else theirs).median))
    return min(medians, key=lambda peer: (peer.value, peer.name), default=None)


def _contender(value: Value) -> str:
    part = {"call_us": "a call of ", "page_us": "a page of "}.get(value.metric, "")
    return f"{part}{value.contender}"
