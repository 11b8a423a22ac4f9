"""`tools/call` over HTTP of a tool that returns a list of records, in 2025-11-25, which all contenders serve."""

from __future__ import annotations

import json
import time
from itertools import count
from typing import Any, Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, PEERS, PEGBOARD
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
    for contender in bench.turns(NAME, (PEGBOARD, *PEERS, FLOOR)):
        with bench.serve(contender) as server, Connection(server.port) as connection:
            asker = _Asker(server, connection, contender.records)
            for kib in KIB:
                bench.results.add(NAME, case(kib), contender.name, **asker.measure(kib, bench.seconds))


class _Asker:
    """Calls the tool of one server."""

    def __init__(self, server: HttpServer, connection: Connection, tool: str) -> None:
        self._server = server
        self._connection = connection
        self._conversation = Conversation(connection, LEGACY)
        self._tool = tool
        self._ids = count(1)

    def measure(self, kib: int, seconds: float) -> dict[str, float]:
        """Call for about `seconds`. Return CPU and wall milliseconds per call, and the size of a response.

        Raises:
            WrongAnswerError: records are missing.
        """
        records = kib * 1024 // _BYTES
        answer = message_of(self._connection.exchange(self._request(records)))
        result = result_of(answer)["result"]
        if result.get("isError") or len(result["structuredContent"]["result"]) != records:
            raise WrongAnswerError(f"{records} records were expected: {answer[:300]!r}")
        _, wall = self._timed(records, 2)
        cpu, wall = self._timed(records, min(max(round(seconds / wall), 3), 3000))
        return {"cpu_ms": cpu * 1e3, "wall_ms": wall * 1e3, "answer_kib": len(answer) / 1024}

    def _timed(self, records: int, times: int) -> tuple[float, float]:
        requests = [self._request(records) for _ in range(times)]
        cpu, started = self._server.cpu_seconds(), time.perf_counter()
        for request in requests:
            self._connection.exchange(request)
        wall, cpu = time.perf_counter() - started, self._server.cpu_seconds() - cpu
        return cpu / times, wall / times

    def _request(self, records: int) -> bytes:
        params: dict[str, Any] = {"name": self._tool, "arguments": {"count": records}}
        return self._conversation.request(next(self._ids), "tools/call", params)
