"""`tools/call` over stdio in both eras: sequential and pipelined calls of async, inline and threaded functions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import quantiles

from benchmarks.bench import Bench, Burst, Bursts, open_conversation
from benchmarks.contenders import SERVERS, Contender
from benchmarks.messages import additions, check_additions
from benchmarks.process import Server

NAME = "call"
MODES = ("sequential", "pipelined")
DEPTH = 100
"""The number of pipelined requests that are written at once. In both eras they fit the buffer of a pipe."""


def run(bench: Bench) -> None:
    """Measure."""

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        bursts: dict[tuple[str, str], Burst] = {}
        with ExitStack() as started:
            for era in contender.eras:
                server = started.enter_context(bench.start(contender))
                open_conversation(server, era)
                for tool, name in contender.tools.items():
                    for mode in MODES:
                        caller = Caller(server, era, name, mode)
                        count = caller.count_in(bench.burst_seconds)
                        bursts[f"{era} {tool} {mode}", contender.name] = partial(caller.burst, count)
            yield bursts

    bench.measure(NAME, SERVERS, prepare)


class Caller:
    """Calls one tool of one server."""

    _next_id = 1

    def __init__(self, server: Server, era: str, tool: str, mode: str = MODES[1]) -> None:
        self._server = server
        self._era = era
        self._tool = tool
        self._depth = DEPTH if mode == MODES[1] else 1

    def count_in(self, seconds: float) -> int:
        """Warm the server. Return the number of calls that take about so many seconds, 20 or more."""
        self.call(2 * DEPTH)
        count = self.call(2 * DEPTH)["per_second"] * seconds
        return max(round(count / self._depth), 20 // self._depth, 1) * self._depth

    def burst(self, count: int) -> dict[str, float]:
        """Call after some calls that fill the caches of the processor again. Return as `call`."""
        self.call(DEPTH)
        return self.call(count)

    def call(self, count: int) -> dict[str, float]:
        """Call. Return calls per second, CPU microseconds per call, and latencies in ms if calls are sequential."""
        first, Caller._next_id = Caller._next_id, Caller._next_id + count
        requests = additions(self._era, self._tool, first, count)
        batches = [b"".join(requests[start : start + self._depth]) for start in range(0, count, self._depth)]
        (answers, latencies), wall, cpu = self._server.timed(partial(self._exchange, batches))
        check_additions(b"".join(answers).splitlines(), first, count)
        metrics = {"per_second": count / wall, "cpu_us": cpu / count * 1e6}
        return metrics | (percentiles(latencies) if self._depth == 1 else {})

    def _exchange(self, batches: list[bytes]) -> tuple[list[bytes], list[float]]:
        answers, latencies = [], []
        exchange, clock, depth = self._server.exchange, time.perf_counter, self._depth
        for batch in batches:
            started = clock()
            answers.append(exchange(batch, depth))
            latencies.append(clock() - started)
        return answers, latencies


def percentiles(latencies: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of latencies in seconds, as ms."""
    cuts = quantiles(latencies, n=100)
    return {f"p{percent}_ms": cuts[percent - 1] * 1e3 for percent in (50, 99)}
