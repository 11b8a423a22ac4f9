"""The examples of docs/asgi.md work under real ASGI servers."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Page
from tests.support.asgi_servers import serve_command
from tests.support.environments import run
from tests.support.http import Served
from tests.support.http_mcp import ask, call

PAGE = Page("docs/asgi.md")
TOKEN = "0123456789abcdefghijklmnopqrstuvwxyz"
METADATA = "/.well-known/oauth-protected-resource/mcp"

pytestmark = pytest.mark.timeout(600)  # the first run makes an environment


async def served(app: str, folder: Path, **env: str) -> Served:
    PAGE.write(folder)
    (folder / "shop.py").write_text(PAGE.blocks["python shop.py"] + PAGE.blocks["python metadata"], "utf-8")
    command = await asyncio.to_thread(serve_command, "uvicorn", app)
    return Served(folder, "", command=command, env=env, cwd=folder)


async def test_the_host_alone_and_in_another_application_serves_its_tool(tmp_path: Path) -> None:
    for app in ("dice_app:app", "shop:app"):
        async with await served(app, tmp_path) as server:
            assert (await ask(server, call("dice_roll", {"sides": 1}))).result["structuredContent"] == 1
            orders = await server.request("GET", "/orders")
            assert (orders.status, orders.body) == ((200, b'["tea"]') if app == "shop:app" else (404, orders.body))
            assert (await server.request("GET", METADATA)).text == "There is nothing here.\n"


async def test_the_public_host_serves_callers_with_the_token_under_its_name(tmp_path: Path) -> None:
    async with await served("public_app:app", tmp_path, DOOR_TOKEN=TOKEN) as server:
        statuses = [
            (await server.request("GET", "/healthz", [("Host", "tools.example.com")])).status,
            (await ask(server, call("dice_roll"), Host="tools.example.com")).status,
            (await ask(server, call("dice_roll"), Host="tools.example.com", Authorization=f"Bearer {TOKEN}")).status,
            (await ask(server, call("dice_roll"), Host="evil.example", Authorization=f"Bearer {TOKEN}")).status,
        ]
    assert statuses == [200, 401, 200, 421]


def test_a_program_without_http_calls_a_tool(tmp_path: Path) -> None:
    PAGE.write(tmp_path)
    assert "Hello, Ada!" in run(sys.executable, "embedded.py", cwd=tmp_path)
