"""`tools/call` over stdio in both eras: sequential and pipelined calls of async, inline and threaded functions."""

from __future__ import annotations

import gc
import time
from statistics import quantiles

from benchmarks.bench import Bench, open_conversation
from benchmarks.contenders import SERVERS
from benchmarks.messages import ERAS, additions, check_additions
from benchmarks.process import Server

NAME = "call"
MODES = ("sequential", "pipelined")
DEPTH = 100
"""The number of pipelined requests that are written at once. In both eras they fit the buffer of a pipe."""

_WARM_UP = 3 * DEPTH


def run(bench: Bench) -> None:
    """Measure."""
    for era in ERAS:
        for contender in bench.turns(f"{NAME} {era}", SERVERS, era=era):
            with bench.start(contender) as server:
                open_conversation(server, era)
                for tool, name in contender.tools.items():
                    caller = Caller(server, era, name)
                    caller.warm_up()
                    for mode in MODES:
                        metrics = caller.measure(mode, bench.seconds)
                        bench.results.add(NAME, f"{era} {tool} {mode}", contender.name, **metrics)


class Caller:
    """Calls one tool of one server."""

    _next_id = 1

    def __init__(self, server: Server, era: str, tool: str) -> None:
        self._server = server
        self._era = era
        self._tool = tool
        self._seconds_per_call = dict.fromkeys(MODES, 1e-3)

    def warm_up(self) -> None:
        """Call until caches are filled, and measure the duration of a call."""
        for mode in MODES:
            self._timed(mode, _WARM_UP)
            self._seconds_per_call[mode] = 1 / self._timed(mode, _WARM_UP)["per_second"]

    def measure(self, mode: str, seconds: float) -> dict[str, float]:
        """Call for about `seconds`. Return calls per second, CPU microseconds per call and latencies in ms."""
        count = round(seconds / self._seconds_per_call[mode] / DEPTH) * DEPTH
        return self._timed(mode, min(max(count, 2 * DEPTH), 50_000))

    def load(self, count: int) -> None:
        """Send pipelined calls."""
        self._timed("pipelined", count)

    def _timed(self, mode: str, count: int) -> dict[str, float]:
        first, Caller._next_id = Caller._next_id, Caller._next_id + count
        requests = additions(self._era, self._tool, first, count)
        gc.collect()
        gc.disable()
        try:
            cpu, started = self._server.cpu_seconds(), time.perf_counter()
            answers, latencies = self._sequential(requests) if mode == "sequential" else self._pipelined(requests)
            wall, cpu = time.perf_counter() - started, self._server.cpu_seconds() - cpu
        finally:
            gc.enable()
        check_additions(b"".join(answers).splitlines(), first, count)
        metrics = {"per_second": count / wall, "cpu_us": cpu / count * 1e6}
        if latencies:
            cuts = quantiles(latencies, n=100)
            metrics |= {"p50_ms": cuts[49] * 1e3, "p99_ms": cuts[98] * 1e3}
        return metrics

    def _sequential(self, requests: list[bytes]) -> tuple[list[bytes], list[float]]:
        answers, latencies = [], []
        exchange, clock = self._server.exchange, time.perf_counter
        for request in requests:
            started = clock()
            answers.append(exchange(request, 1))
            latencies.append(clock() - started)
        return answers, latencies

    def _pipelined(self, requests: list[bytes]) -> tuple[list[bytes], list[float]]:
        batches = [b"".join(requests[start : start + DEPTH]) for start in range(0, len(requests), DEPTH)]
        return [self._server.exchange(batch, DEPTH) for batch in batches], []
