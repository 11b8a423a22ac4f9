"""`tools/call` over HTTP in both eras: async, inline and threaded functions, one and sixteen calls at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol

from benchmarks.bench import Bench, Bursts
from benchmarks.calls import percentiles
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

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        with bench.serve(contender) as server, Connection(server.port) as connection:
            conversations = {era: Conversation(connection, era) for era in contender.eras}
            yield {
                (case(era, tool, concurrency), contender.name): Caller(
                    server, conversation, name, concurrency, bench.burst_seconds
                ).burst
                for era, conversation in conversations.items()
                for concurrency in CONCURRENCIES
                for tool, name in contender.tools.items()
            }

    bench.measure(NAME, HTTP_SERVERS, prepare)


class Calls(Protocol):
    """Builds the requests of a measurement, and checks the responses."""

    def calls(self, tool: str, first: int, count: int) -> list[bytes]:
        """Return calls of a tool that adds numbers, each with different numbers."""
        ...

    def check(self, responses: Sequence[bytes], first: int) -> None:
        """Check that each call has one successful response, with the sum."""
        ...


class Caller:
    """Calls one tool of one server. The constructor warms the server.

    Args:
        server: the server.
        calls: builds and checks the calls.
        tool: the tool.
        concurrency: the number of connections, each with one call at a time.
        seconds: the approximate duration of a burst.
    """

    _next_id = 1

    def __init__(self, server: HttpServer, calls: Calls, tool: str, concurrency: int, seconds: float) -> None:
        self._server = server
        self._calls = calls
        self._tool = tool
        self._concurrency = concurrency
        with Load(server.port, concurrency) as load:
            self._call(load, _FEW)
            count = seconds * self._call(load, _FEW)["per_second"]
            if count > _FEW:
                self._call(load, _WARM_UP)
                count = seconds * self._call(load, _WARM_UP)["per_second"]
        self._count = max(round(count), 2 * concurrency, _FEW // 4)

    def burst(self) -> dict[str, float]:
        """Call on new connections. Return calls per second, CPU microseconds per call, and latencies in ms."""
        with Load(self._server.port, self._concurrency) as load:
            self._call(load, 2 * self._concurrency)
            return self._call(load, self._count)

    def _call(self, load: Load, count: int) -> dict[str, float]:
        first, Caller._next_id = Caller._next_id, Caller._next_id + count
        requests = self._calls.calls(self._tool, first, count)
        (responses, latencies), wall, cpu = self._server.timed(partial(load.run, requests))
        self._calls.check(responses, first)
        return {"per_second": count / wall, "cpu_us": cpu / count * 1e6} | percentiles(latencies)
