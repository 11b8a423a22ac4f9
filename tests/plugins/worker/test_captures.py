"""What the existing system was recorded to answer is answered here too, but for the differences in docs/worker.md."""

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
INVOKED = sorted(name for name in CAPTURES if name.startswith("invoke_"))


@pytest.mark.parametrize("name", INVOKED)
async def test_calls(engine: Engine, name: str) -> None:
    capture = CAPTURES[name]
    reply = await engine.ask("POST", "tools/invoke", capture["request"]["json"])
    assert reply.status == capture["status"] == 200
    assert comparable(reply.body) == comparable(capture["body"])
    assert set(reply.body["output"]) == set(capture["body"]["output"])
    assert list(reply.body) == list(capture["body"])


def comparable(response: Any) -> Any:
    """Without times, what developers wrote, and the words for what nobody expected."""
    error = response["output"]["error"]
    if error is not None:
        extra = {key: value for key, value in (error["extra"] or {}).items() if key != "error_id"}
        words = error["message"] if error["kind"] not in ("TOOL_RUNTIME_BAD_INPUT_VALUE", "TOOL_RUNTIME_FATAL") else ""
        error = {**error, "developer_message": None, "stacktrace": None, "extra": extra or None, "message": words}
    return {
        **response,
        "finished_at": "",
        "duration": isinstance(response["duration"], float),
        "output": {**response["output"], "error": error},
    }


async def test_the_prefix_of_errors_is_the_recorded_one(engine: Engine) -> None:
    for name in ("invoke_add_missing", "invoke_err_unhandled"):
        recorded = CAPTURES[name]["body"]["output"]["error"]["message"]
        told = (await engine.ask("POST", "tools/invoke", CAPTURES[name]["request"]["json"])).body["output"]["error"]
        assert told["message"].partition(": ")[0] == recorded.partition(": ")[0]


async def test_definitions(engine: Engine) -> None:
    capture = CAPTURES["worker_tools"]
    reply = await engine.ask("GET", "tools")
    assert reply.status == capture["status"]
    recorded = {one["name"]: one for one in capture["body"]}
    ours = {one["name"]: one for one in reply.body}
    both = recorded.keys() & ours.keys()
    assert len(both) == 19
    for name in both:
        assert ours[name] == recorded[name]
        assert list(ours[name]) == list(recorded[name])


async def test_health(engine: Engine) -> None:
    reply = await engine.ask("GET", "health", bearer=None)
    assert reply.status == CAPTURES["worker_health"]["status"]
    assert reply.body == {"status": "ok", "tool_count": str(len((await engine.ask("GET", "tools")).body))}
    assert reply.body.keys() == CAPTURES["worker_health"]["body"].keys()


async def test_lists_of_resources(engine: Engine) -> None:
    capture = CAPTURES["resources_list"]
    reply = await engine.ask("POST", "resources/list", capture["request"]["json"])
    assert (reply.status, reply.body.keys()) == (capture["status"], capture["body"].keys())
