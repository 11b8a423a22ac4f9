"""The connection of a caller who is no longer admitted ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard import Host
from pegboard.plugin import Authenticator
from pegboard.types import ANONYMOUS, Caller, Request, Response, header_fields
from tests.host.hosting import WAIT, make_host, never, plugin_of, until
from tests.host.test_hooks import SPEAKING, Peer, messages

ADA = Caller("ada", scopes=frozenset({"work"}))


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.runtime.host_contexts.CHECK_SECONDS", 0.01)


class Door(Authenticator):
    """An authenticator that gives one answer after another, and counts them."""

    policy = "mcp"

    def __init__(self, *answers: Any) -> None:
        self.answers: list[Caller | Response | Exception | None] = [ADA, *answers]
        self.asked = asyncio.Semaphore(0)

    async def authenticate(self, request: Request) -> Caller | Response:
        self.asked.release()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        while answer is None:
            await never()
        if isinstance(answer, Exception):
            raise answer
        return answer


async def serve(host: Host) -> Peer:
    """Serve a connection that its client leaves open."""
    caller = await host.for_transports.authenticate(Request("GET", "/", {}, header_fields()))
    assert isinstance(caller, Caller)
    peer = Peer()
    await host.serve(peer, messages(b"a", end=False), caller=caller._replace(resource="here"))
    return peer


@pytest.mark.parametrize(
    "answer",
    [Response(401), Caller("ben", scopes=ADA.scopes), ADA._replace(issuer="b"), Caller("ada"), RuntimeError("broken")],
    ids=["401", "another subject", "another issuer", "fewer scopes", "broken"],
)
async def test_the_connection_of_a_refused_caller_ends(answer: Any) -> None:
    async with make_host(plugins={"p": SPEAKING, "d": plugin_of(register_authenticators=[Door(answer)])}) as host:
        peer = await asyncio.wait_for(serve(host), WAIT)
    assert (peer.sent, peer.closed) == ([b"Apegboard"], True)


@pytest.mark.parametrize("answer", [ADA, Response(503), None], ids=["admitted", "cannot know", "hangs"])
async def test_another_connection_stays_open(answer: Any) -> None:
    door = Door(answer, answer, answer)
    async with make_host(plugins={"p": SPEAKING, "d": plugin_of(register_authenticators=[door])}) as host:
        serving = asyncio.create_task(serve(host))
        async with asyncio.timeout(WAIT):
            for _ in range(4):
                await door.asked.acquire()
        assert not serving.done()
        serving.cancel()


async def test_the_connection_of_a_stranger_ends_after_a_reload_with_an_authenticator() -> None:
    plugins = {"p": SPEAKING, "d": plugin_of(register_authenticators=[Door()])}
    async with make_host(plugins=plugins, disabled_plugins=["d"]) as host:
        serving = asyncio.create_task(host.serve(peer := Peer(), messages(b"a", end=False), caller=ANONYMOUS))
        await until(lambda: bool(peer.sent))
        await host.reload(config=make_host().config)
        await asyncio.wait_for(serving, WAIT)
