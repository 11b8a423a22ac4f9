"""Calls of a mounted server's tool beside calls of the host's own tool, over HTTP: the CPU time of the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from benchmarks.bench import Bench, Burst, Bursts
from benchmarks.contenders import PEGBOARD, Contender
from benchmarks.http.calls import Caller
from benchmarks.http.client import Connection
from benchmarks.http.conversation import Conversation
from benchmarks.messages import ERAS

NAME: Final = "mounted-call"
MOUNTED: Final = "pegboard+mount"
_SERVER: Final = "PEGBOARD__PLUGINS__UPSTREAMS__SERVERS__FAR__"


def case(era: str) -> str:
    """Return the name of a measurement in results."""
    return f"{era} add"


def run(bench: Bench) -> None:
    """Measure."""

    @contextmanager
    def prepare(host: Contender) -> Iterator[Bursts]:
        bursts: dict[tuple[str, str], Burst] = {}
        add = host.tools["add"]
        with ExitStack() as started:
            far = started.enter_context(bench.serve(host))
            for era in ERAS:
                variables = {f"{_SERVER}URL": f"http://127.0.0.1:{far.port}/mcp", f"{_SERVER}REVISION": era}
                near = started.enter_context(bench.serve(host, variables=variables))
                connection = started.enter_context(Connection(near.port))
                conversation = Conversation(connection, era)
                connection.exchange(conversation.request(1, "tools/list", {}))  # waits for the mounted server
                for name, tool in ((PEGBOARD, add), (MOUNTED, f"far_{add}")):
                    bursts[case(era), name] = Caller(near, conversation, tool, 1, bench.burst_seconds).burst
            yield bursts

    bench.measure(NAME, (PEGBOARD,), prepare)
