"""`tools/list` with few and with many tools: the cost of a list, and of a start with these tools."""

from __future__ import annotations

import time
from itertools import count
from typing import Any, Final

from benchmarks.bench import Bench, open_conversation
from benchmarks.contenders import FLOOR_TASKS, SERVERS
from benchmarks.messages import ERAS, WrongAnswerError, request, result_of
from benchmarks.process import Server

NAME: Final = "list"
SIZES: Final = (10, 1000)
_LISTED: Final = tuple(name for name in SERVERS if name != FLOOR_TASKS)


def run(bench: Bench) -> None:
    """Measure. A list is all its pages."""
    for era in ERAS:
        for size in SIZES:
            for contender in bench.turns(f"{NAME} {era} {size}", _LISTED, era=era):
                with bench.start(contender, size - contender.tool_count) as server:
                    metrics = _measure(server, era, size, bench.seconds)
                bench.results.add(NAME, f"{era} {size} tools", contender.name, **metrics)


def _measure(server: Server, era: str, size: int, seconds: float) -> dict[str, float]:
    ids = count(1)
    open_conversation(server, era)
    pages, answer_bytes, names = _pages(server, era, ids)
    metrics = {
        "start_wall_ms": server.age_seconds() * 1e3,
        "start_cpu_ms": server.cpu_seconds() * 1e3,
        "rss_mib": server.memory_mib()[0],
        "answer_kib": answer_bytes / 1024,
        "pages": float(len(pages)),
    }
    if len(set(names)) != size:
        raise WrongAnswerError(f"{size} tools were expected, {len(set(names))} came")
    _repeat(server, era, pages, ids, 3)
    wall, _ = _repeat(server, era, pages, ids, 3)
    wall, cpu = _repeat(server, era, pages, ids, min(max(round(seconds / wall), 5), 5000))
    return metrics | {"wall_us": wall * 1e6, "cpu_us": cpu * 1e6}


def _pages(server: Server, era: str, ids: count[int]) -> tuple[list[dict[str, Any]], int, list[str]]:
    """Return the parameters of each page's request, the size of all responses, and the names of the tools."""
    pages: list[dict[str, Any]] = [{}]
    names: list[str] = []
    size = 0
    while True:
        answer = server.exchange(request(era, next(ids), "tools/list", pages[-1]), 1)
        result = result_of(answer)["result"]
        size += len(answer)
        names += [tool["name"] for tool in result["tools"]]
        if not result.get("nextCursor"):
            return pages, size, names
        pages.append({"cursor": result["nextCursor"]})


def _repeat(server: Server, era: str, pages: list[dict[str, Any]], ids: count[int], times: int) -> tuple[float, float]:
    """Request the whole list several times. Return the wall and CPU seconds of one list."""
    requests = [request(era, next(ids), "tools/list", page) for _ in range(times) for page in pages]
    cpu, started = server.cpu_seconds(), time.perf_counter()
    sizes = [len(server.exchange(one, 1)) for one in requests]
    wall, cpu = time.perf_counter() - started, server.cpu_seconds() - cpu
    if min(sizes) < max(sizes) // 2 and len(pages) == 1:
        raise WrongAnswerError("responses to equal requests differ")
    return wall / times, cpu / times
