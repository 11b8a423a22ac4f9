"""The page about transports: its WebSocket admits the callers whom the host admits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError

from pegboard import Host
from pegboard.config import HostConfig
from tests.docs.pages import Page
from tests.host.hosting import listening
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import call, modern
from tests.support.peer import WAIT

FILES = Page("docs/transports.md").files
CODE = FILES["src/pegboard_websocket/__init__.py"]
TOKEN = "0123456789abcdef" * 4
KIT = '''
from pegboard import Context, Toolkit

kit = Toolkit("who")

@kit.tool
def am_i(context: Context) -> str:
    """Tell who calls."""
    return repr((context.caller.subject, context.caller.trusted, context.transport))
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    groups = {
        "pegboard.plugins": {"websocket": "pegboard_websocket:WebSocketPlugin"},
        "pegboard.toolkits": {"who": "who_kit:kit"},
    }
    make_distribution(tmp_path, "ws", "1", groups, {"pegboard_websocket.py": CODE, "who_kit.py": KIT})
    return tmp_path


@pytest.fixture
def websocket(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("pegboard_websocket")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(CODE, vars(module))
    return module


def test_it_breaks_no_rule(websocket: ModuleType) -> None:
    names: dict[str, Any] = {}
    exec(FILES["test_websocket.py"], names)
    assert names["TestWebSocket"].broken() == {}


async def caller_seen(url: str, *fields: tuple[str, str]) -> Any:
    """Who the host takes a client for that sends these fields; the status where it refuses."""
    async with ClientSession() as session:
        try:
            async with session.ws_connect(url, headers=dict(fields)) as connection:
                await connection.send_json(modern(call("who_am_i")))
                return json.loads((await connection.receive()).data)["result"]["content"][0]["text"]
        except WSServerHandshakeError as refused:
            return refused.status


async def test_with_an_authenticator_it_requires_a_valid_token(site: Path) -> None:
    config = FILES["hostconfig.toml"].replace("8100", "0")
    bearer = ("Authorization", f"Bearer {TOKEN}")
    async with Served(site, config, env={"ADA_TOKEN": TOKEN}, ready=False) as served:
        url = (await served.wait_for_stderr(r" at (ws://127\.0\.0\.1:\d+)\n"))[1].replace("ws:", "http:")
        for fields in ((), (("Authorization", "Bearer wrong"),), (served.proof,)):
            assert await caller_seen(url, *fields) == 401
        assert await caller_seen(url, bearer) == "('ada', False, 'websocket')"
        assert await caller_seen(url, bearer, ("Origin", "http://localhost")) == 403


async def test_without_an_authenticator_it_serves_this_machine_and_only_proof_makes_the_operator(site: Path) -> None:
    config = FILES["hostconfig.toml"].partition("[plugins.auth_token")[0]
    async with Served(site, config.replace("8100", "0"), ready=False) as served:
        url = (await served.wait_for_stderr(r" at (ws://127\.0\.0\.1:\d+)\n"))[1].replace("ws:", "http:")
        assert await caller_seen(url) == "(None, False, 'websocket')"
        assert await caller_seen(url, served.proof) == "(None, True, 'websocket')"
        assert "; third-party plugins: websocket of ws 1 (connects clients)\n" in served.stderr
        assert "curl" not in served.stderr
    beyond = config.replace("8100", '0\nhost = "0.0.0.0"') + "[plugins.mcp]\nhttp = false\n"
    async with Served(site, beyond, ready=False) as served:
        assert await served.wait() == 3
        assert "no authenticator is configured for" in served.stderr


@pytest.mark.needs("auth")
async def test_a_connection_ends_after_a_reload_without_its_token(
    websocket: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.runtime.host_contexts.CHECK_SECONDS", 0.01)

    def config(*names: str) -> HostConfig:
        callers = {name: {"token": f"{name}{TOKEN}"} for name in names}
        host = {"autoload": False, "disabled_toolkits": ["*"], "secret_stores": []}
        return Host({"host": host, "plugins": {"websocket": {"port": 0}, "auth_token": {"callers": callers}}}).config

    host = Host(config("ada", "ben"), plugins={"websocket": websocket.WebSocketPlugin})
    async with listening(host, "websocket") as port, ClientSession() as session:
        ada, ben = [
            await session.ws_connect(f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {name}{TOKEN}"})
            for name in ("ada", "ben")
        ]
        await host.reload(config=config("ben"))
        assert (await ada.receive(WAIT)).type is WSMsgType.CLOSE
        await ben.send_json(modern(call("none")))
        assert "error" in (await ben.receive(WAIT)).data
