"""Large results, and calls that wait in a mounted server: one process keeps them, and clients ask another process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.docs.pages import Page
from tests.plugins.operation.redis.test_two_processes import STATE, Two, text
from tests.plugins.servers.upstreams.mounts import toml
from tests.support import asks_kit
from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call, message, opened
from tests.support.mcp_rounds import ABLE, CAPABILITIES
from tests.support.pool import FIXTURE, make_site
from tests.support.redis_server import PREFIX, RedisServer, needs_redis
from tests.support.wire import PEGBOARD

pytestmark = [needs_redis, pytest.mark.asyncio(loop_scope="session")]

ARGUMENTS = ["stdio", "--file", asks_kit.__file__]
FAR = toml("far", {"command": str(PEGBOARD), "args": ARGUMENTS, "revision": "2025-11-25", "prefix": False})
FAR += "[plugins.upstreams]\nfirst_list_seconds = 60\n[plugins.large_results]\n"
PAGE = Page("docs/scale.md")
LINK = "pegboard://large-results/"


def serve(site: Path, server: RedisServer, far: str = FAR) -> Served:
    host = STATE.replace('plugins = ["asking"]', 'plugins = ["rooms"]\nmax_result_bytes = 1000')
    return Served(site, http_config(host=host, more=server.config + far))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = make_site(tmp_path_factory.mktemp("site"), FIXTURE)
    make_distribution(site, "rooms", "1", {"pegboard.plugins": {"rooms": "rooms:RoomsPlugin"}}, PAGE.files)
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(site: Path, server: RedisServer) -> AsyncIterator[Two]:
    async with serve(site, server) as first, serve(site, server) as second:
        for served in (first, second):
            await ask(served, message("tools/list"))
        yield Two(first, second, server)


def end(server: RedisServer, name: str) -> None:
    """Let the process of an id count as ended, as 15 s after its death."""
    server.client.delete(f"{PREFIX}process:{name.partition('-')[0]}")


async def round_of(served: Served, former: Any = None, value: Any = None) -> Any:
    """Begin a call of the mounted server, or answer its question. Return the result."""
    params: dict[str, Any] = {"name": "asks_in_turn", "arguments": {}, "_meta": {CAPABILITIES: ABLE}}
    if former is not None:
        (key,) = former["inputRequests"]
        content = {} if value is None else {"content": {"value": value}}
        params["inputResponses"] = {key: {"action": "accept", **content}}
        params["requestState"] = former["requestState"]
    return (await ask(served, message("tools/call", params))).result


async def test_a_call_that_waits_in_a_mounted_server_is_continued_at_other_processes(two: Two) -> None:
    result = first = await round_of(two.first)
    for served, value in ((two.second, "x"), (two.first, 2), (two.second, None)):
        result = await round_of(served, result, value)
    assert text({"result": result}) == "x 2 accept"
    for served in (two.second, two.first):
        again = await round_of(served, first, "y")
        assert again["isError"]
        assert text({"result": again}) == "The call no longer waits for this answer. Start the call again."


async def test_a_call_that_waited_in_a_process_that_has_ended_must_be_started_again(two: Two, site: Path) -> None:
    stateless = FAR.replace("prefix", "stateless = true\nprefix", 1)
    async with serve(site, two.redis, stateless) as third:
        await ask(third, message("tools/list"))
        assert "own connections" not in third.stderr
        waiting = await round_of(third)
        third.process.kill()
        await third.wait()
    keys: Any = two.redis.client.keys(f"{PREFIX}process:*")
    newest = max(int(key.rpartition(b":")[2]) for key in keys)
    end(two.redis, str(newest))
    lost = await round_of(two.second, waiting, "x")
    assert (lost["isError"], text({"result": lost})) == (
        True, "The call no longer waits for this answer. Start the call again.",
    )  # fmt: skip


async def test_a_mounted_server_that_may_keep_state_is_named_at_the_start(two: Two) -> None:
    await two.first.wait_for_stderr("each process has its own connections to far: state .* set stateless = true")


def link_of(result: Any) -> str:
    link = result["content"][-1]
    assert link["type"] == "resource_link"
    return str(link["uri"])


LARGE = call("fixture_echo", {"text": "x" * 3000})


def reading(uri: str) -> dict[str, Any]:
    return message("resources/read", {"uri": uri})


async def test_a_large_result_is_read_at_another_process_in_its_session(two: Two) -> None:
    here = await opened(two.first)
    uri = link_of((await here.post(LARGE)).result)
    read = await here.at(two.second).post(reading(uri))
    assert len(read.result["contents"][0]["text"]) == 3000
    number, _, rest = uri.removeprefix(LINK).partition("-")
    forged = [f"{LINK}{other}-{rest}" for other in (0, 1, 10**30, "x", "")]
    foreign = [await (await opened(served)).post(reading(uri)) for served in (two.first, two.second)]
    unknown = [await here.at(two.second).post(reading(name)) for name in (*forged, f"{LINK}{number}-x", f"{LINK}x")]
    errors = {str({**exchanged.last["error"], "data": None}) for exchanged in (*foreign, *unknown)}
    assert len(errors) == 1
    assert "The result is no longer kept. Call the tool again." in errors.pop()


async def test_a_large_result_is_read_at_another_process_by_a_client_of_2026_07_28(two: Two, site: Path) -> None:
    async with serve(site, two.redis) as third:
        uri = link_of((await ask(third, LARGE)).result)
        read = (await ask(two.second, reading(uri))).result
        assert len(read["contents"][0]["text"]) == 3000
        third.process.kill()
        await third.wait()
    end(two.redis, uri.removeprefix(LINK))
    lost = (await ask(two.second, reading(uri))).last["error"]
    assert (lost["code"], lost["message"]) == (-32602, "The result is no longer kept. Call the tool again.")


async def test_the_example_adds_its_tools_at_run_time_in_all_processes(two: Two) -> None:
    assert (await ask(two.first, call("open_room", {"name": "attic"}))).result
    while "enter_attic" not in str((await ask(two.second, message("tools/list"))).result["tools"]):
        pass
    for served in (two.first, two.second):
        assert text((await ask(served, call("enter_attic"))).last) == "You are in the attic."
