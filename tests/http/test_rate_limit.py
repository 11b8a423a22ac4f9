"""What comes too often over HTTP is answered with an error that says when to try again, and with no other status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message

pytestmark = pytest.mark.asyncio(loop_scope="session")

RARELY = (
    "[plugins.rate_limit]\ncalls_per_minute = 0.01\nburst = 2\ncompletions_per_minute = 0.01\ncompletion_burst = 1\n"
)


@pytest.mark.requirement("TOOL-10")
async def test_what_comes_too_often_is_refused_in_both_eras(fixture_site: Path) -> None:
    async with Served(fixture_site, http_config(more=f"{RARELY}local = true\n")) as served:
        session = Session(served)
        await session.open()
        first = (await ask(served, call("fixture_echo", {"text": "x"}))).result
        second = (await session.post(call("fixture_echo", {"text": "x"}))).result
        assert (first["isError"], second["isError"]) == (False, False)
        for refused in (
            await ask(served, call("fixture_echo", {"text": "x"})),
            await session.post(call("fixture_echo", {"text": "x"})),
        ):
            assert refused.result["isError"] is True
            assert refused.result["content"][0]["text"].startswith("Too many calls of this tool. Try again in ")
            detail = refused.result["_meta"]["pegboard/error"]
            assert (detail["kind"], detail["canRetry"], detail["statusCode"]) == ("TOOL_RUNTIME_RETRY", True, 429)
            assert 0 < detail["retryAfterMs"] <= 6_000_000
        assert (await ask(served, call("fixture_add", {"a": 1, "b": 2}))).result["isError"] is False


@pytest.mark.parametrize("operator", [True, False])
async def test_callers_of_this_machine_are_not_limited(fixture_site: Path, operator: bool) -> None:
    async with Served(fixture_site, http_config(more=RARELY), operator=operator) as served:
        for _ in range(4):
            assert (await ask(served, call("fixture_echo", {"text": "x"}))).result["isError"] is False
        assert (await ask(served, message("tools/list"))).status == 200
