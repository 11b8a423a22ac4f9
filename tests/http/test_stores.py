"""Stores that plugins offer: sessions outlive the server in them, and so does what their streams carried."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, call, message
from tests.support.pool import ASKING, add_stores, stores
from tests.support.wire import PEGBOARD, client_environment

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="session")
def kept_site(asking_site: Path) -> Path:
    return add_stores(asking_site)


def serve(site: Path, folder: Path) -> Served:
    return Served(site, http_config(host=ASKING, more=stores(folder)))


async def test_a_session_goes_on_after_the_server_was_killed(kept_site: Path, tmp_path: Path) -> None:
    """clients.md 7: no client of sessions would begin anew."""
    said = [["notifications/message", {"level": "error", "data": "x"}], ["notifications/message", {"level": "info"}]]
    async with serve(kept_site, tmp_path) as first:
        session, deleted = Session(first), Session(first)
        await session.open()
        await deleted.open()
        await session.post({**message("logging/setLevel", {"level": "error"}), "id": "level"})
        await session.post(message("resources/subscribe", {"uri": "x://a"}))
        done = await session.begin(call("asking_tell", {"notifications": said}))
        assert [one async for one in done.rest()]
        assert (await first.request("DELETE", "/mcp", deleted.fields())).status == 204
        first.process.kill()
        await first.wait()
    async with serve(kept_site, tmp_path) as second:
        session.served = deleted.served = second
        assert (await session.post(message("tools/list"))).result["tools"]
        again = await session.listen(done.events[0].id)
        assert [one.get("method") async for one in again.rest()] == ["notifications/message", None]
        streaming = await session.listen()
        await session.post(call("asking_change", {"what": ["x://b", "x://a"]}))
        assert (await streaming.next())["params"]["uri"] == "x://a"
        assert len((await session.post(call("asking_tell", {"notifications": said}))).messages) == 2
        assert (await deleted.post(message("ping"))).status == 404


@pytest.mark.parametrize(("request_id", "seen"), [(7, 0), ("r", 1), ("r" * 400, 0)], ids=["number", "text", "long"])
async def test_a_call_that_is_lost_with_the_server_is_answered_on_its_stream(
    kept_site: Path, tmp_path: Path, request_id: int | str, seen: int
) -> None:
    said = [["notifications/message", {"level": "error", "data": "x"}]]
    async with serve(kept_site, tmp_path) as first:
        session = Session(first)
        await session.open()
        lost = await session.begin(call("asking_tell", {"notifications": said, "stay": True}, id=request_id))
        answered = await session.begin(call("asking_tell", {"notifications": said}))
        assert (await answered.next())["result"]
        first.process.kill()
        await first.wait()
    async with serve(kept_site, tmp_path) as second:
        session.served = second
        if len(str(request_id)) > 300:  # no id of an event could carry it
            assert lost.events[0].id is None
            return
        found = [one async for one in (await session.listen(lost.events[seen].id)).rest()]
        assert [one.get("method") for one in found[:-1]] == ["notifications/message"][seen:]
        assert (found[-1]["id"], found[-1]["error"]["code"]) == (request_id, -32603)
        assert await (await session.listen(answered.events[-1].id)).next() is None


async def test_an_answer_that_reaches_another_process_is_refused(kept_site: Path, tmp_path: Path) -> None:
    """Two processes on one store, and a process that was started again."""
    async with serve(kept_site, tmp_path) as first, serve(kept_site, tmp_path) as second:
        session = Session(first, capabilities={"sampling": {}})
        await session.open()
        asked = await session.begin(call("asking_ask", {}))
        answer = {"jsonrpc": "2.0", "id": asked.first["id"], "result": {"model": "m"}}
        session.served = second
        refused = await session.post(answer)
        assert refused.refused == (404, -32600)
        assert "did not send this request" in refused.last["error"]["message"]
        await second.said("refused: a response to a request of another process")
        session.served = first
        assert (await session.post(answer)).status == 202
        assert (await asked.next())["result"]
        assert (await session.post(answer)).status == 202  # it is late, and was asked here
        first.process.kill()
        await first.wait()
        session.served = second
        assert (await session.post(answer)).refused == (404, -32600)
        again = await session.begin(call("asking_ask", {}))
        assert (await session.post({**answer, "id": again.first["id"]})).status == 202


async def run(site: Path, folder: Path, *words: str, more: str = "", env: dict[str, str] | None = None) -> int:
    """Run a command in a folder whose configuration selects the stores in files; returns the exit code."""
    config = folder / "hostconfig.toml"
    config.write_text(http_config(host=ASKING, more=stores(folder, more=more)))
    process = await asyncio.create_subprocess_exec(
        PEGBOARD,
        "--config",
        config,
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        env=client_environment(folder, {"PYTHONPATH": str(site), **(env or {})}),
    )
    return await process.wait()


async def test_a_store_has_its_plugin_s_secrets_and_is_closed(kept_site: Path, tmp_path: Path) -> None:
    config = http_config(host=ASKING, more=stores(tmp_path, more='secret = "KEY"'))
    async with Served(kept_site, config, env={"KEY": "open sesame"}) as served:
        assert (await Session(served).open()).status == 200
        served.process.terminate()
        assert await served.wait() == 0
    notes = (tmp_path / "notes").read_text().splitlines()
    assert sorted(notes) == [
        "events closed",
        "events opened with open sesame",
        "sessions closed",
        "sessions opened with open sesame",
    ]


@pytest.mark.parametrize("words", [["list"], ["config", "check"], ["call", "asking_reach"], ["stdio"]], ids=" ".join)
async def test_commands_that_serve_no_sessions_open_no_store(kept_site: Path, tmp_path: Path, words: list[str]) -> None:
    assert await run(kept_site, tmp_path, *words) == 0
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ({"sessions": "kepd"}, r'hostconfig\.toml:\d+: plugins\.mcp\.session_store: .*; did you mean "kept"\?'),
        ({"events": "memoy"}, r'plugins\.mcp\.event_store: .* EventStore named .*; did you mean "memory"\?'),
        (
            {"more": 'broken = "open"'},
            "SessionStore 'kept' of plugin 'kept' .* cannot be opened: OSError: no connection",
        ),
        ({"more": 'broken = "lacking"'}, "SessionStore 'kept' .* cannot be opened: .* put, get, remove"),
        ({"sessions": "kept:Sessions"}, r"plugins\.mcp\.session_store: .*'kept:Sessions'"),
    ],
)
async def test_a_store_that_cannot_be_had_keeps_the_server_from_starting(
    kept_site: Path, tmp_path: Path, sections: dict[str, str], says: str
) -> None:
    config = http_config(host=ASKING, more=stores(tmp_path, **sections))
    async with Served(kept_site, config, ready=False) as served:
        await served.said(says)
        assert await served.wait() == 3
        assert "Traceback" not in served.stderr


async def test_configuration_runs_no_code(tmp_path: Path) -> None:
    """`cProfile.main()` would run the file that the command is named like."""
    config = tmp_path / "hostconfig.toml"
    config.write_text(http_config(more='[plugins.mcp]\nsession_store = "cProfile:main"'))
    (tmp_path / "list").write_text("open('executed', 'w')")
    environment = client_environment(tmp_path, {"PEGBOARD_CONFIG": str(config)})
    process = await asyncio.create_subprocess_exec(PEGBOARD, "list", cwd=tmp_path, env=environment)
    await process.wait()
    assert not (tmp_path / "executed").exists()


async def test_the_message_says_how_a_plugin_that_is_installed_comes_to_run(kept_site: Path) -> None:
    config = http_config(host=ASKING, more='[plugins.mcp]\nsession_store = "kept"')
    async with Served(kept_site, config, ready=False) as served:
        await served.said(r"does not run: add a section \[plugins\.kept\]")
        assert await served.wait() == 3


async def test_a_safe_start_takes_the_default_store(kept_site: Path) -> None:
    config = http_config(more='[plugins.mcp]\nsession_store = "kept"')
    async with Served(kept_site, config, command=(PEGBOARD, "--safe", "serve")) as served:
        assert (await Session(served).open()).status == 200
