"""Sessions in a store of the operator's: they outlive the server, and so does what their streams carried."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.support import kept
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, call, message
from tests.support.pool import ASKING

pytestmark = pytest.mark.asyncio(loop_scope="session")

STORES = '[plugins.mcp]\nsession_store = "kept:Sessions"\nevent_store = "kept:Events"'


@pytest.fixture
def kept_site(asking_site: Path, tmp_path: Path) -> Path:
    (asking_site / "kept.py").write_text(inspect.getsource(kept))
    return asking_site


def serve(site: Path, folder: Path) -> Served:
    config = http_config(host=ASKING, more=STORES)
    return Served(site, config, env={"KEPT": str(folder)})


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


@pytest.mark.parametrize("store", ["nowhere:Sessions", "kept:Nothing", "kept:Events", "kept:Broken"])
async def test_a_store_that_cannot_be_had_keeps_the_server_from_starting(kept_site: Path, store: str) -> None:
    config = http_config(host=ASKING, more=f'[plugins.mcp]\nsession_store = "{store}"')
    async with Served(kept_site, config, ready=False) as served:
        assert await served.wait() == 3
        assert f"session_store {store} " in served.stderr
        assert "Traceback" not in served.stderr
