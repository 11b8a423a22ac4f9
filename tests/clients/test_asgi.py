"""A host as an ASGI application under real servers, alone and mounted in another application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.docs.pages import Page
from tests.support import asking_plugin, asks_kit
from tests.support.asgi_servers import HOST_SCRIPT, SERVERS, serve_command
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call, opened, stream
from tests.support.peer import WAIT
from tests.support.pool import ASKING, FIXTURE, make_site
from tests.support.sdk import run_http_client

pytestmark = [pytest.mark.timeout(600), pytest.mark.asyncio(loop_scope="module")]  # the first run makes environments

CLIENTS = [(("1", "legacy"), "/mcp"), (("2", "2026-07-28"), "/tools/mcp")]
QUIET = "stream_ping_seconds = 0.1"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SERVERS)
async def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    site = make_site(tmp_path_factory.mktemp("site"), {**FIXTURE, "asks": asks_kit}, asking_plugin)
    (site / "asgi_host.py").write_text(HOST_SCRIPT.read_text("utf-8"), "utf-8")
    command = await asyncio.to_thread(serve_command, request.param, "asgi_host:mounted")
    config = http_config(QUIET, host=ASKING)
    async with Served(site, config, command=command) as served:
        yield served
        assert "Traceback" not in served.stderr


@pytest.mark.parametrize(("client", "path"), CLIENTS, ids=str)
async def test_clients_of_both_eras_call_tools_and_are_asked(
    served: Served, client: tuple[str, str], path: str, tmp_path: Path
) -> None:
    line, mode = client
    calls = {"name": ("call", "asks_name", {"greeting": "Hi"}), "roots": ("call", "asks_at_once", {})}
    url = served.url.replace("/mcp", path)
    run = await asyncio.to_thread(run_http_client, line, "asked", url, tmp_path, mode=mode, answers=True, calls=calls)
    texts = [run.said[key]["result"]["content"][0]["text"] for key in calls]
    assert texts == ["Hi, Ann", "Ann, Paris, 2 roots"]


async def test_the_outer_application_serves_its_own_routes(served: Served) -> None:
    assert (await served.request("GET", "/hello")).json == "hello"
    assert (await served.request("GET", "/nothing")).text == "There is nothing here.\n"
    assert (await served.request("GET", "/mcp", [("Host", "evil.example")])).status == 421


async def test_a_client_that_leaves_cancels_its_stateless_call(served: Served) -> None:
    (await stream(served, call("fixture_wait", {"label": "left"}, token="p"))).abort()
    async with asyncio.timeout(WAIT):
        while "left" not in (await ask(served, call("fixture_cancelled"))).result["content"][0]["text"]:
            pass


async def test_a_client_of_a_session_resumes_the_stream_that_it_lost(served: Served) -> None:
    session = await opened(served)
    lost = await session.begin(call("fixture_wait", token="p"))
    lost.abort()
    resumed = await session.listen(lost.events[-1].id)
    await session.post(call("fixture_release"))
    assert (await resumed.next())["result"]
    assert await resumed.next() is None


@pytest.mark.parametrize("server", SERVERS)
async def test_a_server_that_ends_stops_the_host(server: str, tmp_path: Path) -> None:
    """A stream that is open does not keep the process. With hypercorn, this takes the program of docs/asgi.md."""
    site = make_site(tmp_path, FIXTURE)
    (site / "dice_app.py").write_text(f"{HOST_SCRIPT.read_text('utf-8')}app = alone\n", "utf-8")
    command = await asyncio.to_thread(serve_command, server, "dice_app:app")
    if server == "hypercorn":
        program = Page("docs/asgi.md").blocks["python serve_dice.py"]
        (site / "serve_dice.py").write_text(program.replace(":8000", ":0").replace("drain(10)", "drain(0.1)"), "utf-8")
        command[1:] = [str(site / "serve_dice.py")]
    async with Served(site, http_config(QUIET), command=command, ready=False) as served:
        served.url = (await served.wait_for_stderr(r"(?: at|Running on) (http:\S+)"))[1]
        streaming = await stream(served, call("fixture_wait", token="p"))
        served.process.terminate()
        await streaming.line.rest()
        assert await served.wait() == 0
