"""`/readyz` while another transport is restarted."""

from __future__ import annotations

import asyncio

import pytest

from pegboard import Host
from pegboard.plugin import Plugin, Transport, TransportContext, hookimpl
from pegboard.runtime import supervisor
from tests.support.asgi import send
from tests.support.peer import WAIT

BEGUN, FAIL, REOPEN = "begun", "fail", "reopen"


class MortalPlugin(Plugin, Transport):
    """A transport that fails once, and opens again when the test says so."""

    name = "mortal"
    steps: dict[str, asyncio.Event]

    @hookimpl
    def register_transports(self) -> list[Transport]:
        return [self]

    async def run(self, host: TransportContext) -> None:
        if self.steps[FAIL].is_set():
            self.steps[BEGUN].set()
            await self.steps[REOPEN].wait()
        host.opened("mortal", local=True)
        await self.steps[FAIL].wait()
        if self.steps[BEGUN].is_set():
            await asyncio.Event().wait()
        raise RuntimeError("failed")


async def test_a_host_is_not_ready_until_its_transport_is_open_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "MIN_DELAY_SECONDS", 0.001)
    MortalPlugin.steps = steps = {name: asyncio.Event() for name in (BEGUN, FAIL, REOPEN)}
    opened: asyncio.Queue[str] = asyncio.Queue()
    config = {"host": {"autoload": False}, "plugins": {"http": {}, "mortal": {}}}
    async with asyncio.timeout(WAIT), Host(config, plugins={"mortal": MortalPlugin}) as host:
        host.for_transports.on_opened = lambda address, _: opened.put_nowait(address)
        running = asyncio.create_task(host.run(["mortal"]))

        async def ready() -> tuple[int, str]:
            answer = await send(host.asgi(), "GET", "/readyz").answer()
            return answer.status, answer.text

        assert await opened.get() == "mortal"
        assert await ready() == (200, "ready\n")
        steps[FAIL].set()
        await steps[BEGUN].wait()
        assert await ready() == (503, "restarting: mortal\n")
        steps[REOPEN].set()
        while await opened.get() != "mortal":
            pass
        assert await ready() == (200, "ready\n")
        running.cancel()
        await asyncio.wait((running,))
