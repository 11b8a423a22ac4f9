"""Stores of plugins: sessions and the events of their streams outlive the server."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import asking_plugin, kept
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, call, message, opened
from tests.support.pool import ASKING, CONFIG, FIXTURE, make_site, stores
from tests.support.wire import Wire

SAID = [["notifications/message", {"level": "error", "data": "x"}], ["notifications/message", {"level": "info"}]]


@pytest.fixture(scope="session")
def kept_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("kept"), FIXTURE, asking_plugin, kept)


def serve(site: Path, folder: Path, more: str = "", **options: Any) -> Served:
    return Served(site, http_config(host=ASKING, more=stores(folder, more=more)), **options)


CLAIMS = "claims = true"


def impatient(**seconds: float) -> Sequence[str]:
    """Return a command that serves, with other intervals of claims."""
    limits = "; ".join(f"claims.{name} = {value}" for name, value in seconds.items())
    code = (
        f"import sys, pegboard.runtime.store_claim as claims; {limits}; from pegboard.cli import main; sys.exit(main())"
    )
    return sys.executable, "-c", code, "serve"


async def test_sessions_and_streams_survive_a_crash_of_the_server(kept_site: Path, tmp_path: Path) -> None:
    """Clients of sessions do not begin anew by themselves. A call that was lost is answered with an error."""
    async with serve(kept_site, tmp_path) as first:
        session, deleted = await opened(first), await opened(first)
        await session.post({**message("logging/setLevel", {"level": "error"}), "id": "level"})
        await session.post(message("resources/subscribe", {"uri": "x://a"}))
        done = await session.begin(call("asking_tell", {"notifications": SAID}))
        assert [received async for received in done.rest()]
        stay = {"notifications": SAID[:1], "stay": True}
        ids: list[int | str] = [7, "r", "r" * 400]
        lost = [await session.begin(call("asking_tell", stay, id=request_id)) for request_id in ids]
        assert (await first.request("DELETE", "/mcp", deleted.fields())).status == 204
        kept = await session.begin(call("asking_keep", {"value": "a"}, id="keep"))
        assert "result" in await kept.next()
        first.process.kill()
        await first.wait()
    async with serve(kept_site, tmp_path) as second:
        session.served = deleted.served = second
        assert (await session.post(message("tools/list"))).result["tools"]
        assert (await session.post(call("asking_keep", {"value": "b"}))).result["content"][0]["text"] == "a"
        again = await session.listen(done.events[0].id)
        assert [received.get("method") async for received in again.rest()] == ["notifications/message", None]
        assert await (await session.listen(done.events[-1].id)).next() is None
        for streaming, request_id, seen in zip(lost, ids[:2], (0, 1), strict=False):
            messages = [received async for received in (await session.listen(streaming.events[seen].id)).rest()]
            assert [received.get("method") for received in messages[:-1]] == ["notifications/message"][seen:]
            assert (messages[-1]["id"], messages[-1]["error"]["code"]) == (request_id, -32603)
        assert lost[2].events[0].id is None  # no id of an event could carry such an id
        changes = await session.listen()
        await session.post(call("asking_change", {"what": ["x://b", "x://a"]}))
        assert (await changes.next())["params"]["uri"] == "x://a"
        assert len((await session.post(call("asking_tell", {"notifications": SAID}))).messages) == 2
        assert (await deleted.post(message("ping"))).status == 404


async def test_an_answer_that_reaches_another_process_is_refused(kept_site: Path, tmp_path: Path) -> None:
    """Two processes on one store, and a process that was started again."""
    async with serve(kept_site, tmp_path) as first, serve(kept_site, tmp_path) as second:
        session = await opened(first, capabilities={"sampling": {}})
        asking = await session.begin(call("asking_ask", {}))
        answer = {"jsonrpc": "2.0", "id": asking.first["id"], "result": {"model": "m"}}
        session.served = second
        refused = await session.post(answer)
        assert refused.refused == (400, -32600)
        assert "did not send this request" in refused.last["error"]["message"]
        await second.wait_for_stderr("refused: a response to a request of another process")
        session.served = first
        assert (await session.post(answer)).status == 202
        assert (await asking.next())["result"]
        assert (await session.post(answer)).status == 202  # it is late, and was asked here
        first.process.kill()
        await first.wait()
        session.served = second
        assert (await session.post(answer)).refused == (400, -32600)
        again = await session.begin(call("asking_ask", {}))
        assert (await session.post({**answer, "id": again.first["id"]})).status == 202


async def test_a_second_process_waits_for_the_first_and_continues_its_sessions(kept_site: Path, tmp_path: Path) -> None:
    async with serve(kept_site, tmp_path, CLAIMS) as first:
        session = await opened(first)
        async with serve(kept_site, tmp_path, CLAIMS, ready=False) as second:
            await second.wait_for_stderr(
                rf"waiting up to 20 s for the SessionStore 'kept'.*: process {first.pid} on \S+ "
            )
            first.process.terminate()
            assert await first.wait() == 0
            second.url = (await second.wait_for_stderr(r"serves .* at (\S+)\n"))[1]
            session.served = second
            assert (await session.post(message("ping"))).result == {}


async def test_a_process_that_may_not_use_a_store_exits_with_3_and_names_the_owner(
    kept_site: Path, tmp_path: Path
) -> None:
    async with (
        serve(kept_site, tmp_path, CLAIMS, command=impatient(RENEWAL_SECONDS=0.05)) as first,
        serve(kept_site, tmp_path, CLAIMS, command=impatient(WAIT_SECONDS=0), ready=False) as second,
    ):
        assert await second.wait() == 3
        assert re.search(
            rf"'kept' of plugin .* cannot be opened: process {first.pid} on .* uses it: stop", second.stderr
        )
        kept.ClaimedSessions(tmp_path / "sessions").pass_to("process 1 on web-2")
        assert await first.wait() == 3
        assert "'kept' of plugin 'kept' from kept-plugin 1.0 is lost to process 1 on web-2" in first.stderr


async def test_clients_over_stdio_start_side_by_side(kept_site: Path, tmp_path: Path) -> None:
    """Desktop clients start the same configuration at once: `pegboard stdio` opens no store."""
    config = CONFIG + ASKING + stores(tmp_path, more=CLAIMS)
    first, second = (Wire(config=config, site=kept_site) for _ in range(2))
    async with serve(kept_site, tmp_path, CLAIMS), first, second:
        for wire in (first, second):
            assert (await wire.initialize())["serverInfo"]
        assert (tmp_path / "notes").read_text().count("sessions opened") == 1


async def test_a_store_has_the_secrets_of_its_plugin_and_is_closed(kept_site: Path, tmp_path: Path) -> None:
    config = http_config(host=ASKING, more=stores(tmp_path, more='secret = "KEY"'))
    async with Served(kept_site, config, env={"KEY": "open sesame"}) as served:
        assert (await Session(served).open()).status == 200
        served.process.terminate()
        assert await served.wait() == 0
    opened = [f"{kind} opened with open sesame" for kind in ("events", "sessions")]
    notes = (tmp_path / "notes").read_text().splitlines()
    assert sorted(notes) == sorted(["events closed", "sessions closed", *opened])
