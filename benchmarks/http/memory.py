"""The memory that an HTTP server uses for an idle session and for an open stream (2025-11-25)."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, FLOOR_UVLOOP, PEERS, PEGBOARD, PEGBOARD_UVLOOP, SDK_FAST
from benchmarks.http.answers import Answer
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import LEGACY, WrongAnswerError

NAME: Final = "http-memory"
SESSIONS: Final = "idle sessions"
STREAMS: Final = "streams of sessions"
COUNT: Final = 1000
STEPS: Final = (0, COUNT // 4, COUNT // 2, COUNT)
"""The numbers of sessions at which resident memory is read."""
COUNT_OF_STREAMS: Final = 500
_FLOORS: Final = (FLOOR, FLOOR_UVLOOP)
_FILES: Final = 4 * COUNT_OF_STREAMS

_WARM_UP: Final = 100
_NOT_OFFERED: Final = 405


def case(sessions: int) -> str:
    """Return the name of a number of sessions in results."""
    return f"{sessions} sessions"


def run(bench: Bench) -> None:
    """Measure. A server that offers no stream has no row among the streams. The floor has no sessions."""
    _allow_files(_FILES)
    for contender in bench.turns(NAME, (PEGBOARD, PEGBOARD_UVLOOP, *PEERS, SDK_FAST, *_FLOORS)):
        with bench.serve(contender) as server, ExitStack() as opened:
            connection = opened.enter_context(Connection(server.port))
            for _ in range(_WARM_UP):
                Conversation(connection, LEGACY)
            before, cpu = server.resident_kib(), server.cpu_seconds()
            measured: dict[str, dict[str, float]] = {}
            sessions: list[Conversation] = []
            for count in STEPS:
                sessions += [Conversation(connection, LEGACY) for _ in range(count - len(sessions))]
                measured[case(count)] = {"rss_mib": server.resident_kib() / 1024}
            measured[SESSIONS] = {
                "each_kib": (server.resident_kib() - before) / COUNT,
                "each_us": (server.cpu_seconds() - cpu) / COUNT * 1e6,
                "rss_mib": server.memory_mib()[0],
            }
            if contender.name in _FLOORS:
                measured.clear()
            if streams := _streams(server, sessions, opened):
                measured[STREAMS] = streams
            for name, metrics in measured.items():
                bench.results.add(NAME, name, contender.name, **metrics)


def _streams(server: HttpServer, sessions: list[Conversation], opened: ExitStack) -> dict[str, float]:
    """Open the streams of many sessions, each on its own connection, and keep them open."""
    listening = sessions[:COUNT_OF_STREAMS]
    before, cpu = server.resident_kib(), server.cpu_seconds()
    for number, session in enumerate(listening):
        connection = opened.enter_context(Connection(server.port))
        status = Answer.read(connection.open_stream(session.stream())).status
        if status == _NOT_OFFERED and number == 0:
            return {}
        if status != 200:
            raise WrongAnswerError(f"a stream was expected, {status} came")
    return {
        "each_kib": (server.resident_kib() - before) / len(listening),
        "each_us": (server.cpu_seconds() - cpu) / len(listening) * 1e6,
        "rss_mib": server.memory_mib()[0],
    }


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files for this process and the servers that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
