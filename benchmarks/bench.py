"""The common part of all scenarios: rounds, durations, processors, and the first messages to a server."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.contenders import Contender, Contenders
from benchmarks.http.server import HttpServer
from benchmarks.messages import MODERN, handshake, request, result_of
from benchmarks.process import Server
from benchmarks.results import Results


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmarks.

    Attributes:
        contenders: makes contenders.
        results: receives the measured values.
        names: the contenders to measure.
        rounds: the number of rounds, in which contenders take turns.
        seconds: the approximate duration of one measurement of calls.
        cpus: the processors for servers; None for all.
    """

    contenders: Contenders
    results: Results
    names: tuple[str, ...]
    rounds: int
    seconds: float
    cpus: set[int] | None

    def turns(
        self, what: str, names: Iterable[str], most: int | None = None, era: str | None = None
    ) -> Iterator[Contender]:
        """Yield the contenders of each round, such as A B C A B C. Print the name of the measurement.

        Args:
            what: the name of the measurement.
            names: the contenders that can be measured.
            most: the maximum number of rounds; None for no maximum.
            era: the measured era, whose contenders are yielded; None for all contenders.
        """
        print(f"benchmarks: {what}", file=sys.stderr, flush=True)
        chosen = [self.contenders.get(name) for name in names if name in self.names]
        chosen = [contender for contender in chosen if era is None or era in contender.eras]
        for _ in range(min(self.rounds, most or self.rounds)):
            yield from chosen

    def start(self, contender: Contender, more_tools: int = 0) -> Server:
        """Start a contender."""
        return Server(contender.command, contender.environ(more_tools), self.cpus)

    def serve(self, contender: Contender, more_tools: int = 0, variables: dict[str, str] | None = None) -> HttpServer:
        """Start a contender as an HTTP server."""
        return HttpServer(contender, self.cpus, more_tools, variables)


def open_conversation(server: Server, era: str) -> None:
    """Initialize a session, if the era has sessions."""
    if era != MODERN:
        initialize, initialized = handshake()
        result_of(server.exchange(initialize, 1))
        server.tell(initialized)


def first_list(server: Server, era: str) -> bytes:
    """Initialize a session if the era has sessions, request the list of tools, and return the response."""
    open_conversation(server, era)
    return server.exchange(request(era, 1, "tools/list", {}), 1)
