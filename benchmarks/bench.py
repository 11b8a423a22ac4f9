"""The common part of all scenarios: rounds, bursts, durations, processors, and the first messages to a server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final, TypeAlias

from benchmarks.contenders import Contender, Contenders
from benchmarks.http.server import HttpServer
from benchmarks.messages import MODERN, handshake, request, result_of
from benchmarks.process import Server
from benchmarks.results import NOISY, Results

BURSTS: Final = 8
"""The bursts of a round, if a scenario does not say otherwise."""
FEWEST: Final = 6
"""The fewest requests of a burst. It is even, because some peers collect garbage at every second long response."""
ATTEMPTS: Final = 3
"""How often a measurement is made if the machine was unsteady meanwhile. The last one counts."""
Burst: TypeAlias = Callable[[], Mapping[str, float]]
"""Measures once for a short time. Returns the metrics."""
Bursts: TypeAlias = Mapping[tuple[str, str], Burst]
"""Bursts by case and row."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmarks.

    Attributes:
        contenders: makes contenders.
        results: receives the measured values.
        names: the contenders to measure.
        rounds: the number of rounds, each with new processes.
        seconds: the approximate duration of one measurement of calls in a round.
        cpus: the processors for servers; None for all.
    """

    contenders: Contenders
    results: Results
    names: tuple[str, ...]
    rounds: int
    seconds: float
    cpus: set[int] | None

    @property
    def burst_seconds(self) -> float:
        """The approximate duration of one burst of calls."""
        return self.seconds / BURSTS

    def turns(self, what: str, names: Iterable[str]) -> Iterator[Contender]:
        """Yield the contenders of each round, such as A B C A B C. Print the name of the measurement."""
        for contenders in self._rounds(what, names, self.rounds):
            yield from contenders

    def measure(
        self,
        scenario: str,
        names: Iterable[str],
        prepare: Callable[[Contender], AbstractContextManager[Bursts]],
        *,
        what: str = "",
        bursts: int = BURSTS,
        most: int | None = None,
        steady: Collection[str] = (),
    ) -> None:
        """Measure contenders whose bursts take turns, such as A B C A B C. Add the medians of each round.

        The bursts of a row are spread over the whole round: the machine may be slow for a minute.

        Args:
            scenario: the scenario.
            names: the contenders that can be measured.
            prepare: starts and warms a contender for one round, and returns its bursts.
            what: what is measured, if a scenario has several measurements.
            bursts: the number of bursts of a row in a round.
            most: the maximum number of rounds; None for no maximum.
            steady: metrics; if the rounds of one differ too much, all rounds are measured again.
        """
        title, rounds = f"{scenario} {what}".rstrip(), min(self.rounds, most or self.rounds)
        results = Results()
        for _ in range(ATTEMPTS if steady else 1):
            results.remove(scenario)
            for contenders in self._rounds(title, names, rounds):
                for (case, row), medians in _round(map(prepare, contenders), bursts).items():
                    results.add(scenario, case, row, **medians)
            if all(summary.spread <= NOISY for metric in steady for summary in results.of(scenario, metric).values()):
                break
        self.results.include(results)

    def _rounds(self, what: str, names: Iterable[str], rounds: int) -> Iterator[list[Contender]]:
        chosen = [self.contenders.get(name) for name in names if name in self.names]
        for number in range(1, rounds + 1):
            print(f"benchmarks: {what}, round {number} of {rounds}", file=sys.stderr, flush=True)
            yield chosen

    def start(self, contender: Contender, more_tools: int = 0) -> Server:
        """Start a contender."""
        return Server(contender.command, contender.environ(more_tools), self.cpus)

    def serve(self, contender: Contender, more_tools: int = 0, variables: dict[str, str] | None = None) -> HttpServer:
        """Start a contender as an HTTP server."""
        return HttpServer(contender, self.cpus, more_tools, variables)


def _round(prepared: Iterable[AbstractContextManager[Bursts]], bursts: int) -> dict[tuple[str, str], dict[str, float]]:
    """Measure one round. Return the medians of each row."""
    with ExitStack() as started:
        rows = [row for contender in prepared for row in started.enter_context(contender).items()]
        cases = list(dict.fromkeys(case for (case, _), _ in rows))
        rows.sort(key=lambda row: cases.index(row[0][0]))  # rows that are compared follow each other
        turns = [[burst() for _, burst in rows] for _ in range(bursts)]
    return {name: _medians(measured) for (name, _), measured in zip(rows, zip(*turns, strict=True), strict=True)}


def _medians(bursts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each metric. A burst at an unusual speed of the machine, low or high, has no effect."""
    return {metric: median(burst[metric] for burst in bursts) for metric in bursts[0]}


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
