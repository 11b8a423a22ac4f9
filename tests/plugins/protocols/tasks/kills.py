"""Servers of tasks that are killed at random moments. This process counts the effects of their tools.

    python -m tests.plugins.protocols.tasks.kills --kills 50 --store redis

Each task must end, a task that may not be repeated has at most one effect, and an acknowledged answer or end counts.
Tasks in memory end with their process: another process does not know them, and repeats none.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from pegboard import MCPError
from pegboard_client import Client, TaskCancelledError
from tests.host.hosting import until
from tests.plugins.protocols.tasks import jobs_kit
from tests.support.http import Served
from tests.support.pool import make_site
from tests.support.redis_server import RedisServer
from tests.support.rules import Added
from tests.support.wire import PEGBOARD

DECLARED: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
TASK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "taskId": {"type": "string", "minLength": 32},
        "status": {"enum": ["working", "input_required", "completed", "failed", "cancelled"]},
        "createdAt": TIME,
        "lastUpdatedAt": TIME,
        "ttlMs": {"type": "integer"},
        "pollIntervalMs": {"type": "integer", "minimum": 1},
    },
    "required": ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"],
    "allOf": [
        {
            "if": {"properties": {"status": {"const": status}}},
            "then": {"required": [member]},
            "else": {"not": {"required": [member]}},
        }
        for status, member in (("completed", "result"), ("failed", "error"), ("input_required", "inputRequests"))
    ],
}
ACKNOWLEDGED = {"type": "object", "not": {"required": ["taskId"]}}
CREATED = {
    **TASK,
    "allOf": [{}],
    "not": {"anyOf": [{"required": [name]} for name in ("result", "error", "inputRequests")]},
}
ADDED = Added(
    results={"tasks/get": TASK, "tasks/update": ACKNOWLEDGED, "tasks/cancel": ACKNOWLEDGED},
    kinds={"task": CREATED},
    notifications={"notifications/tasks": TASK},
)


CONFIG = "[plugins.http]\nport = 0\n[plugins.tasks]\npoll_ms = 50\nmax_per_caller = 1000000\n"
REDIS = '[host]\nstate = "redis"\nstate_keys = ["0123456789abcdef0123456789abcdef"]\n'
STORES = ("memory", "sqlite", "redis")
TOOLS = ("jobs_once", "jobs_again", "jobs_ask")
INTERRUPTED = "interrupted: the outcome is unknown"
UNKNOWN = "There is no such task: it is unknown, or has expired."
ANSWER = {"action": "accept", "content": {"value": True}}
MAX_LIFE_SECONDS = 0.5


class Effects:
    """Counts effects in this process, in a file that it appends to."""

    def __init__(self, path: Path) -> None:
        self.counts: Counter[str] = Counter()
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    async def count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Count the effect that a tool reports, before the tool goes on."""
        line = await reader.readline()
        if line:
            os.write(self._file, line)
            os.fsync(self._file)
            self.counts[line.decode().strip()] += 1
            writer.write(b"counted\n")
        writer.close()


@asynccontextmanager
async def server(folder: Path, config: str = CONFIG) -> AsyncIterator[tuple[str, Client]]:
    """Run a server, and kill it at the end of the block. Yield its URL and a client."""
    command = (PEGBOARD, "serve", "--config", "hostconfig.toml", "--only", "jobs")
    state = {"PEGBOARD_STATE_DIR": str(folder / "state")}
    async with (
        Served(folder, config, env=state, cwd=folder, command=command) as served,
        Client(served.url, capabilities={"elicitation": {"form": {}}}, timeout=30) as client,
    ):
        try:
            yield served.url, client
        finally:
            await served.stop()


class Load:
    """Tasks, and what the servers have acknowledged about them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.created: dict[str, str] = {}
        self.answered: set[str] = set()
        self.ended: dict[str, str] = {}

    async def create(self, client: Client, name: str) -> None:
        """Create a task, answer it if it asks, and wait for it or cancel it."""
        tool = random.choice(TOOLS)
        with suppress(MCPError):
            called = {"name": tool, "arguments": {"port": self._port, "name": name}}
            task = await client.exchange("tools/call", called, capabilities=DECLARED)
            task_id = task["taskId"]
            self.created[task_id] = f"{tool}/{name}"
            if tool == "jobs_ask":
                await self.answer(client, task_id)
            elif random.random() < 0.2:
                await client.cancel_task(task_id)  # unless it has completed
                state = await client.exchange("tasks/get", {"taskId": task_id}, capabilities=DECLARED)
                self.ended[task_id] = state["status"]
            else:
                await client.task(task_id)
                self.ended[task_id] = "completed"

    async def answer(self, client: Client, task_id: str) -> None:
        """Wait until a task asks, and answer it."""
        options: Any = {"capabilities": DECLARED}
        status = "working"
        while status == "working":
            await asyncio.sleep(0.01)
            status = (await client.exchange("tasks/get", {"taskId": task_id}, **options))["status"]
        await client.exchange("tasks/update", {"taskId": task_id, "inputResponses": {"go_on": ANSWER}}, **options)
        self.answered.add(task_id)

    async def ending(self, client: Client, task_id: str) -> str:
        """Return how a task ended. Answer it, if its answer was not acknowledged."""
        asked = list[str]()

        async def ask(question: Any) -> Any:
            asked.append(question.key)
            return ANSWER

        try:
            await client.task(task_id, ask=ask)
        except TaskCancelledError:
            return "cancelled"
        except MCPError as error:
            return str(error)
        assert not (asked and task_id in self.answered), f"{task_id} asked again after an acknowledged answer"
        return "completed"

    def check(self, task_id: str, ending: str, count: int, *, is_lasting: bool) -> None:
        """Check how a task has ended, and the number of its effects."""
        name, known = self.created[task_id], self.ended.get(task_id)
        assert ending in ({"completed", "cancelled", INTERRUPTED} if is_lasting else {UNKNOWN}), f"{name}: {ending}"
        assert known in (None, ending) or not is_lasting, f"{name} had {known}: {ending}"
        assert count <= 1 or (is_lasting and name.startswith("jobs_again")), f"{name} had {count} effects"
        assert count or "completed" not in (known, ending), f"{name} completed without its effect"


async def run(kills: int, tasks: int, folder: Path, store: str = "sqlite") -> Counter[str]:
    """Kill servers, and check how all tasks end. Return the number of each ending."""
    make_site(folder, {"jobs": jobs_kit})
    effects = Effects(folder / "effects")
    endings: Counter[str] = Counter()
    with RedisServer() if store == "redis" else nullcontext() as redis:
        more = 'store = "memory"\n' if store == "memory" else "" if redis is None else REDIS + redis.config
        async with await asyncio.start_server(effects.count, "127.0.0.1", 0) as counting:
            load = Load(counting.sockets[0].getsockname()[1])
            for kill in range(kills):
                share = -(-(tasks - len(load.created)) // (kills - kill))  # some of the former were not created
                async with server(folder, CONFIG + more) as (_, client):
                    creations = [asyncio.create_task(load.create(client, f"{kill}-{task}")) for task in range(share)]
                    await asyncio.sleep(random.uniform(0, MAX_LIFE_SECONDS))
                    if kill == kills - 1:
                        await until(lambda: bool(load.created))
                for creation in creations:
                    creation.cancel()
                await asyncio.gather(*creations, return_exceptions=True)
            async with server(folder, CONFIG + more) as (_, client):
                missing = 0 if store == "memory" else tasks - len(load.created)  # another process knows none in memory
                for task in range(missing):
                    await load.create(client, f"{kills}-{task}")
                for task_id, name in load.created.items():
                    ending = await load.ending(client, task_id)
                    load.check(task_id, ending, effects.counts[name.partition("/")[2]], is_lasting=store != "memory")
                    endings[ending] += 1
    return endings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Kill servers of tasks at random moments.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--tasks", type=int, help="four for each kill, when left out")
    parser.add_argument("--store", choices=STORES, action="append", help="all, when left out")
    chosen = parser.parse_args()
    for place in chosen.store or STORES:
        with tempfile.TemporaryDirectory() as temporary:
            counted = asyncio.run(run(chosen.kills, chosen.tasks or 4 * chosen.kills, Path(temporary), place))
        sys.stdout.write(f"{chosen.kills} kills with {place}: {dict(counted)}\n")
