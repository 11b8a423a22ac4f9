"""What a client does with a server, whichever line of the SDK it is: the scripts beside this bring the adapter.

Runs in the client's environment and prints what came of it; it judges nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
import anyio.to_thread

Json = dict[str, Any]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class Adapter(Protocol):
    """One connected client. Everything it returns has the names of the wire.

    Attributes:
        answers: what it answers when it is asked (`answers.py`).
    """

    answers: Any

    def opening(self) -> Json:
        """What the client learnt of the server when it connected."""

    async def list(self, kind: str, cursor: str | None) -> Json:
        """A page of "tools", "resources" or "prompts"."""

    async def call(self, name: str, arguments: Json | None = None, progress: Progress | None = None) -> Json:
        """Call a tool."""

    async def read(self, uri: str) -> Json:
        """Read a resource."""

    async def prompt(self, name: str) -> Json:
        """Get a prompt."""

    async def ping(self) -> Json:
        """Ping the server."""

    async def before_cancel(self) -> None:
        """Tell the server that the call begun last is cancelled, where the SDK does not do so by itself."""

    def error(self, error: Exception) -> Json | None:
        """The JSON-RPC error in an exception of the SDK, None where it is something else."""


async def pages(client: Adapter, kind: str) -> list[Json]:
    """All pages of a list."""
    found = [await client.list(kind, None)]
    while cursor := found[-1].get("nextCursor"):
        found.append(await client.list(kind, cursor))
    return found


async def attempt(client: Adapter, what: Awaitable[Json]) -> Json:
    """A result, or the error that the server answered with."""
    try:
        return {"result": await what}
    except Exception as error:
        told = client.error(error)
        if told is None:
            raise
        return {"error": told}


async def begun(client: Adapter, name: str, arguments: Json, tasks: anyio.abc.TaskGroup) -> None:
    """Begin a call, and return when the tool says that it has begun."""
    started = anyio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    tasks.start_soon(client.call, name, arguments, progress)
    with anyio.fail_after(10):
        await started.wait()


async def everything(client: Adapter, plan: Json) -> Json:
    """List, page, call, fail, follow progress, cancel, read, get."""
    said: Json = {"opening": client.opening()}
    for kind in ("tools", "resources", "prompts"):
        said[kind] = await pages(client, kind)
    calls = {key: (name, arguments) for key, (name, arguments) in plan["calls"].items()}
    said["calls"] = {key: await attempt(client, client.call(*call)) for key, call in calls.items()}
    said["progress"] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        said["progress"].append([progress, total, message])

    said["counted"] = await client.call("fixture_count", {"to": 3, "say": "one more"}, progress)
    async with anyio.create_task_group() as tasks:
        await begun(client, "fixture_wait", {"label": "cancelled by the client"}, tasks)
        await client.before_cancel()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(10):
        said["cancelled"] = await client.call("fixture_cancelled")
        while (
            said["cancelled"]["content"][0]["text"] == "[]"
        ):  # a connection that ends may be noticed later than a call
            said["cancelled"] = await client.call("fixture_cancelled")
    said["reads"] = {uri: await attempt(client, client.read(uri)) for uri in plan["uris"]}
    said["gets"] = {name: await attempt(client, client.prompt(name)) for name in plan["names"]}
    said["ping"] = await attempt(client, client.ping())
    return said


async def abandon(client: Adapter, plan: Json) -> Json:
    """Leave while a call is running."""
    async with anyio.create_task_group() as tasks:
        await begun(client, plan["tool"], {}, tasks)
        tasks.cancel_scope.cancel()
    return {"left": True}


async def at_once(client: Adapter, plan: Json) -> Json:
    """Many calls at the same time."""
    texts: dict[int, str] = {}

    async def one(number: int) -> None:
        result = await client.call("fixture_echo", {"text": str(number)})
        texts[number] = result["content"][0]["text"]

    async with anyio.create_task_group() as tasks:
        for number in range(plan["count"]):
            tasks.start_soon(one, number)
    return {"texts": [texts[number] for number in sorted(texts)]}


async def restarted(client: Adapter, plan: Json) -> Json:
    """Call, say so, and call again when told to: the server may have been restarted by then."""
    before = await client.call("fixture_echo", {"text": "before"})
    print("called", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
    return {"before": before, "after": await attempt(client, client.call("fixture_echo", {"text": "after"}))}


async def asked(client: Adapter, plan: Json) -> Json:
    """Call, get and read what asks; for each what came of it, and what was asked, logged and reported for it."""
    said: Json = {}
    for key, (kind, name, arguments) in plan["calls"].items():
        client.answers.asked.clear()
        client.answers.logged.clear()
        reports: list[Any] = []

        async def progress(done: float, total: float | None, message: str | None, to: list[Any] = reports) -> None:
            to.append([done, total, message])

        if kind == "call":
            came = await attempt(client, client.call(name, arguments, progress))
        else:
            came = await attempt(client, client.prompt(name) if kind == "prompt" else client.read(name))
        answers = client.answers
        said[key] = came | {"asked": [*answers.asked], "logged": [*answers.logged], "progress": reports}
    return said


async def asked_at_once(client: Adapter, plan: Json) -> Json:
    """Many calls that ask, at the same time."""
    texts: dict[int, str] = {}

    async def one(number: int) -> None:
        result = await client.call("asks_name", {"greeting": str(number)})
        texts[number] = result["content"][0]["text"]

    async with anyio.create_task_group() as tasks:
        for number in range(plan["count"]):
            tasks.start_soon(one, number)
    return {"texts": [texts[number] for number in sorted(texts)], "asked": len(client.answers.asked)}


SCENARIOS = {
    "everything": everything,
    "abandon": abandon,
    "at_once": at_once,
    "restarted": restarted,
    "asked": asked,
    "asked_at_once": asked_at_once,
}


def main(connect: Callable[[Json], AbstractAsyncContextManager[Adapter]]) -> None:
    """Run the scenario that the plan on the command line names, and print what came of it."""
    plan = json.loads(sys.argv[1])

    async def run() -> Json:
        async with connect(plan) as client:
            said: Json = await SCENARIOS[plan["scenario"]](client, plan)
        return said

    print(json.dumps(anyio.run(run)))
