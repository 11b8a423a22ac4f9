"""The compared paths. For each, one process receives few requests, and another one receives many.

The difference of their costs is the cost of the additional requests, without the start and the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Self

from benchmarks.bench import open_conversation
from benchmarks.contenders import Contender
from benchmarks.http.answers import message_of
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import LEGACY, MODERN, WrongAnswerError, request, result_of
from benchmarks.process import Process, Server

LARGE: Final = 1000
"""The number of records in 64 KiB of JSON."""


@dataclass(frozen=True, slots=True)
class KeyPath:
    """One path.

    Attributes:
        name: its name in the table.
        http: True for HTTP, False for stdio.
        era: the era of its requests.
        few: the number of requests of the first process.
        many: the number of requests of the second process; 0 to measure one process with its start, a list and its end.
        records: the number of records in each result; 0 for a sum.
    """

    name: str
    http: bool = False
    era: str = LEGACY
    few: int = 200
    many: int = 1200
    records: int = 0

    @property
    def runs(self) -> tuple[int, ...]:
        """The numbers of requests of the processes."""
        return (self.few, self.many) if self.many else (0,)

    def longer(self, times: int) -> Self:
        """Return the path with the numbers of requests multiplied."""
        return dataclasses.replace(self, few=self.few * times, many=self.many * times)

    def cost(self, totals: dict[int, float]) -> float:
        """Return the cost of one request from the totals of the processes, by their numbers of requests."""
        return (totals[self.many] - totals[self.few]) / (self.many - self.few) if self.many else totals[0]

    def serve(self, contender: Contender, variables: dict[str, str]) -> Process:
        """Start the server."""
        if self.http:
            return HttpServer(contender, None, variables=variables)
        return Server(contender.command, contender.environ() | variables, None)

    def drive(self, server: Process, contender: Contender, requests: int) -> None:
        """List the tools, then send sequential calls, and check the responses."""
        tool = contender.records if self.records else contender.tools["add"]
        arguments = {"count": self.records} if self.records else {"a": 1, "b": 7}
        with ExitStack() as opened:
            ask = self._conversation(server, opened)
            result_of(ask("tools/list", {}))
            for _ in range(requests):
                answer = ask("tools/call", {"name": tool, "arguments": arguments})
                if result_of(answer)["result"].get("isError"):
                    raise WrongAnswerError(f"a call failed: {answer[:300]!r}")

    def _conversation(self, server: Process, opened: ExitStack) -> Callable[[str, dict[str, Any]], bytes]:
        """Return a function that sends a request with a method and params, and returns the response."""
        ids = count(1)
        if isinstance(server, HttpServer):
            connection = opened.enter_context(Connection(server.port))
            conversation = Conversation(connection, self.era)
            return lambda method, params: message_of(
                connection.exchange(conversation.request(next(ids), method, params))
            )
        assert isinstance(server, Server)
        open_conversation(server, self.era)
        return lambda method, params: server.exchange(request(self.era, next(ids), method, params), 1)


PATHS: Final = (
    KeyPath("start, first list and end, stdio", many=0),
    KeyPath("call, stdio"),
    KeyPath("call in a session, HTTP", http=True),
    KeyPath("call of 2026-07-28, HTTP", http=True, era=MODERN),
    KeyPath("result of 64 KiB, stdio", few=10, many=60, records=LARGE),
)
