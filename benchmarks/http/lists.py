"""`tools/list` over HTTP with few, many and very many tools, and the cost of a call among them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, SDK, Contender
from benchmarks.http.answers import message_of
from benchmarks.http.calls import Caller
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import WrongAnswerError, result_of

NAME: Final = "http-list"
SIZES: Final = (10, 1000, 10_000)
SMALL_PAGE: Final = 10
"""The size of a page of the largest catalogue. It equals the smallest catalogue, so that the costs can be compared."""
PAGED: Final = f"{SIZES[-1]} tools, {SMALL_PAGE} a page"
CONCURRENCY: Final = 16

_ROUNDS_OF_MANY: Final = 3
"""The maximum number of rounds with very many tools, because every start takes seconds. The SDK has one round."""
_MOST_PAGES: Final = 100


def case(era: str, tools: str) -> str:
    """Return the name of a measurement in results."""
    return f"{era} {tools}"


def tools(size: int) -> str:
    """Return the name of a number of tools in results."""
    return f"{size} tools"


def run(bench: Bench) -> None:
    """Measure the first page, all pages, and calls of one of the tools."""
    ours = (PEGBOARD, FLOOR)
    for size in SIZES[:-1]:
        for contender in bench.turns(f"{NAME} {tools(size)}", (*ours, *PEERS)):
            _measure(bench, contender, size, tools(size), {})
    for names, rounds in ((ours, _ROUNDS_OF_MANY), ((SDK,), 1)):
        for contender in bench.turns(f"{NAME} {tools(SIZES[-1])}", names, rounds):
            _measure(bench, contender, SIZES[-1], tools(SIZES[-1]), {})
    for contender in bench.turns(f"{NAME} {PAGED}", ours, _ROUNDS_OF_MANY):
        _measure(bench, contender, SIZES[-1], PAGED, {"PEGBOARD__HOST__PAGE_SIZE": str(SMALL_PAGE)})


def _measure(bench: Bench, contender: Contender, size: int, label: str, variables: dict[str, str]) -> None:
    with bench.serve(contender, size - contender.tool_count, variables) as server:
        started = {"start_wall_ms": server.ready_seconds * 1e3, "rss_mib": server.memory_mib()[0]}
        for era in contender.eras:
            with Connection(server.port) as connection, Load(server.port, CONCURRENCY) as load:
                conversation = Conversation(connection, era)
                metrics = _Lister(server, connection, conversation).measure(size, bench.seconds)
                call = Caller(server, conversation, load, contender.tools["add"]).measure(bench.seconds)
            metrics |= started | {"call_us": call["cpu_us"]}
            bench.results.add(NAME, case(era, label), contender.name, **metrics)


class _Lister:
    """Lists the tools of one server."""

    def __init__(self, server: HttpServer, connection: Connection, conversation: Conversation) -> None:
        self._server = server
        self._connection = connection
        self._conversation = conversation
        self._ids = count(1)

    def measure(self, size: int, seconds: float) -> dict[str, float]:
        """Return the CPU microseconds and the sizes of the first page and of the whole list.

        Raises:
            WrongAnswerError: the list is not complete.
        """
        results = list(self._results())
        names = {tool["name"] for _, result, _ in results for tool in result["tools"]}
        if len(names) != size:
            raise WrongAnswerError(f"{size} tools were expected, {len(names)} came")
        pages = [params for params, _, _ in results]
        first_us, wall_us = self._repeat(pages[:1], seconds)
        metrics = {
            "page_kib": results[0][2] / 1024,
            "pages": float(len(pages)),
            "page_us": first_us,
            "page_wall_us": wall_us,
        }
        if len(pages) <= _MOST_PAGES:
            metrics["all_us"] = first_us if len(pages) == 1 else self._repeat(pages, seconds)[0]
        return metrics

    def _results(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], int]]:
        """Return the parameters of each page's request, its result, and its size in bytes."""
        params: dict[str, Any] = {}
        while True:
            message = message_of(self._connection.exchange(self._request(params)))
            result = result_of(message)["result"]
            yield params, result, len(message)
            if not result.get("nextCursor"):
                return
            params = {"cursor": result["nextCursor"]}

    def _repeat(self, pages: list[dict[str, Any]], seconds: float) -> tuple[float, float]:
        """Request these pages for about `seconds`. Return the CPU and wall microseconds of one repetition."""
        self._timed(pages, 1)
        _, wall = self._timed(pages, 2)
        cpu, wall = self._timed(pages, min(max(round(seconds / wall), 2), 3000))
        return cpu * 1e6, wall * 1e6

    def _timed(self, pages: list[dict[str, Any]], times: int) -> tuple[float, float]:
        requests = [self._request(params) for _ in range(times) for params in pages]
        exchange = self._connection.exchange
        cpu, started = self._server.cpu_seconds(), time.perf_counter()
        sizes = [len(exchange(one)) for one in requests]
        wall, cpu = time.perf_counter() - started, self._server.cpu_seconds() - cpu
        if len(pages) == 1 and min(sizes) < max(sizes) // 2:
            raise WrongAnswerError("responses to equal requests differ")
        return cpu / times, wall / times

    def _request(self, params: dict[str, Any]) -> bytes:
        return self._conversation.request(next(self._ids), "tools/list", params)
