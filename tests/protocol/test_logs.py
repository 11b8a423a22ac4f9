"""The log of the operator: its lines, refusals, the access log, JSON and files."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from tests.support import logs_kit
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call
from tests.support.mcp_client import McpServer
from tests.support.pool import make_site
from tests.support.schemas import MODERN

INFO = 'log_level = "info"'
FORGED = "x\n2026-01-01T00:00:00.000Z ERROR pegboard: forged\r\x1b[2J\x9b2J\u2028\u202egnp.exe"
TOOLS = [f"logs_{name}" for name in ("tell", "crash", "upstream", "warn", "end_thread", "break_finalizer", FORGED)]
LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z [A-Z]+ ([\w.]+)(?: \[[^]]*\])?: |    |pegboard: ")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("logs"), {"logs": logs_kit})


async def test_an_argument_neither_forges_a_line_nor_controls_a_terminal(transport: str, site: Path) -> None:
    async with McpServer(transport, site, host=INFO) as server:
        client = await server.client(MODERN[-1])
        for number, tool in enumerate(TOOLS):
            arguments = {"text": f"{FORGED} {number}"} | ({"status": 404} if tool == "logs_upstream" else {})
            await client.request("tools/call", {"name": tool, "arguments": arguments})
            await server.wait_for_stderr(r"forged.*NotFoundError" if FORGED in tool else rf"forged.* {number}\b")
    lines = server.stderr.split("\n")[:-1]
    assert [line for line in lines if not LINE.match(line)] == []
    assert [line for line in lines if re.match(r"2026-01-01|.* ERROR pegboard: forged$", line)] == []
    assert [char for line in lines for char in line if char in "\r\x1b\x9b\u2028\u202e"] == []


REFUSED = {
    421: ("POST", "/mcp", [("Host", "evil.example")], b"", "(Host: evil.example)"),
    403: ("POST", "/mcp", [("Origin", "http://evil.example")], b"", "(Origin: http://evil.example)"),
    413: ("POST", "/mcp", [("Content-Length", "99999999")], b"", "The body is larger than"),
    400: ("POST", "/mcp", [("Content-Type", "application/json")], b"{", "The body is not valid JSON"),
    431: ("GET", "/healthz", [("X-Long", "x" * 100_000)], b"", "LineTooLong"),
}


@pytest.mark.needs("auth")
async def test_refusals_are_logged_with_reason_and_peer_and_without_tokens(site: Path) -> None:
    async with Served(site, http_config(host=INFO)) as served:
        for status, (method, path, fields, body, reason) in REFUSED.items():
            accept = [] if status == 431 else [("Accept", "application/json, text/event-stream")]
            assert (await served.request(method, path, [*fields, *accept], body)).status == status
            line = await served.wait_for_stderr(
                rf"INFO pegboard.plugins.http \[peer=127.0.0.1\]: refused .*{status} .*\n"
            )
            assert reason in line[0]
    more = '[plugins.auth_token]\ntoken = { env = "TOKEN" }'
    canary = [("Authorization", "Bearer canary\x9bz"), ("Content-Type", "application/json")]
    async with Served(site, http_config(host=INFO, more=more), env={"TOKEN": "0123456789abcdef" * 3}) as served:
        assert (await served.request("POST", "/mcp", canary, b"{}")).status == 401
        await served.wait_for_stderr(r"refused POST /mcp: 401 .*\n")
    assert "canary" not in served.stderr


async def test_the_access_log_has_every_request_without_its_query(site: Path) -> None:
    more = '[plugins.logging]\naccess = true\nformat = "json"'
    async with Served(site, http_config(host=INFO, more=more)) as served:
        await ask(served, call("logs_tell", {"text": "a\nb\x1b"}))
        await served.request("GET", "/nothing?token=canary")
        await served.wait_for_stderr("GET /nothing 404")
    lines = [json.loads(line) for line in served.stderr.splitlines()]
    access = [line for line in lines if line["logger"] == "pegboard.access"]
    assert [" ".join(line["message"].split()[:3]) for line in access] == ["POST /mcp 200", "GET /nothing 404"]
    assert {line["peer"] for line in access} == {"127.0.0.1"}
    assert set(access[0]["data"]) == {"method", "path", "status", "bytes", "duration_ms"}
    assert "canary" not in served.stderr


async def test_a_log_file_is_private_and_may_be_rotated(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "pegboard.log"
    async with Served(
        site, http_config(host=INFO, more='[plugins.logging]\nfile = "pegboard.log"'), cwd=tmp_path
    ) as served:
        await ask(served, call("logs_tell", {"text": "before"}))
        file.rename(tmp_path / "pegboard.log.1")
        await ask(served, call("logs_tell", {"text": "after"}))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "it said before" in (tmp_path / "pegboard.log.1").read_text()
        assert "it said after" in file.read_text()
        assert "it said" not in served.stderr


async def test_a_full_disk_is_reported_once(site: Path) -> None:
    async with Served(site, http_config(host=INFO, more='[plugins.logging]\nfile = "/dev/full"')) as served:
        for _ in range(3):
            assert (await ask(served, call("logs_tell", {"text": "it"}))).result["content"][0]["text"] == "told"
    lost = "pegboard: the log file cannot be written, and records are lost: No space left on device\n"
    assert served.stderr.count(lost) == 1
