"""`tools/call` over HTTP in both eras: async, inline and threaded functions, one and sixteen calls at a time."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from statistics import quantiles
from typing import Final, Protocol

from benchmarks.bench import Bench
from benchmarks.contenders import HTTP_SERVERS, Contender
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer

NAME: Final = "http-call"
CONCURRENCIES: Final = (1, 16)

_WARM_UP: Final = 320
_FEW: Final = 32
"""The number of calls that are enough if a call is slow."""


def case(era: str, tool: str, concurrency: int) -> str:
    """Return the name of a measurement in results."""
    return f"{era} {tool} x{concurrency}"


def run(bench: Bench) -> None:
    """Measure."""
    for contender in bench.turns(NAME, HTTP_SERVERS):
        with bench.serve(contender) as server:
            for era in contender.eras:
                _measure(bench, contender, server, era)


def _measure(bench: Bench, contender: Contender, server: HttpServer, era: str) -> None:
    with Connection(server.port) as connection:
        conversation = Conversation(connection, era)
        for concurrency in CONCURRENCIES:
            with Load(server.port, concurrency) as load:
                for tool, name in contender.tools.items():
                    metrics = Caller(server, conversation, load, name).measure(bench.seconds)
                    bench.results.add(NAME, case(era, tool, concurrency), contender.name, **metrics)


class Calls(Protocol):
    """Builds the requests of a measurement, and checks the responses."""

    def calls(self, tool: str, first: int, count: int) -> list[bytes]:
        """Return calls of a tool that adds numbers, each with different numbers."""
        ...

    def check(self, responses: Sequence[bytes], first: int) -> None:
        """Check that each call has one successful response, with the sum."""
        ...


class Caller:
    """Calls one tool of one server."""

    _next_id = 1

    def __init__(self, server: HttpServer, conversation: Calls, load: Load, tool: str) -> None:
        self._server = server
        self._conversation = conversation
        self._load = load
        self._tool = tool

    def measure(self, seconds: float) -> dict[str, float]:
        """Call for about `seconds`. Return calls per second, CPU microseconds per call, and latencies in ms."""
        self._timed(_FEW)
        count = round(seconds * self._timed(_FEW)["per_second"])
        if count > _FEW:
            self._timed(_WARM_UP)
            count = round(seconds * self._timed(_WARM_UP)["per_second"])
        return self._timed(min(max(count, _FEW), 20_000))

    def _timed(self, count: int) -> dict[str, float]:
        first, Caller._next_id = Caller._next_id, Caller._next_id + count
        requests = self._conversation.calls(self._tool, first, count)
        gc.collect()
        gc.disable()
        try:
            cpu, started = self._server.cpu_seconds(), time.perf_counter()
            responses, latencies = self._load.run(requests)
            wall, cpu = time.perf_counter() - started, self._server.cpu_seconds() - cpu
        finally:
            gc.enable()
        self._conversation.check(responses, first)
        return {"per_second": count / wall, "cpu_us": cpu / count * 1e6} | _percentiles(latencies)


def _percentiles(latencies: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(latencies, n=100)
    return {f"p{percent}_ms": cuts[percent - 1] * 1e3 for percent in (50, 95, 99)}
