"""Recorded responses of the existing system, and each difference from it with the setting that switches it back."""

from __future__ import annotations

import json
import re
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

import pytest

from pegboard_plugins.protocols.worker.settings import WorkerConfig
from tests.plugins.protocols.worker.conftest import Engine, reference, serve, token
from tests.support.http import Served
from tools.install import ROOT

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
    recorded = {tool["name"]: tool for tool in CAPTURES["worker_tools"]["body"]}
    ours = {tool["name"]: tool for tool in (await engine.ask("GET", "tools")).body}
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


# --- differences

BACK = """
unknown_tool = "internal_error"
require_exp = false
leeway_seconds = 300
check_requirements = false
expose_internals = true
none_is_empty = true
zoneless_times = true
"""


@pytest.mark.parametrize("back", [False, True])
async def test_every_difference(site: Path, served: Served, *, back: bool) -> None:
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(serve(site, BACK)) if back else served
        engine = Engine(process, f"Bearer {token()}")
        for tool in (reference("Gone"), reference("Add", version="9")):
            unknown = await engine.ask("POST", "tools/invoke", {"tool": tool})
            assert (unknown.status, isinstance(unknown.body, str)) == ((500, True) if back else (404, False))
        now = int(time())
        claims: Any
        for claims in ({"exp": None}, {"exp": now - 100}, {"nbf": now + 100}, {"iat": now + 100}):
            reply = await engine.ask("GET", "tools", bearer=f"Bearer {token(**claims)}")
            assert reply.status == (200 if back else 401)
        needy = (await engine.invoke("NeedsAuth"))["output"]
        assert needy["value"] == ("token=" if back else None)
        assert (needy["requires_authorization"] is None) is back
        for name, missing in (("NeedsSecret", "MY_SECRET"), ("NeedsCustomAuth", "client_id")):
            needy = (await engine.invoke(name, None, context={"authorization": {"token": "tok"}}))["output"]["error"]
            assert needy["kind"] == "TOOL_RUNTIME_FATAL"
            assert (missing in needy["message"]) is not back
        done = await engine.invoke("RetOptional", {"give": False})
        assert done["output"]["value"] == ("" if back else None)
        assert (datetime.fromisoformat(done["finished_at"]).tzinfo is None) is back
        retry = (await engine.invoke("RaiseErr", {"which": "retry"}))["output"]["error"]
        message = "[TOOL_RUNTIME_RETRY] RetryableToolError during execution of tool 'raise_err': dev"
        assert retry["developer_message"] == (message if back else None)
        context = {"secrets": [{"key": "PASSWORD", "value": "pw=hunter2"}]}
        lost = (await engine.invoke("RaiseErr", {"which": "unhandled"}, context=context))["output"]["error"]
        assert ("ValueError: secret **********" in (lost["stacktrace"] or "")) is back
        assert "hunter2" not in str(lost)


async def test_the_page_has_a_row_for_each_setting() -> None:
    settings = set(WorkerConfig.model_fields) - {"secret", "path", "auth_disabled"}
    page = (ROOT / "docs" / "worker.md").read_text("utf-8")
    assert settings == set(re.findall(r"`(\w+) = [^`]+`\)? ?[^|]*\|\n", page))
