"""Each difference from the existing system, and the setting that switches it back."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

import pytest

from pegboard_plugins.worker import WorkerConfig
from tests.plugins.worker.conftest import Engine, reference, serve, token
from tests.support.http import Served
from tools.install import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="session")

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
        told = "[TOOL_RUNTIME_RETRY] RetryableToolError during execution of tool 'raise_err': dev"
        assert retry["developer_message"] == (told if back else None)
        context = {"secrets": [{"key": "PASSWORD", "value": "pw=hunter2"}]}
        lost = (await engine.invoke("RaiseErr", {"which": "unhandled"}, context=context))["output"]["error"]
        assert ("ValueError: secret **********" in (lost["stacktrace"] or "")) is back
        assert "hunter2" not in str(lost)


async def test_the_page_has_a_row_for_each_setting() -> None:
    settings = set(WorkerConfig.model_fields) - {"secret", "path", "auth_disabled"}
    page = (ROOT / "docs" / "worker.md").read_text("utf-8")
    assert settings == set(re.findall(r"`(\w+) = [^`]+`\)? ?[^|]*\|\n", page))
