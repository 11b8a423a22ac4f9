"""`tools/call` over HTTP of a tool that returns a list of records, in 2025-11-25, which all contenders serve."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any, Final

from benchmarks.bench import FEWEST, Bench, Bursts
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD, Contender
from benchmarks.http.answers import message_of
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import LEGACY, WrongAnswerError, result_of

NAME: Final = "http-size"
KIB: Final = (1, 16, 128, 1024)
"""The sizes of results, in KiB of JSON. A response has the result twice, as data and as text."""
_RECORD: Final = {"id": 10_000, "name": "a record", "tags": ["a", "b"], "price": 12.5}
_BYTES: Final = len(json.dumps(_RECORD, separators=(",", ":"))) + 1


def case(kib: int) -> str:
    """Return the name of a size in results."""
    return f"{kib} KiB"


def run(bench: Bench) -> None:
    """Measure."""

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        with bench.serve(contender) as server, ExitStack() as opened:
            yield {
                (case(kib), contender.name): _Asker(
                    server, opened.enter_context(Connection(server.port)), contender.records, kib, bench.burst_seconds
                ).burst
                for kib in KIB
            }

    bench.measure(NAME, (PEGBOARD, *PEERS, FLOOR), prepare)


class _Asker:
    """Calls the tool of one server, with results of one size. The constructor warms the server.

    Raises:
        WrongAnswerError: records are missing.
    """

    def __init__(self, server: HttpServer, connection: Connection, tool: str, kib: int, seconds: float) -> None:
        self._server = server
        self._conversation = Conversation(connection, LEGACY)
        self._tool = tool
        self._records = kib * 1024 // _BYTES
        self._ids = count(1)
        answer = message_of(connection.exchange(self._request()))
        result = result_of(answer)["result"]
        if result.get("isError") or len(result["structuredContent"]["result"]) != self._records:
            raise WrongAnswerError(f"{self._records} records were expected: {answer[:300]!r}")
        self._answer_kib = len(answer) / 1024
        self._times = 2
        self._times = max(round(seconds / self.burst()["wall_ms"] * 1e3), FEWEST)

    def burst(self) -> dict[str, float]:
        """Call several times. Return CPU and wall milliseconds per call, and the size of a response."""
        requests = [self._request() for _ in range(self._times)]
        with Connection(self._server.port) as connection:
            connection.exchange(self._request())
            _, wall, cpu = self._server.timed(lambda: [len(connection.exchange(request)) for request in requests])
        return {
            "cpu_ms": cpu / self._times * 1e3,
            "wall_ms": wall / self._times * 1e3,
            "answer_kib": self._answer_kib,
        }

    def _request(self) -> bytes:
        params: dict[str, Any] = {"name": self._tool, "arguments": {"count": self._records}}
        return self._conversation.request(next(self._ids), "tools/call", params)
