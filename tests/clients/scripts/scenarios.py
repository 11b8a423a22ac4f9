"""What a client does with a server, whichever line of the SDK it is: the scripts beside this bring the adapter.

Runs in the client's environment and prints what came of it; it judges nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import changing  # type: ignore[import-not-found]  # of the client's environment
import offers  # type: ignore[import-not-found]  # of the client's environment
from adapter import Adapter, Json, attempt, begun, pages, told_to_go_on  # type: ignore[import-not-found]  # of the client's environment


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
    await told_to_go_on()
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
    **offers.SCENARIOS,
    **changing.SCENARIOS,
}


def main(connect: Callable[[Json], AbstractAsyncContextManager[Adapter]]) -> None:
    """Run the scenario that the plan on the command line names, and print what came of it."""
    plan = json.loads(sys.argv[1])

    async def run() -> Json:
        async with connect(plan) as client:
            said: Json = await SCENARIOS[plan["scenario"]](client, plan)
        return said

    print(json.dumps(anyio.run(run)))
