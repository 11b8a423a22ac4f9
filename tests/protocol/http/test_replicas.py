"""Two processes behind a proxy that takes turns: what needs no routing, and what does."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from copy import copy
from itertools import cycle
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from tests.plugins.protocols.worker.conftest import SECRET, Engine, token
from tests.support import asks_kit
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, message
from tests.support.mcp_rounds import ABLE, CAPABILITIES
from tests.support.pool import FIXTURE, make_site
from tests.support.rounds import accept

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIG = f"""
[plugins.mcp]
state_keys = ["0123456789abcdef0123456789abcdef"]
[plugins.worker]
secret = "{SECRET}"
"""


class Proxy:
    """A proxy that takes turns, except that it may keep a session at the process that opened it.

    Attributes:
        served: the proxy in the place of a process.
        learns: route by `Mcp-Session-Id`.
        used: how many requests each process has answered.
    """

    def __init__(self, *processes: Served) -> None:
        self.learns = False
        self.used = Counter[str]()
        self.served = copy(processes[0])
        self._turns = cycle(process.url.removesuffix("/mcp") for process in processes)
        self._owners: dict[str | None, str] = {}

    async def pass_on(self, request: web.BaseRequest) -> web.Response:
        """Answer a request by one of the processes."""
        owner = self._owners.get(request.headers.get("Mcp-Session-Id")) if self.learns else None
        target = owner or next(self._turns)
        self.used[target] += 1
        async with (
            aiohttp.ClientSession(skip_auto_headers=["Accept", "User-Agent"]) as client,
            client.request(
                request.method, target + request.path, headers=request.headers, data=await request.read()
            ) as answer,
        ):
            self._owners[answer.headers.get("Mcp-Session-Id")] = target
            kept = {name: value for name, value in answer.headers.items() if name in {"Content-Type", "Mcp-Session-Id"}}
            return web.Response(status=answer.status, headers=kept, body=await answer.read())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def proxy(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Proxy]:
    site, config = make_site(tmp_path_factory.mktemp("site"), {**FIXTURE, "asks": asks_kit}), http_config(more=CONFIG)
    async with Served(site, config) as first, Served(site, config) as second:
        made = Proxy(first, second)
        runner = web.ServerRunner(web.Server(made.pass_on))
        await runner.setup()
        place = web.TCPSite(runner, "127.0.0.1", 0)
        await place.start()
        made.served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield made
        await runner.cleanup()
    assert len(made.used) == 2


async def test_requests_of_2026_07_28_need_no_routing(proxy: Proxy) -> None:
    """Each round of a call may reach another process."""
    first, second = [(await ask(proxy.served, message("tools/list"))).result["tools"] for _ in range(2)]
    assert first == second != []
    request: dict[str, Any] = call("asks_name")
    request["params"]["_meta"] = {CAPABILITIES: ABLE}
    question = (await ask(proxy.served, request)).result
    (key,) = question["inputRequests"]
    request["params"] |= {"requestState": question["requestState"], "inputResponses": {key: accept(value="Ann")}}
    assert "Ann" in (await ask(proxy.served, request)).result["content"][0]["text"]


async def test_calls_of_the_worker_need_no_routing(proxy: Proxy) -> None:
    engine = Engine(proxy.served, f"Bearer {token()}")
    first, second = [(await engine.ask("GET", "tools")).body for _ in range(2)]
    assert first == second != []
    for text in ("a", "b"):
        assert (await engine.invoke("Echo", {"text": text}, toolkit="Fixture"))["output"]["value"] == text


async def test_sessions_need_a_proxy_that_routes_by_their_ids(proxy: Proxy) -> None:
    for proxy.learns in (False, True):
        session = Session(proxy.served)
        opened = await session.open()
        statuses = {opened.status, *[(await session.post(message("ping"))).status for _ in range(4)]}
        assert statuses == ({200} if proxy.learns else {200, 404})
