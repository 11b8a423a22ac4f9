"""Calls with a token beside calls without authentication, over MCP in both eras and over the worker protocol."""

from __future__ import annotations

from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, PEGBOARD, Contender
from benchmarks.http.authentication import OPEN, Authentication, authentications
from benchmarks.http.calls import CONCURRENCIES, Caller, Calls, case
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.invocations import Invocations
from benchmarks.http.server import HttpServer
from benchmarks.messages import ERAS

__all__ = ["NAME", "OPEN", "TOOL", "WORKER", "run"]

NAME: Final = "auth"
WORKER: Final = "worker"
"""The name in place of an era, for calls over the worker protocol."""
TOOL: Final = "add"


def run(bench: Bench) -> None:
    """Measure. Ways of authentication take turns, like contenders. The floor checks only the token of the worker."""
    with authentications() as ways:
        for contender in bench.turns(NAME, (PEGBOARD, FLOOR)):
            for way in ways if contender.name == PEGBOARD else (ways[0], ways[-1]):
                _measure(bench, contender, way)


def _measure(bench: Bench, contender: Contender, way: Authentication) -> None:
    row = way.name if contender.name == PEGBOARD else contender.name
    with bench.serve(contender, variables=dict(way.variables)) as server, Connection(server.port) as connection:
        tool = "Add" if way.is_worker else contender.tools[TOOL]
        for era in (WORKER,) if way.is_worker else ERAS:
            calls = _calls(connection, era, way)
            for concurrency in CONCURRENCIES:
                metrics = _called(server, calls, tool, concurrency, bench.seconds)
                bench.results.add(NAME, case(era, TOOL, concurrency), row, **metrics)


def _calls(connection: Connection, era: str, way: Authentication) -> Calls:
    if way.is_worker:
        return Invocations(connection.port, way.authorization)
    return Conversation(connection, era, way.authorization)


def _called(server: HttpServer, calls: Calls, tool: str, concurrency: int, seconds: float) -> dict[str, float]:
    with Load(server.port, concurrency) as load:
        return Caller(server, calls, load, tool).measure(seconds)
