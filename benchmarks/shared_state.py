"""The cost of state in Redis, and of workers: `python -m benchmarks.shared_state`.

Rounds of both kinds of servers alternate. Each figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.http.answers import message_of
from benchmarks.http.client import Connection, Load
from benchmarks.http.conversation import Conversation
from benchmarks.http.server import free_port
from benchmarks.messages import WrongAnswerError
from benchmarks.process import Process
from tests.support.redis_server import RedisServer

ERA: Final = "2025-11-25"
CONCURRENCIES: Final = (1, 16)
IDLE_SECONDS: Final = 20
CONNECTIONS: Final = 200
START_SECONDS: Final = 30
KEYS: Final = 'state_keys = ["0123456789abcdef0123456789abcdef"]\n'
TOOLS: Final = '''
import os
from pegboard import Context, Toolkit

kit = Toolkit("state")


@kit.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@kit.tool
async def read(context: Context, key: str) -> str:
    """Return a value of the session."""
    return str(context.session.get(key, ""))


@kit.tool
async def write(context: Context, key: str, value: str) -> None:
    """Keep a value in the session."""
    context.session.set(key, value)


@kit.tool
async def pid() -> int:
    """Return the process."""
    return os.getpid()
'''
CASES: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "without session data": ("state_add", {"a": 1, "b": 2}),
    "reads a value": ("state_read", {"key": "a"}),
    "writes a value": ("state_write", {"key": "a", "value": "b"}),
}


@contextmanager
def serve(folder: Path, state: str, *options: str) -> Iterator[tuple[Process, int]]:
    """Run a server with a configuration. Yield its process and its port."""
    port = free_port()
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, "utf-8")
    (folder / "hostconfig.toml").write_text(f"{state}\n[plugins.http]\nport = {port}\n", "utf-8")
    command = [sys.executable, "-m", "pegboard", "serve", str(folder / "tools.py"), *options]
    environ = {"PATH": "", "HOME": str(folder), "PEGBOARD_CONFIG": str(folder / "hostconfig.toml")}
    with Process(command, environ, None, pipes=False) as process:
        _wait(port, process)
        yield process, port


def _wait(port: int, process: Process) -> None:
    while True:
        try:
            Connection(port).close()
        except ConnectionRefusedError:
            if process.age_seconds() > START_SECONDS:
                raise
            time.sleep(0.05)
        else:
            return


class Caller:
    """Calls a tool in several sessions at once."""

    def __init__(self, process: Process, port: int, concurrency: int) -> None:
        self._process = process
        self._load = Load(port, concurrency)
        with Connection(port) as connection:
            self._sessions = [Conversation(connection, ERA) for _ in range(concurrency)]
        self._id = 0

    def microseconds(self, tool: str, arguments: dict[str, Any], count: int) -> float:
        """Return the CPU time of a call."""
        requests = [self._request(number, tool, arguments) for number in range(count)]
        (responses, _), _, cpu = self._process.timed(partial(self._load.run, requests))
        for raw in responses:
            if "result" not in (answer := json.loads(message_of(raw))) or answer["result"].get("isError"):
                raise WrongAnswerError(str(answer))
        return cpu / count * 1e6

    def _request(self, number: int, tool: str, arguments: dict[str, Any]) -> bytes:
        self._id += 1
        session = self._sessions[number % len(self._sessions)]
        return session.request(self._id, "tools/call", {"name": tool, "arguments": arguments})


def measure_calls(servers: Mapping[str, tuple[Process, int]], rounds: int, calls: int) -> None:
    """Print the CPU time of calls on each server, and the difference."""
    callers = {(name, many): Caller(*server, many) for name, server in servers.items() for many in CONCURRENCIES}
    times: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for (name, many), caller in callers.items():
            for case, call in CASES.items():
                spent = caller.microseconds(*call, calls)
                if number:  # the first round warms up
                    times[case, many, name].append(spent)
    for case in CASES:
        for many in CONCURRENCIES:
            memory, redis = (statistics.median(times[case, many, name]) for name in servers)
            print(
                f"{case}, {many} at once: memory {memory:.0f} us, Redis {redis:.0f} us, above {redis - memory:+.0f} us"
            )


def measure_idle(servers: Mapping[str, tuple[Process, int]]) -> None:
    """Print how often idle servers wake up."""
    before = {name: _switches(process.pid) for name, (process, _) in servers.items()}
    time.sleep(IDLE_SECONDS)
    for name, (process, _) in servers.items():
        after = _switches(process.pid)
        count = sum(after[thread] - before[name][thread] for thread in after.keys() & before[name].keys())
        print(f"idle, {name}: {count / IDLE_SECONDS * 5:.1f} wake-ups in 5 s")


def _switches(pid: int) -> dict[str, int]:
    """Return how often each thread of a process has waited."""
    files = Path(f"/proc/{pid}/task").glob("*/status")
    statuses = {file.parent.name: file.read_text("ascii") for file in files}
    name = "\nvoluntary_ctxt_switches:"
    return {thread: int(status.partition(name)[2].split()[0]) for thread, status in statuses.items()}


def measure_workers(folder: Path, rounds: int, calls: int) -> None:
    """Print the CPU time of calls in one process and in each of two workers, and the share of connections of each."""
    state = f'[plugins.mcp]\nsessions = "sealed"\n{KEYS}'
    times: dict[str, list[float]] = defaultdict(list)
    with serve(folder / "alone", state) as (alone, port), serve(folder / "both", state, "--workers", "2") as (both, at):
        workers = _children(both.pid)
        while len(workers) < 2:
            time.sleep(START_SECONDS / 30)  # the second one starts when the first is ready, and takes as long
            workers = _children(both.pid)
        time.sleep(START_SECONDS / 10)
        shares: Counter[int] = Counter()
        for _ in range(rounds):
            times["one process"].append(_spent([alone.pid], port, calls)[alone.pid][0])
            for number, (spent, count) in enumerate(_spent(workers, at, calls).values(), 1):
                times[f"worker {number}"].append(spent)
                shares[number] += count
    for name, spent_times in times.items():
        print(f"{name}: {statistics.median(spent_times):.0f} us")
    print("connections:", ", ".join(f"worker {number} {shares[number] / shares.total():.0%}" for number in shares))


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _spent(pids: Sequence[int], port: int, calls: int) -> dict[int, tuple[float, int]]:
    """Call on new connections. Return the CPU time of a call in each process, and its number of connections."""
    with ExitStack() as stack:
        connections = [stack.enter_context(Connection(port)) for _ in range(CONNECTIONS)]
        session = Conversation(connections[0], ERA)
        call = session.request(1, "tools/call", {"name": "state_pid", "arguments": {}})
        owners = Counter(_pid(connection.exchange(call)) for connection in connections)
        before = {pid: _cpu(pid) for pid in pids}
        many = max(1, calls // CONNECTIONS)
        for _ in range(many):
            for connection in connections:  # requests wait at each process
                connection.send(call)
            for connection in connections:
                while not connection.receive():
                    pass
        return {pid: ((_cpu(pid) - before[pid]) / (owners[pid] * many) * 1e6, owners[pid]) for pid in pids}


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    return time.clock_gettime((~pid << 3) | 2)


def _pid(raw: bytes) -> int:
    return int(json.loads(message_of(raw))["result"]["content"][0]["text"])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description="Measure the cost of state in Redis, and of workers.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=800)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shared-state-")))
        redis = stack.enter_context(RedisServer())
        shared = f'[host]\nstate = "redis"\n{KEYS}{redis.config}'
        servers = {
            name: stack.enter_context(serve(folder / name, state))
            for name, state in (("memory", ""), ("redis", shared))
        }
        measure_calls(servers, options.rounds, options.calls)
        measure_idle(servers)
        measure_workers(folder, options.rounds, options.calls)


if __name__ == "__main__":
    main()
