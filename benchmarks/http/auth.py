"""Calls with a token beside calls without authentication, over MCP in both eras and over the worker protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from benchmarks.bench import Bench, Burst, Bursts
from benchmarks.contenders import FLOOR, PEGBOARD, Contender
from benchmarks.http.authentication import OPEN, Authentication, authentications
from benchmarks.http.calls import CONCURRENCIES, Caller, Calls, case
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.http.invocations import Invocations
from benchmarks.messages import ERAS

__all__ = ["NAME", "OPEN", "TOOL", "WORKER", "run"]

NAME: Final = "auth"
WORKER: Final = "worker"
"""The name in place of an era, for calls over the worker protocol."""
TOOL: Final = "add"


def run(bench: Bench) -> None:
    """Measure. Ways of authentication take turns, like contenders. The floor checks only the token of the worker."""
    with authentications() as ways:

        @contextmanager
        def prepare(contender: Contender) -> Iterator[Bursts]:
            bursts: dict[tuple[str, str], Burst] = {}
            with ExitStack() as started:
                for way in ways if contender.name == PEGBOARD else (ways[0], ways[-1]):
                    row = way.name if contender.name == PEGBOARD else contender.name
                    server = started.enter_context(bench.serve(contender, variables=dict(way.variables)))
                    connection = started.enter_context(Connection(server.port))
                    tool = "Add" if way.is_worker else contender.tools[TOOL]
                    for era in (WORKER,) if way.is_worker else ERAS:
                        calls = _calls(connection, era, way)
                        for concurrency in CONCURRENCIES:
                            caller = Caller(server, calls, tool, concurrency, bench.burst_seconds)
                            bursts[case(era, TOOL, concurrency), row] = caller.burst
                yield bursts

        bench.measure(NAME, (PEGBOARD, FLOOR), prepare)


def _calls(connection: Connection, era: str, way: Authentication) -> Calls:
    if way.is_worker:
        return Invocations(connection.port, way.authorization)
    return Conversation(connection, era, way.authorization)
