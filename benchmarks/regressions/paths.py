"""The compared paths. For each, one process receives few requests, and another process receives many.

The difference of their costs is the cost of the additional requests, without the start and the end.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Self

from benchmarks.bench import open_conversation
from benchmarks.contenders import Contender
from benchmarks.environments import CACHE, HERE
from benchmarks.http.answers import message_of
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import LEGACY, MODERN, WrongAnswerError, request, result_of
from benchmarks.process import Process, Server

TOKEN: Final = "regressions-0123456789abcdef0123456789"  # noqa: S105 - of a server on loopback
_WITH_TOKEN: Final = {
    "PEGBOARD__PLUGINS__AUTH_TOKEN__TOKEN": TOKEN,
    "PEGBOARD__PLUGINS__RATE_LIMIT__CALLS_PER_MINUTE": "1000000",
    "PEGBOARD__PLUGINS__RATE_LIMIT__BURST": "1000000",
}
_MOUNT: Final = "PEGBOARD__PLUGINS__UPSTREAMS__SERVERS__FAR__"
LARGE: Final = 1000
"""The number of records in 64 KiB of JSON."""
ROWS: Final = 300
"""The number of nested rows in 64 KiB of JSON."""
_NESTED: Final = str(HERE / "servers" / "nested_rows.py")


def nested_rows(rows: int) -> list[dict[str, Any]]:
    """Return rows that contain lists and objects."""
    return [
        {
            "id": number,
            "name": f"name {number} of the list",
            "tags": ["red", f"number {number % 7}", "large"],
            "place": {"city": f"Berlin number {number % 97}", "latitude": number / 4, "longitude": 13.5},
            "visits": [{"day": day, "minutes": number * day} for day in range(3)],
        }
        for number in range(rows)
    ]


@dataclass(frozen=True, slots=True)
class KeyPath:
    """One path.

    Attributes:
        name: its name in the table.
        http: True for HTTP, False for stdio.
        era: the era of its requests.
        few: the number of requests of the first process.
        many: the number of requests of the second process; 0 to measure one process with its start, a list and its end.
        tool: the tool; "add" and "records" are those of the contender.
        arguments: the arguments of each call.
        file: the file whose tools are served, instead of those of the contender; "" for none.
        token: True if each request has a token, which the server requires.
        at_once: the number of requests in flight, over stdio.
        mounted: True to mount the floor as the server `far`. Its own cost is not counted.
    """

    name: str
    http: bool = False
    era: str = LEGACY
    few: int = 200
    many: int = 1200
    tool: str = "add"
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"a": 1, "b": 7})
    file: str = ""
    token: bool = False
    at_once: int = 1
    mounted: bool = False

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
        if self.token:
            variables = {**variables, **_WITH_TOKEN}
        if self.mounted:
            variables = {**variables, **_mount(contender)}
        if self.http:
            return HttpServer(contender, None, variables=variables)
        command = (*contender.command, *((self.file,) if self.file else ()))
        return Server(command, contender.environ() | variables, None)

    def drive(self, server: Process, contender: Contender, requests: int) -> None:
        """List the tools, then send calls, and check the responses.

        Raises:
            WrongAnswerError: a call failed.
        """
        own = {**contender.tools, "records": contender.records}
        call = ("tools/call", {"name": own.get(self.tool, self.tool), "arguments": self.arguments})
        with ExitStack() as opened:
            ask = self._conversation(server, opened)
            for answer in ask([("tools/list", {})]):
                result_of(answer)
            for _ in range(requests // self.at_once):
                for answer in ask([call] * self.at_once):
                    if result_of(answer)["result"].get("isError"):
                        raise WrongAnswerError(f"a call failed: {answer[:300]!r}")

    def _conversation(
        self, server: Process, opened: ExitStack
    ) -> Callable[[Sequence[tuple[str, dict[str, Any]]]], Iterable[bytes]]:
        """Return a function that sends requests, each with a method and params, and returns the responses."""
        ids = count(1)
        if isinstance(server, HttpServer):
            connection = opened.enter_context(Connection(server.port))
            conversation = Conversation(connection, self.era, f"Bearer {TOKEN}" if self.token else "")
            return lambda calls: [
                message_of(connection.exchange(conversation.request(next(ids), method, params)))
                for method, params in calls
            ]
        assert isinstance(server, Server)
        open_conversation(server, self.era)
        return lambda calls: server.exchange(
            b"".join(request(self.era, next(ids), method, params) for method, params in calls), len(calls)
        ).splitlines()


def _mount(contender: Contender) -> dict[str, str]:
    """Return the variables that mount the floor, in the environment of a contender."""
    return {
        "PEGBOARD_STATE_DIR": str(CACHE / "regressions" / "state"),
        f"{_MOUNT}COMMAND": contender.environment.python,
        f"{_MOUNT}ARGS": json.dumps([str(HERE / "servers" / "floor.py")]),
        f"{_MOUNT}REVISION": "2025-11-25",
        f"{_MOUNT}START": "required",
        f"{_MOUNT}TIMEOUT": "300",
    }


PATHS: Final = (
    KeyPath("start, first list and end, stdio", many=0),
    KeyPath("call, stdio"),
    KeyPath("call of a mounted tool, stdio", few=50, many=300, tool="far_add", mounted=True),
    KeyPath("100 calls at once, stdio", at_once=100),
    KeyPath("call in a session, HTTP", http=True),
    KeyPath("call of 2026-07-28, HTTP", http=True, era=MODERN),
    KeyPath("call of 2026-07-28 with a token, HTTP", http=True, era=MODERN, token=True),
    KeyPath("result of 64 KiB, stdio", few=10, many=60, tool="records", arguments={"count": LARGE}),
    KeyPath("result of nested rows, stdio", few=10, many=60, tool="rows_give", arguments={"count": ROWS}, file=_NESTED),
    KeyPath(
        "arguments of nested rows, stdio",
        few=10,
        many=60,
        tool="rows_take",
        arguments={"rows": nested_rows(ROWS)},
        file=_NESTED,
    ),
)
