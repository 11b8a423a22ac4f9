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

pytestmark = pytest.mark.asyncio(loop_scope="session")

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
            await server.said(r"Unknown tool.*forged" if FORGED in tool else rf"forged.* {number}\b")
    lines = server.stderr.split("\n")[:-1]
    assert [line for line in lines if not LINE.match(line)] == []
    assert [line for line in lines if re.match(r"2026-01-01|.* ERROR pegboard: forged$", line)] == []
    assert [char for line in lines for char in line if char in "\r\x1b\x9b\u2028\u202e"] == []


async def test_a_failing_service_takes_one_line_and_each_line_names_its_request(transport: str, site: Path) -> None:
    async with McpServer(transport, site, host=INFO, operator=True) as server:
        client = await server.client(MODERN[-1])
        result = await client.call("logs_upstream", status=404, text="GET api.example/issues")
        line = (await server.said(r".*GET api.example/issues.*\n"))[0]
        assert " WARNING pegboard [" in line
        assert "rror id" not in str(result)
        assert "Traceback" not in server.stderr
        before = len(server.stderr)
        reply = await client.request("tools/call", {"name": "logs_tell", "arguments": {"text": "it"}}, id="mine")
        assert reply.text == "told"
        await server.said(r"pegboard\.calls \[request_id=mine")
        lines = [line for line in server.stderr[before:].splitlines() if "request_id=mine" in line]
    about = {LINE.match(line)[1]: re.findall(r"(\w+)=(\S+?)[] ]", line) for line in lines}  # type: ignore[index]  # all are
    assert set(about) == {"pegboard.tools.logs_tell", "logs.own", "pegboard.calls"}
    peer = "stdio" if transport == "stdio" else "127.0.0.1"
    assert all(one == [("request_id", "mine"), ("caller", "operator"), ("peer", peer)] for one in about.values())


# --- `pegboard serve`

REFUSED = {
    421: ("POST", "/mcp", [("Host", "evil.example")], b"", "(Host: evil.example)"),
    403: ("POST", "/mcp", [("Origin", "http://evil.example")], b"", "(Origin: http://evil.example)"),
    413: ("POST", "/mcp", [("Content-Length", "99999999")], b"", "The body is larger than"),
    400: ("POST", "/mcp", [("Content-Type", "application/json")], b"{", "The body is not valid JSON"),
    431: ("GET", "/healthz", [("X-Long", "x" * 100_000)], b"", "LineTooLong"),
}


async def test_refusals_are_logged_with_reason_and_peer_and_without_tokens(site: Path) -> None:
    async with Served(site, http_config(host=INFO)) as served:
        for status, (method, path, fields, body, reason) in REFUSED.items():
            accept = [] if status == 431 else [("Accept", "application/json, text/event-stream")]
            assert (await served.request(method, path, [*fields, *accept], body)).status == status
            line = await served.said(rf"INFO pegboard.plugins.http \[peer=127.0.0.1\]: refused .*{status} .*\n")
            assert reason in line[0]
    more = '[plugins.auth_token]\ntoken = { env = "TOKEN" }'
    canary = [("Authorization", "Bearer canary\x9bz"), ("Content-Type", "application/json")]
    async with Served(site, http_config(host=INFO, more=more), env={"TOKEN": "0123456789abcdef" * 3}) as served:
        assert (await served.request("POST", "/mcp", canary, b"{}")).status == 401
        await served.said(r"refused POST /mcp: 401 .*\n")
    assert "canary" not in served.stderr


async def test_the_access_log_has_every_request_without_its_query(site: Path) -> None:
    more = '[plugins.logging]\naccess = true\nformat = "json"'
    async with Served(site, http_config(host=INFO, more=more)) as served:
        await ask(served, call("logs_tell", {"text": "a\nb\x1b"}))
        await served.request("GET", "/nothing?token=canary")
        await served.said('"status":404')
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


async def test_a_full_disk_is_reported_once_and_an_invalid_log_stops_the_start(site: Path) -> None:
    async with Served(site, http_config(host=INFO, more='[plugins.logging]\nfile = "/dev/full"')) as served:
        for _ in range(3):
            assert (await ask(served, call("logs_tell", {"text": "it"}))).result["content"][0]["text"] == "told"
    lost = "pegboard: the log file cannot be written, and records are lost: No space left on device\n"
    assert served.stderr.count(lost) == 1
    nowhere = http_config(more='[plugins.logging]\nfile = "/nowhere/x.log"')
    async with Served(site, nowhere, ready=False) as served:
        assert await served.wait() == 3
    assert "/nowhere/x.log cannot be written: No such file or directory; choose another file" in served.stderr
