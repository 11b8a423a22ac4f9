"""Recorded responses of the existing system are returned here too, but for the differences in docs/worker.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.worker.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="session")

CAPTURES = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (Path(__file__).parent / "captures").glob("*.json")
}
OTHER_WORDS = ("TOOL_RUNTIME_BAD_INPUT_VALUE", "TOOL_RUNTIME_FATAL")
"""Kinds of errors whose messages differ after their prefix."""


@pytest.mark.parametrize("name", sorted(name for name in CAPTURES if name.startswith("invoke_")))
async def test_calls(engine: Engine, name: str) -> None:
    recorded = CAPTURES[name]["body"]
    reply = await engine.ask("POST", "tools/invoke", CAPTURES[name]["request"]["json"])
    assert reply.status == CAPTURES[name]["status"] == 200
    assert comparable(reply.body) == comparable(recorded)
    assert (list(reply.body), set(reply.body["output"])) == (list(recorded), set(recorded["output"]))


def comparable(response: Any) -> Any:
    """Return a response without times, and without details of errors for developers."""
    error = response["output"]["error"]
    if error is not None:
        extra = {key: value for key, value in (error["extra"] or {}).items() if key != "error_id"}
        words = error["message"].partition(": ")[0] if error["kind"] in OTHER_WORDS else error["message"]
        error = {**error, "developer_message": None, "stacktrace": None, "extra": extra or None, "message": words}
    times = {"finished_at": "", "duration": isinstance(response["duration"], float)}
    return {**response, **times, "output": {**response["output"], "error": error}}


async def test_definitions(engine: Engine) -> None:
    recorded = {one["name"]: one for one in CAPTURES["worker_tools"]["body"]}
    ours = {one["name"]: one for one in (await engine.ask("GET", "tools")).body}
    both = sorted(recorded.keys() & ours.keys())
    assert len(both) == 19
    assert [ours[name] for name in both] == [recorded[name] for name in both]
    assert [list(ours[name]) for name in both] == [list(recorded[name]) for name in both]


async def test_health_and_resources(engine: Engine) -> None:
    health = await engine.ask("GET", "health", bearer=None)
    assert health.body == {"status": "ok", "tool_count": str(len((await engine.ask("GET", "tools")).body))}
    assert health.body.keys() == CAPTURES["worker_health"]["body"].keys()
    capture = CAPTURES["resources_list"]
    reply = await engine.ask("POST", "resources/list", capture["request"]["json"])
    assert (reply.status, reply.body.keys()) == (capture["status"], capture["body"].keys())
