"""Scenarios: what a server offers, besides what `scenarios.everything` looks at."""

from __future__ import annotations

from typing import Any

from adapter import Adapter, Json, attempt, pages  # type: ignore[import-not-found]  # of the client's environment


async def offered(client: Adapter, plan: Json) -> Json:
    """List templates, and read, get and complete what the plan says."""
    said: Json = {}
    for kind in ("resources", "resource_templates", "prompts"):
        said[kind] = await pages(client, kind)
    said["reads"] = {uri: await attempt(client, client.read(uri)) for uri in plan["reads"]}
    said["gets"] = {key: await attempt(client, client.prompt(*get)) for key, get in plan["gets"].items()}
    said["completions"] = {
        key: await attempt(client, client.complete(*one)) for key, one in plan["completions"].items()
    }
    return said


async def reported(client: Adapter, plan: Json) -> Json:
    """Call, and note the progress of each."""
    said: Json = {}
    for key, (name, arguments) in plan["calls"].items():
        reports: list[Any] = []

        async def progress(done: float, total: float | None, message: str | None, to: list[Any] = reports) -> None:
            to.append([done, total, message])

        said[key] = await client.call(name, arguments, progress) | {"progress": reports}
    return said


async def logged(client: Adapter, plan: Json) -> Json:
    """Have a tool log at each level, before and after saying which levels are wanted."""
    said: Json = {}
    for level in (None, *plan["levels"]):
        if level is not None:
            await client.set_level(level)
        client.answers.logged.clear()
        await client.call(*plan["call"])
        said[str(level)] = [*client.answers.logged]
    return said


SCENARIOS = {"offered": offered, "reported": reported, "logged": logged}
