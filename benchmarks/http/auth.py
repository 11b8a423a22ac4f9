"""Calls by those who bring a token, beside calls through an open door: MCP's in both eras, and the worker's."""

from __future__ import annotations

from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import FLOOR, PEGBOARD, Contender
from benchmarks.http.calls import CONCURRENCIES, Caller, Calls, case
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.doors import OPEN, Door, all_doors
from benchmarks.http.invocations import Invocations
from benchmarks.http.server import HttpServer
from benchmarks.messages import ERAS

__all__ = ["NAME", "OPEN", "TOOL", "WORKER", "run"]

NAME: Final = "auth"
WORKER: Final = "worker"
"""What stands for an era where the call is the worker's."""
TOOL: Final = "add"


def run(bench: Bench) -> None:
    """Measure: doors take turns, as contenders do. The floor has none, but for the worker's token, which it checks."""
    with all_doors() as doors:
        for contender in bench.turns(NAME, (PEGBOARD, FLOOR)):
            for door in doors if contender.name == PEGBOARD else (doors[0], doors[-1]):
                _measure(bench, contender, door)


def _measure(bench: Bench, contender: Contender, door: Door) -> None:
    row = door.name if contender.name == PEGBOARD else contender.name
    with bench.serve(contender, variables=dict(door.variables)) as server, Connection(server.port) as connection:
        tool = "Add" if door.is_worker else contender.tools[TOOL]
        for era in (WORKER,) if door.is_worker else ERAS:
            calls = _calls(connection, era, door)
            for concurrency in CONCURRENCIES:
                metrics = _called(server, calls, tool, concurrency, bench.seconds)
                bench.results.add(NAME, case(era, TOOL, concurrency), row, **metrics)


def _calls(connection: Connection, era: str, door: Door) -> Calls:
    if door.is_worker:
        return Invocations(connection.port, door.authorization)
    return Conversation(connection, era, door.authorization)


def _called(server: HttpServer, calls: Calls, tool: str, concurrency: int, seconds: float) -> dict[str, float]:
    with Load(server.port, concurrency) as load:
        return Caller(server, calls, load, tool).measure(seconds)
