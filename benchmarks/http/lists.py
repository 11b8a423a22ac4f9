"""`tools/list` over HTTP with few, many and very many tools, and the cost of a call among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

from benchmarks.bench import FEWEST, Bench, Burst, Bursts
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, SDK, Contender
from benchmarks.http.answers import message_of
from benchmarks.http.calls import Caller
from benchmarks.http.client import Connection
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
        _measure(bench, (*ours, *PEERS), size, tools(size))
    _measure(bench, ours, SIZES[-1], tools(SIZES[-1]), most=_ROUNDS_OF_MANY)
    _measure(bench, (SDK,), SIZES[-1], tools(SIZES[-1]), most=1)
    _measure(bench, ours, SIZES[-1], PAGED, {"PEGBOARD__HOST__PAGE_SIZE": str(SMALL_PAGE)}, most=_ROUNDS_OF_MANY)


def _measure(
    bench: Bench,
    names: Sequence[str],
    size: int,
    label: str,
    variables: dict[str, str] | None = None,
    most: int | None = None,
) -> None:
    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        with bench.serve(contender, size - contender.tool_count, variables) as server:
            started = {"start_wall_ms": server.ready_seconds * 1e3, "rss_mib": server.memory_mib()[0]}
            with Connection(server.port) as connection:
                bursts: dict[tuple[str, str], Burst] = {}
                for era in contender.eras:
                    conversation = Conversation(connection, era)
                    lister = _Lister(server, conversation, size, bench.burst_seconds)
                    call = Caller(server, conversation, contender.tools["add"], CONCURRENCY, bench.burst_seconds)
                    bursts[case(era, label), contender.name] = partial(_burst, started, lister, call)
            yield bursts

    bench.measure(NAME, names, prepare, what=label, most=most, steady=("page_us", "all_us", "call_us"))


def _burst(started: dict[str, float], lister: _Lister, call: Caller) -> dict[str, float]:
    return started | lister.burst() | {"call_us": call.burst()["cpu_us"]}


class _Lister:
    """Lists the tools of one server. The constructor warms the server.

    Raises:
        WrongAnswerError: the list is not complete.
    """

    def __init__(self, server: HttpServer, conversation: Conversation, size: int, seconds: float) -> None:
        self._server = server
        self._conversation = conversation
        self._seconds = seconds
        self._ids = count(1)
        with Connection(server.port) as connection:
            results = list(self._results(connection))
        names = {tool["name"] for _, result, _ in results for tool in result["tools"]}
        if len(names) != size:
            raise WrongAnswerError(f"{size} tools were expected, {len(names)} came")
        pages = [params for params, _, _ in results]
        self._sizes = {"page_kib": results[0][2] / 1024, "pages": float(len(pages))}
        self._first, self._all = pages[:1], pages if 1 < len(pages) <= _MOST_PAGES else []

    def burst(self) -> dict[str, float]:
        """Return the CPU microseconds and the sizes of the first page and of the whole list."""
        first_us, wall_us = self._repeat(self._first)
        metrics = self._sizes | {"page_us": first_us, "page_wall_us": wall_us}
        if self._all:
            metrics["all_us"] = self._repeat(self._all)[0]
        elif metrics["pages"] == 1:
            metrics["all_us"] = first_us
        return metrics

    def _results(self, connection: Connection) -> Iterator[tuple[dict[str, Any], dict[str, Any], int]]:
        """Return the parameters of each page's request, its result, and its size in bytes."""
        params: dict[str, Any] = {}
        while True:
            message = message_of(connection.exchange(self._request(params)))
            result = result_of(message)["result"]
            yield params, result, len(message)
            if not result.get("nextCursor"):
                return
            params = {"cursor": result["nextCursor"]}

    def _repeat(self, pages: list[dict[str, Any]]) -> tuple[float, float]:
        """Request these pages for about the duration of a burst. Return the CPU and wall microseconds of one time."""
        with Connection(self._server.port) as connection:
            _, wall = self._timed(connection, pages, 1)
            cpu, wall = self._timed(connection, pages, max(round(self._seconds / wall / 2) * 2, FEWEST))
        return cpu * 1e6, wall * 1e6

    def _timed(self, connection: Connection, pages: list[dict[str, Any]], times: int) -> tuple[float, float]:
        requests = [self._request(params) for _ in range(times) for params in pages]
        sizes, wall, cpu = self._server.timed(lambda: [len(connection.exchange(request)) for request in requests])
        if len(pages) == 1 and min(sizes) < max(sizes) // 2:
            raise WrongAnswerError("responses to equal requests differ")
        return cpu / times, wall / times

    def _request(self, params: dict[str, Any]) -> bytes:
        return self._conversation.request(next(self._ids), "tools/list", params)
