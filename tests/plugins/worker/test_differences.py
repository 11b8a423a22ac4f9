"""Where the existing system is at fault this one differs; each difference can be switched back, and both are tried."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

import pytest

from pegboard_plugins.worker import WorkerConfig
from tests.plugins.worker.conftest import Engine, reference, serve, token
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
PAGE = (ROOT / "docs" / "worker.md").read_text("utf-8")


@pytest.fixture(params=[False, True], ids=["ours", "as it was"])
def back(request: pytest.FixtureRequest) -> bool:
    chosen: bool = request.param
    return chosen


async def test_every_difference(site: Path, *, back: bool) -> None:
    async with serve(site, BACK if back else "") as served:
        engine = Engine(served, f"Bearer {token()}")
        for tool in (reference("Gone"), reference("Add", version="9"), reference("DemoKit_Add")):
            unknown = await engine.ask("POST", "tools/invoke", {"tool": tool})
            assert (unknown.status, isinstance(unknown.body, str)) == ((500, True) if back else (404, False))
        endless = await engine.ask("GET", "tools", bearer=f"Bearer {token(exp=None)}")
        assert endless.status == (200 if back else 401)
        wrong: Any
        for wrong in ({"exp": int(time()) - 100}, {"nbf": int(time()) + 100}, {"iat": int(time()) + 100}):
            told = await engine.ask("GET", "tools", bearer=f"Bearer {token(**wrong)}")
            assert told.status == (200 if back else 401)
        needy = (await engine.invoke("NeedsAuth"))["output"]
        assert (needy["value"], needy["requires_authorization"] is None) == (
            ("token=", True) if back else (None, False)
        )
        await what_is_missing(engine, back=back)
        done = await engine.invoke("RetOptional", {"give": False})
        assert done["output"]["value"] == ("" if back else None)
        assert (datetime.fromisoformat(done["finished_at"]).tzinfo is None) is back
        await told_to_developers(engine, back=back)


async def what_is_missing(engine: Engine, *, back: bool) -> None:
    """Secrets and metadata: the tool asks for them and fails, or the call says what is missing."""
    for name, missing in (("NeedsSecret", "MY_SECRET"), ("NeedsCustomAuth", "client_id")):
        context = {"authorization": {"token": "tok"}}
        error: Any = (await engine.invoke(name, None, context=context))["output"]["error"]
        assert error["kind"] == "TOOL_RUNTIME_FATAL"
        assert (missing in error["message"]) is not back


async def told_to_developers(engine: Engine, *, back: bool) -> None:
    """What developers wrote for each other, and the way through the code."""
    retry: Any = (await engine.invoke("RaiseErr", {"which": "retry"}))["output"]["error"]
    told = "[TOOL_RUNTIME_RETRY] RetryableToolError during execution of tool 'raise_err': dev"
    assert retry["developer_message"] == (told if back else None)
    lost: Any = (await engine.invoke("RaiseErr", {"which": "unhandled"}))["output"]["error"]
    assert ("ValueError" in (lost["stacktrace"] or "")) is back
    context = {"secrets": [{"key": "PASSWORD", "value": "pw=hunter2"}]}
    masked = await engine.invoke("RaiseErr", {"which": "unhandled"}, context=context)
    assert ("ValueError: secret **********" in str(masked)) is back
    assert "hunter2" not in str(masked)


async def test_the_page_has_them_all() -> None:
    """Every setting that switches something back has its row."""
    settings = set(WorkerConfig.model_fields) - {"secret", "path", "auth_disabled"}
    assert settings == set(re.findall(r"`(\w+) = [^`]+`\)? ?[^|]*\|\n", PAGE))
