"""Calls of a mounted server's tool beside calls of the host's own tool, over HTTP: the CPU time of the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.bench import Bench
from benchmarks.contenders import PEGBOARD
from benchmarks.http.calls import Caller
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import HttpServer
from benchmarks.messages import ERAS
from benchmarks.results import Results

NAME: Final = "mounted-call"
MOUNTED: Final = "pegboard+mount"
MAX_ADDED_MICROSECONDS: Final = 300
_SERVER: Final = "PEGBOARD__PLUGINS__UPSTREAMS__SERVERS__FAR__"


def run(bench: Bench) -> None:
    """Measure."""
    for era in ERAS:
        for host in bench.turns(f"{NAME} {era}", (PEGBOARD,)):
            with bench.serve(host) as far:
                variables = {f"{_SERVER}URL": f"http://127.0.0.1:{far.port}/mcp", f"{_SERVER}REVISION": era}
                with bench.serve(host, variables=variables) as near:
                    add = host.tools["add"]
                    _measure(bench, PEGBOARD, near, era, add)
                    _measure(bench, MOUNTED, near, era, f"far_{add}")


def _measure(bench: Bench, name: str, server: HttpServer, era: str, tool: str) -> None:
    with Connection(server.port) as connection, Load(server.port, 1) as load:
        conversation = Conversation(connection, era)
        connection.exchange(conversation.request(1, "tools/list", {}))  # waits for the mounted server
        metrics = Caller(server, conversation, load, tool).measure(bench.seconds)
        bench.results.add(NAME, f"{era} add", name, **metrics)


def promises(results: Results) -> Iterator[tuple[bool, str]]:
    """Return whether each promise is kept, and the promise."""
    for case in results.cases(NAME):
        direct, mounted = (results.get(NAME, case, name, "cpu_us") for name in (PEGBOARD, MOUNTED))
        if direct and mounted:
            added = mounted.median - direct.median
            said = f"{added:.0f} us more CPU than one of the host's own tools (at most {MAX_ADDED_MICROSECONDS})"
            yield added <= MAX_ADDED_MICROSECONDS, f"mounted call {case}: {said}"
