"""What all scenarios share: how many rounds, for how long, on which processors, and opening a conversation."""

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
        results: where values go.
        names: the contenders that take part.
        rounds: how often everything is measured, contenders taking turns.
        seconds: about how long one measurement of calls lasts.
        cpus: the processors that servers run on; None for all.
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
        """Return the contenders that take part, A B C A B C, round by round; a person is told what is measured.

        Args:
            what: what is measured.
            names: who may take part.
            most: the most rounds, where a round is long.
            era: the era that is measured; contenders that do not serve it take no part.
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
    """Shake hands where the era has that."""
    if era != MODERN:
        initialize, initialized = handshake()
        result_of(server.exchange(initialize, 1))
        server.tell(initialized)


def first_list(server: Server, era: str) -> bytes:
    """Open a conversation and ask for the tools, as a client does first; the answer."""
    open_conversation(server, era)
    return server.exchange(request(era, 1, "tools/list", {}), 1)
