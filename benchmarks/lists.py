"""`tools/list` with few and with many tools: the cost of a list, and of a start with these tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any, Final

from benchmarks.bench import Bench, Burst, Bursts, open_conversation
from benchmarks.contenders import FLOOR_TASKS, SERVERS, Contender
from benchmarks.messages import WrongAnswerError, request, result_of
from benchmarks.process import Server

NAME: Final = "list"
SIZES: Final = (10, 1000)
_LISTED: Final = tuple(name for name in SERVERS if name != FLOOR_TASKS)


def case(era: str, size: int) -> str:
    """Return the name of a measurement in results."""
    return f"{era} {size} tools"


def run(bench: Bench) -> None:
    """Measure. A list is all its pages."""

    @contextmanager
    def prepare(contender: Contender) -> Iterator[Bursts]:
        bursts: dict[tuple[str, str], Burst] = {}
        with ExitStack() as started:
            for era in contender.eras:
                for size in SIZES:
                    server = started.enter_context(bench.start(contender, size - contender.tool_count))
                    bursts[case(era, size), contender.name] = _Lister(server, era, size, bench.burst_seconds).burst
            yield bursts

    bench.measure(NAME, _LISTED, prepare)


class _Lister:
    """Lists the tools of one server. The constructor warms the server."""

    def __init__(self, server: Server, era: str, size: int, seconds: float) -> None:
        self._server, self._era = server, era
        self._ids = count(1)
        open_conversation(server, era)
        self._pages, answer_bytes, names = self._all_pages()
        self._started = {
            "start_wall_ms": server.age_seconds() * 1e3,
            "start_cpu_ms": server.cpu_seconds() * 1e3,
            "rss_mib": server.memory_mib()[0],
            "answer_kib": answer_bytes / 1024,
            "pages": float(len(self._pages)),
        }
        if len(set(names)) != size:
            raise WrongAnswerError(f"{size} tools were expected, {len(set(names))} came")
        self._times = 3
        self.burst()
        self._times = max(round(seconds / self.burst()["wall_us"] * 1e6), 2)

    def burst(self) -> dict[str, float]:
        """Request the whole list several times. Return the wall and CPU microseconds of one list."""
        requests = [self._request(page) for _ in range(self._times) for page in self._pages]
        sizes, wall, cpu = self._server.timed(lambda: [len(self._server.exchange(message, 1)) for message in requests])
        if min(sizes) < max(sizes) // 2 and len(self._pages) == 1:
            raise WrongAnswerError("responses to equal requests differ")
        return self._started | {"wall_us": wall / self._times * 1e6, "cpu_us": cpu / self._times * 1e6}

    def _all_pages(self) -> tuple[list[dict[str, Any]], int, list[str]]:
        """Return the parameters of each page's request, the size of all responses, and the names of the tools."""
        pages: list[dict[str, Any]] = [{}]
        names: list[str] = []
        size = 0
        while True:
            answer = self._server.exchange(self._request(pages[-1]), 1)
            result = result_of(answer)["result"]
            size += len(answer)
            names += [tool["name"] for tool in result["tools"]]
            if not result.get("nextCursor"):
                return pages, size, names
            pages.append({"cursor": result["nextCursor"]})

    def _request(self, page: dict[str, Any]) -> bytes:
        return request(self._era, next(self._ids), "tools/list", page)
