"""Reloads of a process that serves: by `--reload`, by `pegboard reload`, and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest

from tests.plugins.protocols.worker.conftest import SECRET, Engine, token
from tests.support.distributions import make_distribution
from tests.support.http import Line, Served, http_config
from tests.support.http_mcp import Session, ask, call, message, mirrored, modern, opened, send
from tests.support.peer import WAIT
from tests.support.pool import CONFIG, make_fixture_site
from tests.support.wire import PEGBOARD, Wire, client_environment, naming_config

CHANGED = "notifications/tools/list_changed"
SETTINGS = http_config(more='[plugins.mcp.profiles.all]\ntools = ["*"]\n[plugins.mcp]\nchange_delay_ms = 0\n')


def install(site: Path, tool: str, *, before: str = "") -> Path:
    """Install a toolkit with one tool. Return its module."""
    code = f"from pegboard import Toolkit\nkit = Toolkit('shop')\n@kit.tool\ndef {tool}() -> str:\n    'Name it.'\n"
    points = {"pegboard.toolkits": {"shop": "reloaded_shop:kit"}}
    module = "reloaded_shop.py"
    make_distribution(site, "toolkit-shop", "1.0", points, {module: f"{before}{code}    return {tool!r}\n"})
    return site / module


async def run(served: Served, site: Path, command: str) -> tuple[int | None, Any]:
    """Run a command beside a server. Return its exit code and the JSON that it prints."""
    env = client_environment(served.home, naming_config(served.cwd) | {"PYTHONPATH": str(site)})
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(PEGBOARD, command, "--json", stdout=pipe, env=env, cwd=served.cwd)
    output, _ = await asyncio.wait_for(process.communicate(), WAIT)
    return process.returncode, json.loads(output)


async def reload_command(served: Served, site: Path) -> tuple[int | None, list[str]]:
    """Run `pegboard reload`. Return its exit code and the outcomes."""
    code, (host,) = await run(served, site, "reload")
    assert host["pid"] == served.pid
    return code, [result["outcome"] for result in host["results"]]


async def served_by_all(served: Served, session: Session) -> set[str]:
    """Return the tools that the endpoint, a profile and the worker protocol list, in both eras."""
    request = modern(message("tools/list"))
    profile = await served.request("POST", "/mcp/all", mirrored(request), json.dumps(request).encode())
    answers = [(await session.post(message("tools/list"))).result, (await ask(served, request)).result]
    lists = [[tool["name"] for tool in answer["tools"]] for answer in (*answers, profile.json["result"])]
    worker = await Engine(served, f"Bearer {token()}").ask("GET", "tools")
    (served_names,) = {tuple(names) for names in lists}
    assert [f"shop_{tool['name'].lower()}" for tool in worker.body] == [*served_names]
    return set(served_names)


@pytest.mark.parametrize("watches", [True, False])
async def test_a_change_of_a_toolkit_reaches_all_clients(tmp_path: Path, watches: bool) -> None:
    """With `--reload` by itself, otherwise with `pegboard reload`. The session lives on."""
    file = install(tmp_path, "one")
    command = [str(PEGBOARD), "serve", *(["--reload"] if watches else [])]
    async with Served(tmp_path, SETTINGS, command=command, env={"ARCADE_WORKER_SECRET": SECRET}) as served:

        async def assert_applied(outcome: str, times: int = 1) -> None:
            if not watches:
                code = 0 if outcome in ("reloaded", "added", "removed") else 1
                assert await reload_command(served, tmp_path) == (code, [outcome])
            await served.wait_for_stderr(rf"(?s)(toolkit-shop 1.0: {outcome}.*){{{times}}}")

        session = await opened(served)
        listening = await session.listen()
        assert await served_by_all(served, session) == {"shop_one"}
        install(tmp_path, "two")
        if not watches:
            _, plugins = await run(served, tmp_path, "plugins")
            assert {plugin["name"]: plugin["outdated"] for plugin in plugins if plugin["outdated"]} == {
                "shop": [served.pid]
            }
        await assert_applied("reloaded")
        assert (await listening.next())["method"] == CHANGED
        assert await served_by_all(served, session) == {"shop_two"}
        file.write_text("kit = (\n")
        await assert_applied("kept: SyntaxError" if watches else "kept")
        called = await session.post(call("shop_two"))
        assert called.result["content"][0]["text"] == "two"
        shutil.rmtree(tmp_path / "toolkit_shop-1.0.dist-info")
        await assert_applied("removed")
        assert await served_by_all(served, session) == set()
        install(tmp_path, "three")
        await assert_applied("added")
        assert await served_by_all(served, session) == {"shop_three"}


async def test_a_client_over_stdio_notices_a_change(tmp_path: Path) -> None:
    """Code that prints while it is imported does not reach the client."""
    install(tmp_path, "one")
    async with Wire(arguments=["--reload"], config=CONFIG, site=tmp_path) as wire:
        await wire.initialize()
        install(tmp_path, "two", before="print('noise')\n")
        assert (await wire.receive())["method"] == CHANGED
        assert (await wire.call("shop_two"))["content"][0]["text"] == "two"
        await wire.wait_for_stderr("toolkit-shop 1.0: reloaded")


async def test_settings_that_others_can_change_are_not_applied(tmp_path: Path) -> None:
    install(tmp_path, "one")
    file = tmp_path / "pegboard/hostconfig.toml"
    file.parent.mkdir()
    served = Served(tmp_path, cwd=file.parent, env={"XDG_CONFIG_HOME": str(tmp_path), "PEGBOARD_CONFIG": ""})

    async def listed() -> list[str]:
        return [tool["name"] for tool in (await ask(served, message("tools/list"))).result["tools"]]

    async with served:
        file.write_text(http_config(host='disabled_tools = ["shop_one"]'))
        file.chmod(0o666)
        assert await reload_command(served, tmp_path) == (1, ["kept"])
        await served.wait_for_stderr("the configuration: kept: .*other users can write it")
        assert await listed() == ["shop_one"]
        file.chmod(0o600)
        assert await reload_command(served, tmp_path) == (0, ["reloaded"])
        assert await listed() == []


async def test_a_withdrawn_token_is_refused_at_the_next_request(tmp_path: Path) -> None:
    """Also on a connection whose caller was known. A call that waits is completed."""
    ann, bob = token_urlsafe(32), token_urlsafe(32)
    kept = f"[plugins.auth_token.callers.bob]\ntoken = '{bob}'\n"
    config = http_config(more=f"{kept}[plugins.auth_token.callers.ann]\ntoken = '{ann}'\n")

    async def status(line: Line, bearer: str) -> int:
        await send(line, call("fixture_nothing"), Authorization=f"Bearer {bearer}")
        return (await line.answer()).status

    async with Served(make_fixture_site(tmp_path), config) as served:
        line, waiting = [await served.connect() for _ in range(2)]
        assert [await status(line, ann) for _ in range(2)] == [200, 200]
        await send(waiting, call("fixture_wait"), Authorization=f"Bearer {ann}")
        (served.cwd / "hostconfig.toml").write_text(http_config(more=kept))
        assert await reload_command(served, tmp_path) == (0, ["reloaded"])
        assert [await status(line, bearer) for bearer in (ann, bob)] == [401, 200]
        await send(line, call("fixture_release"), Authorization=f"Bearer {bob}")
        assert (await waiting.answer()).status == 200
        assert await status(waiting, ann) == 401


async def test_changed_settings_of_the_log_are_applied_also_to_open_connections(tmp_path: Path) -> None:
    """A request is logged as text, as JSON or not. Settings that cannot be used change nothing."""
    text, as_json = "INFO pegboard.access .*: GET {} 404", '"logger":"pegboard.access".*"GET {} 404'
    changes = [
        ("access = true", "reloaded", text),
        ('access = true\nformat = "json"', "reloaded", as_json),
        ('format = "xml"', "kept", as_json),
        ('file = "/"', "kept", as_json),
        ("", "reloaded", None),
        ('access = true\nfile = "pegboard.log"', "reloaded", None),
    ]
    async with Served(tmp_path, http_config(host='log_level = "info"'), cwd=tmp_path) as served:
        line = await served.connect()
        assert (await line.request("GET", "/nothing")).status == 404
        for number, (settings, outcome, expected) in enumerate(changes):
            more = f"[plugins.logging]\n{settings}"
            (tmp_path / "hostconfig.toml").write_text(http_config(host='log_level = "info"', more=more))
            assert await reload_command(served, tmp_path) == (int(outcome == "kept"), [outcome])
            assert (await line.request("GET", f"/{number}")).status == 404
            if expected:
                await served.wait_for_stderr(expected.format(f"/{number}"))
        await line.request("GET", "/last")  # the request before it is logged now
    assert [served.stderr.count(f" GET {path} 404") for path in ("/nothing", "/4", "/5")] == [0, 0, 0]
    assert " GET /5 404" in (tmp_path / "pegboard.log").read_text()
    assert re.search('"logger":"pegboard.cli".*"plugin logging: reloaded"', served.stderr)
