"""Scenarios of a client with a server, for both lines of the SDK. Each prints its observations as JSON.

Runs in the client's environment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.lowlevel
from adapter import Adapter, Json, attempt, begun, pages  # type: ignore[import-not-found]  # of the client's environment

WAIT = 20.0
"""Seconds in which what must come has come."""
Report = list[float | str | None]


def reporter(reports: list[Report]) -> Any:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        reports.append([done, total, message])

    return progress


async def heard(events: Any, wanted: set[str]) -> list[str]:
    """Return the notifications up to the last wanted one."""
    found: list[str] = []
    with anyio.fail_after(WAIT):
        while not wanted <= set(found):
            found.append(await events.next())
    return found


async def everything(client: Adapter, plan: Json) -> Json:
    """List, page, call, fail, cancel, read, get, complete and log."""
    said: Json = {"opening": client.opening()}
    for kind in ("tools", "resources", "resource_templates", "prompts"):
        said[kind] = await pages(client, kind)
    said["calls"] = {key: await attempt(client, client.call(*call)) for key, call in plan["calls"].items()}
    said["progress"] = {}
    for key, call in plan["progress"].items():
        reports: list[Report] = []
        said["progress"][key] = reports
        await client.call(*call, reporter(reports))
    async with anyio.create_task_group() as tasks:
        await begun(client, "fixture_wait", {"label": "cancelled by the client"}, tasks)
        await client.before_cancel()
        tasks.cancel_scope.cancel()
    said["cancelled"] = "[]"
    with anyio.fail_after(WAIT):
        while said["cancelled"] == "[]":  # a connection that ends may be noticed later than a call
            said["cancelled"] = (await client.call("fixture_cancelled"))["content"][0]["text"]
    said["reads"] = {uri: await attempt(client, client.read(uri)) for uri in plan["reads"]}
    said["gets"] = {key: await attempt(client, client.prompt(*get)) for key, get in plan["gets"].items()}
    completions = plan["completions"].items()
    said["completions"] = {key: await attempt(client, client.complete(*one)) for key, one in completions}
    said["ping"] = await attempt(client, client.ping())
    said["logged"] = {}
    for level in (None, *plan["levels"]):
        if level is not None:
            await client.set_level(level)
        client.answers.logged.clear()
        await client.call(*plan["log"])
        said["logged"][str(level)] = [*client.answers.logged]
    return said


async def asked(client: Adapter, plan: Json) -> Json:
    """Make calls that ask their client. Return the outcome of each, with its questions, log messages and reports."""
    said: Json = {}
    for key, (kind, name, arguments) in plan["calls"].items():
        answers, reports = client.answers, list[Report]()
        answers.asked.clear()
        answers.logged.clear()
        if kind == "call":
            came = await attempt(client, client.call(name, arguments, reporter(reports)))
        else:
            came = await attempt(client, client.prompt(name) if kind == "prompt" else client.read(name))
        said[key] = came | {"asked": [*answers.asked], "logged": [*answers.logged], "progress": reports}
    return said


async def changes(client: Adapter, plan: Json) -> Json:
    """Follow things that a tool adds and removes, and resources while subscribed to them."""
    said: Json = {}
    uses: dict[str, Any] = {"tools": client.call, "resources": client.read, "prompts": client.prompt}
    for kind, name in plan["grow"].items():
        arguments = {"kind": kind, "names": [name]}
        async with client.watching([kind], []) as events:
            lists = [await pages(client, kind)]
            await client.call("grow", arguments)
            told = [await heard(events, {kind})]
            lists.append(await pages(client, kind))
            used = await attempt(client, uses[kind](name))
            await client.call("shrink", arguments)
            told.append(await heard(events, {kind}))
            lists.append(await pages(client, kind))
            gone = await attempt(client, uses[kind](name))
        said[kind] = {"lists": lists, "told": told, "used": used, "gone": gone}
    async with client.watching([], plan["uris"]) as events:
        await client.call("asking_change", {"what": ["other://one", *plan["uris"]]})
        said["told"] = await heard(events, set(plan["uris"]))
    async with client.watching(["tools"], []) as events:
        await client.call("asking_change", {"what": [*plan["uris"], "tools"]})
        said["afterwards"] = await heard(events, {"tools"})
    return said


def main(connect: Callable[[Json], AbstractAsyncContextManager[Adapter]]) -> None:
    """Run the scenario of the plan on the command line, and print its observations."""
    plan = json.loads(sys.argv[1])

    async def run() -> Json:
        async with connect(plan) as client:
            said: Json = await globals()[plan["scenario"]](client, plan)
        return said

    print(json.dumps(anyio.run(run)))
