"""Calls of tools of the Arcade system over MCP and the worker: tokens, secrets, grants, errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from aiohttp import web

from tests.plugins.protocols.worker.conftest import SECRET, Engine, serve, token
from tests.support.arcade_site import make_arcade_site
from tests.support.http import Served
from tests.support.http_mcp import ask, call
from tests.support.loopback_server import LoopbackServer

pytestmark = pytest.mark.needs("compat", "worker", "http")
SECTION = '\n[plugins.arcade]\nnames = ["*"]\n'
TOKEN = "gho_of-the-tests"


class LedgerServer(LoopbackServer):
    """The service of the toolkit `ledger`. The number of an entry is the status of the response."""

    def __init__(self) -> None:
        self.tokens: list[str | None] = []

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/entries/{number}", self._entry)
        return application

    async def _entry(self, request: web.Request) -> web.Response:
        self.tokens.append(request.headers.get("Authorization"))
        status = int(request.match_info["number"])
        fields = {"Retry-After": "7"} if status == 429 else {}
        return web.json_response({"number": status, "amount": 2.5, "currency": "EUR"}, status=status, headers=fields)


class Place(NamedTuple):
    """A process that serves the toolkits, its service, and the folder in which its functions note that they run."""

    served: Served
    ledger: LedgerServer
    ran: Path

    async def over_mcp(self, tool: str, arguments: dict[str, Any]) -> Any:
        exchanged = await ask(self.served, call(tool, arguments), Authorization=self.served.proof[1])
        return exchanged.result

    async def over_worker(self, tool: str, inputs: dict[str, Any], *, toolkit: str = "Ledger", **context: Any) -> Any:
        answer = await Engine(self.served, f"Bearer {token()}").invoke(tool, inputs, toolkit=toolkit, context=context)
        return answer["output"]


@asynccontextmanager
async def place(tmp_path: Path, settings: str = SECTION, **env: str) -> AsyncIterator[Place]:
    site, ran = make_arcade_site(tmp_path), tmp_path / "ran"
    ran.mkdir()
    async with LedgerServer() as ledger:
        variables = {"ARCADE_WORKER_SECRET": SECRET, "LEDGER_RAN": str(ran)}
        variables |= {name: value or ledger.origin for name, value in env.items()}
        async with serve(site, settings, env=variables) as served:
            yield Place(served, ledger, ran)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with place(tmp_path_factory.mktemp("shared"), LEDGER_URL="", GITHUB_TOKEN=TOKEN) as here:
        yield here


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


@pytest.mark.asyncio(loop_scope="module")
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
