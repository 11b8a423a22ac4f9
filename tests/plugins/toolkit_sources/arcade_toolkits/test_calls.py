"""Calls of tools of the Arcade system over MCP and the worker: tokens, secrets, grants, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins.toolkit_sources.arcade_toolkits.conftest import SECTION, TOKEN, Place, place
from tests.support.http_mcp import ask, call

pytestmark = pytest.mark.needs("compat", "worker", "http")
ENTRY = {"number": 200, "amount": 2.5, "currency": "EUR"}


async def test_a_call_receives_its_token_and_its_secret(tmp_path: Path) -> None:
    async with place(tmp_path, LEDGER_URL="", GITHUB_TOKEN=TOKEN) as here:
        result = await here.over_mcp("ledger_fetch_entry", {"number": 200})
        assert result["structuredContent"] == ENTRY
        given = {"token": "of-the-engine"}
        secrets = [{"key": "LEDGER_URL", "value": here.ledger.origin}]
        output = await here.over_worker("FetchEntry", {"number": 200}, authorization=given, secrets=secrets)
        assert output["value"] == ENTRY
        assert here.ledger.tokens == [f"Bearer {TOKEN}", "Bearer of-the-engine"]
        assert [file.name for file in here.ran.iterdir()] == ["fetch_entry"]


async def test_without_its_token_or_secret_no_function_runs(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for tool in ("ledger_fetch_entry", "ledger_show_address"):
            assert (await here.over_mcp(tool, {"number": 200} if "fetch" in tool else {}))["isError"] is True
        given = {"token": "of-the-engine"}
        refused = [
            await here.over_worker("FetchEntry", {"number": 200}, authorization=given),
            await here.over_worker("FetchEntry", {"number": 200}, secrets=[{"key": "LEDGER_URL", "value": "x"}]),
            await here.over_worker("ShowAddress", {}),
        ]
        assert all(output["error"] or output["requires_authorization"] for output in refused)
        assert [*here.ran.iterdir()] == []


@pytest.mark.parametrize("limit", ["secrets = []", 'providers = ["slack"]'])
async def test_limits_of_the_operator_apply(tmp_path: Path, limit: str) -> None:
    settings = f"{SECTION}[host.toolkits.ledger]\n{limit}\n"
    async with place(tmp_path, settings, LEDGER_URL="", GITHUB_TOKEN=TOKEN) as here:
        exchanged = await ask(here.served, call("ledger_fetch_entry"), Authorization=here.served.proof[1])
        assert exchanged.last["error"]["code"] == -32602
        assert [*here.ran.iterdir()] == []


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "status", "retry_ms"),
    [
        ("RaiseError", {"kind": "retry"}, "TOOL_RUNTIME_RETRY", None, 500),
        ("RaiseError", {"kind": "context"}, "TOOL_RUNTIME_CONTEXT_REQUIRED", None, None),
        ("RaiseError", {"kind": "fatal"}, "TOOL_RUNTIME_FATAL", 500, None),
        ("RaiseError", {"kind": "plain"}, "TOOL_RUNTIME_FATAL", None, None),
        ("RaiseError", {"kind": "upstream"}, "UPSTREAM_RUNTIME_AUTH_ERROR", 403, None),
        ("RaiseError", {"kind": "rate"}, "UPSTREAM_RUNTIME_RATE_LIMIT", 429, 60_000),
        ("RaiseError", {"kind": "other"}, "TOOL_RUNTIME_BAD_INPUT_VALUE", 400, None),
        ("FetchEntry", {"number": 404}, "UPSTREAM_RUNTIME_NOT_FOUND", 404, None),
        ("FetchEntry", {"number": 429}, "UPSTREAM_RUNTIME_RATE_LIMIT", 429, 7000),
        ("FetchEntry", {"number": 503}, "UPSTREAM_RUNTIME_SERVER_ERROR", 503, None),
    ],
)
async def test_errors_keep_kind_status_and_retry_time(
    shared: Place, tool: str, arguments: dict[str, Any], kind: str, status: int | None, retry_ms: int | None
) -> None:
    given, secrets = {"token": "t"}, [{"key": "LEDGER_URL", "value": shared.ledger.origin}]
    error = (await shared.over_worker(tool, arguments, authorization=given, secrets=secrets))["error"]
    assert (error["kind"], error["status_code"], error["retry_after_ms"]) == (kind, status, retry_ms)
    name = {"RaiseError": "ledger_raise_error", "FetchEntry": "ledger_fetch_entry"}[tool]
    result = await shared.over_mcp(name, arguments)
    facts = result["_meta"]["pegboard/error"]
    assert result["isError"] is True
    assert (facts["kind"], facts.get("statusCode"), facts.get("retryAfterMs")) == (kind, status, retry_ms)
