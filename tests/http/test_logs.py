"""The log of `pegboard serve`: refusals at the door, the access log, JSON, and a file that may be full."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support import logs_kit
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call
from tests.support.pool import make_site
from tests.support.wire import PEGBOARD

pytestmark = pytest.mark.asyncio(loop_scope="session")

INFO = 'log_level = "info"'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("logs"), {"logs": logs_kit})


REFUSED = {
    421: ("POST", "/mcp", [("Host", "evil.example")], b"", "(Host: evil.example)"),
    403: ("POST", "/mcp", [("Origin", "http://evil.example")], b"", "(Origin: http://evil.example)"),
    404: ("GET", "/nothing", [], b"", "There is nothing here."),
    405: ("PUT", "/mcp", [], b"", ""),
    413: ("POST", "/mcp", [("Content-Length", "99999999")], b"", "The body is larger than"),
    415: ("POST", "/mcp", [("Content-Type", "text/plain")], b"{}", ""),
    400: ("POST", "/mcp", [("Content-Type", "application/json")], b"{", "The body is not valid JSON"),
    431: ("GET", "/healthz", [("X-Long", "x" * 100_000)], b"", "LineTooLong"),
}


@pytest.mark.parametrize("status", REFUSED)
async def test_a_refusal_at_the_door_is_logged_with_its_reason_and_its_peer(site: Path, status: int) -> None:
    method, path, fields, body, reason = REFUSED[status]
    async with Served(site, http_config(host=INFO)) as served:
        accept = [] if status == 431 else [("Accept", "application/json, text/event-stream")]
        assert (await served.request(method, path, [*fields, *accept], body)).status == status
        line = await served.said(rf"INFO pegboard.plugins.http \[peer=127.0.0.1\]: refused .*{status} .*\n")
    assert reason in line[0]


async def test_a_refused_token_is_logged_and_not_shown(site: Path) -> None:
    more = '[plugins.auth_token]\ntoken = { env = "TOKEN" }'
    fields = [("Authorization", "Bearer canary\x9bz"), ("Content-Type", "application/json")]
    async with Served(site, http_config(host=INFO, more=more), env={"TOKEN": "0123456789abcdef" * 3}) as served:
        assert (await served.request("POST", "/mcp", fields, b"{}")).status == 401
        await served.said(r"refused POST /mcp: 401 .*\n")
    assert "canary" not in served.stderr


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def test_the_access_log_tells_every_request_and_nothing_else_does(site: Path) -> None:
    more = '[plugins.logging]\naccess = true\nformat = "json"'
    async with Served(site, http_config(more=more)) as served:
        await ask(served, call("logs_tell", {"text": "it"}))
        await served.request("GET", "/nothing?token=canary")
        await served.request("GET", "/healthz", [("X-Long", "x" * 100_000)])
        await served.said(r'"status":400|"status":431')
    lines = [line for line in lines_of(served.stderr) if line["logger"] == "pegboard.access"]
    assert [line["message"].partition(" in ")[0].rpartition(" ")[0].rpartition(" ")[0] for line in lines][:2] == [
        "POST /mcp 200",
        "GET /nothing 404",
    ]
    assert {line["peer"] for line in lines} == {"127.0.0.1"}
    assert "trusted" in lines[0]["caller"]
    assert set(lines[0]["data"]) == {"method", "path", "status", "bytes", "duration_ms"}
    assert lines[0]["data"]["bytes"] > 100
    assert "canary" not in served.stderr


async def test_json_puts_one_object_on_each_line_of_standard_error(site: Path) -> None:
    async with Served(site, http_config(host=INFO, more='[plugins.logging]\nformat = "json"')) as served:
        await ask(served, call("logs_crash", {"text": "a\nb\x1b"}))
        await served.said("Traceback")
        await served.said('"logger":"pegboard.calls"')
    lines = lines_of(served.stderr)
    (failed,) = [line for line in lines if line["level"] == "error"]
    assert failed["data"].keys() == {"error_id", "method", "name", "kind"}
    assert failed["exception"].startswith("Traceback")
    assert failed["peer"] == "127.0.0.1"


async def test_a_log_file_is_private_and_follows_its_name(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "pegboard.log"
    more = '[plugins.logging]\nfile = "pegboard.log"\nformat = "json"'
    async with Served(site, http_config(host=INFO, more=more), cwd=tmp_path) as served:
        await ask(served, call("logs_tell", {"text": "before"}))
        file.rename(tmp_path / "pegboard.log.1")
        await ask(served, call("logs_tell", {"text": "after"}))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "it said before" in (tmp_path / "pegboard.log.1").read_text()
        assert "it said after" in {line["message"] for line in lines_of(file.read_text())}
        assert "it said" not in served.stderr


async def test_a_full_disk_stops_nothing_and_is_told_once(site: Path) -> None:
    more = '[plugins.logging]\nfile = "/dev/full"'
    async with Served(site, http_config(host=INFO, more=more)) as served:
        for _ in range(3):
            assert (await ask(served, call("logs_tell", {"text": "it"}))).result["content"][0]["text"] == "told"
    assert re.findall(r"pegboard: the log file cannot be written, .*: No space left on device\n", served.stderr) == [
        "pegboard: the log file cannot be written, and records are lost: No space left on device\n"
    ]


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ('file = "/nowhere/x.log"', "/nowhere/x.log cannot be written: No such file or directory; choose another file"),
        ('format = "xml"', "plugins.logging.format"),
    ],
)
async def test_a_log_that_cannot_be_kept_is_a_reason_not_to_start(site: Path, section: str, problem: str) -> None:
    config = http_config(more=f"[plugins.logging]\n{section}")
    async with Served(site, config, ready=False, command=(PEGBOARD, "serve")) as served:
        assert await served.wait() == 3
    assert problem in served.stderr
