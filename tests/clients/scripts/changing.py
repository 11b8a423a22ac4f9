"""Scenarios: what changes while a client is connected, and connections that do not last."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
from adapter import Adapter, Events, Json, attempt, pages, told_to_go_on  # type: ignore[import-not-found]  # of the client's environment

WAIT = 20.0
"""Seconds in which what must come has come."""


async def heard(events: Events, wanted: set[str]) -> list[str]:
    """Everything until all that is wanted has been heard."""
    found: list[str] = []
    with anyio.fail_after(WAIT):
        while not wanted <= set(found):
            found.append(await events.next())
    return found


async def grown(client: Adapter, plan: Json) -> Json:
    """Have a tool add things, hear of it, list and use them; have them removed, and hear of that."""
    said: Json = {}
    for kind, (name, use) in plan["grow"].items():
        arguments = {"kind": kind, "names": [name]}
        uses: dict[str, Any] = {"tools": client.call, "resources": client.read, "prompts": client.prompt}
        async with client.watching([kind], []) as events:
            lists = [await pages(client, kind)]
            await client.call("grow", arguments)
            told = [await heard(events, {kind})]
            lists.append(await pages(client, kind))
            used = await attempt(client, uses[kind](use))
            await client.call("shrink", arguments)
            told.append(await heard(events, {kind}))
            lists.append(await pages(client, kind))
            gone = await attempt(client, uses[kind](use))
        said[kind] = {"lists": lists, "told": told, "used": used, "gone": gone}
    return said


async def subscribed(client: Adapter, plan: Json) -> Json:
    """Hear of the resources that one is subscribed to, and of no others, nor afterwards."""
    said: Json = {}
    async with client.watching([], plan["uris"]) as events:
        await client.call("asking_change", {"what": ["other://one", *plan["uris"]]})
        said["told"] = await heard(events, set(plan["uris"]))
    async with client.watching(["tools"], []) as events:
        await client.call("asking_change", {"what": [*plan["uris"], "tools"]})
        said["afterwards"] = await heard(events, {"tools"})
    return said


async def watched(client: Adapter, plan: Json) -> Json:
    """Listen, say so, and hear what others do."""
    async with client.watching(plan["kinds"], plan["uris"]) as events:
        await told_to_go_on()
        return {"told": await heard(events, {*plan["kinds"], *plan["uris"]})}


async def ended(client: Adapter, plan: Json) -> Json:
    """Listen, say so, learn how it ends, and listen again to a server that has taken the place of the first."""
    async with client.watching(plan["kinds"], []) as events:
        await told_to_go_on()
        with anyio.fail_after(WAIT):
            end = await events.end()
    async with client.watching(plan["kinds"], []) as events:
        await client.call("asking_change", {"what": plan["kinds"]})
        return {"end": end, "again": await heard(events, set(plan["kinds"]))}


async def outlived(client: Adapter, plan: Json) -> Json:
    """Listen in a session whose server is killed and started again, and go on in it as if nothing had been."""
    await client.set_level("error")
    async with client.watching([], plan["uris"]) as events:
        before = await client.call("asking_change", {"what": plan["uris"]})
        told = await heard(events, set(plan["uris"]))
        streams = client.connections.count("GET 200")
        await told_to_go_on()
        after = await client.call("fixture_echo", {"text": "after"})
        await client.open_stream()
        with anyio.fail_after(WAIT):
            await client.connections.reached("GET 200", streams + 1)
        client.answers.logged.clear()
        await client.call(*plan["log"])
        await client.call("asking_change", {"what": ["other://one", *plan["uris"]]})
        again = await heard(events, set(plan["uris"]))
    return {"before": before, "told": told, "after": after, "again": again, "logged": [*client.answers.logged]}


async def polled(client: Adapter, plan: Json) -> Json:
    """Make a call whose stream the server ends again and again, before its answer."""
    said: Json = {}

    async def call() -> None:
        said["result"] = await client.call(*plan["call"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        with anyio.fail_after(WAIT):
            await client.connections.reached("GET 200", 4)  # one of them belongs to no call
        await client.call("asking_let_go")
    return said | {"logged": [*client.answers.logged]}


async def dropped(client: Adapter, plan: Json) -> Json:
    """Begin a call and be gone after so many of its events, with what is needed to come back."""
    tokens: list[str] = []
    enough = anyio.Event()

    async def on_token(token: str) -> None:
        tokens.append(token)
        if len(tokens) == plan["events"]:
            enough.set()

    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.begin, *plan["call"], on_token)
            await enough.wait()
            while len(client.answers.logged) < plan["events"] - 1:  # the first event has no message
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    return {"session": client.connections.session_id, "token": tokens[-1], "logged": client.answers.logged}


async def resumed(client: Adapter, plan: Json) -> Json:
    """Come back for the rest of a call."""
    with anyio.fail_after(WAIT):
        came = await attempt(client, client.resume(plan["token"]))
    return came | {"logged": client.answers.logged}


async def bereft(client: Adapter, plan: Json) -> Json:
    """Have a call in flight that is lost with its server, learn of it, and go on in the session."""
    said: Json = {}
    begun = anyio.Event()

    async def on_token(token: str) -> None:
        begun.set()

    async def call() -> None:
        said["lost"] = await attempt(client, client.begin(*plan["call"], on_token))

    with anyio.fail_after(WAIT):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await begun.wait()
            await told_to_go_on()
    return said | {"after": await client.call("fixture_echo", {"text": "after"})}


SCENARIOS = {
    one.__name__: one for one in (grown, subscribed, watched, ended, outlived, polled, dropped, resumed, bereft)
}
