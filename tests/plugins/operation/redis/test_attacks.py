"""Callers who reach for what belongs to another caller or process, and what the server of the state shows."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.plugins.operation.redis.test_two_processes import Two
from tests.support.distributions import make_distribution
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, call, message
from tests.support.pool import ASKING
from tests.support.redis_server import RedisServer, needs_redis

pytestmark = [needs_redis, pytest.mark.needs("auth"), pytest.mark.asyncio(loop_scope="session")]

STATE = f'{ASKING}state = "redis"\nstate_keys = [{{ env = "STATE_KEY" }}]'
CALLERS = "".join(f'[plugins.auth_token.callers.{name}]\ntoken = {{ env = "{name}" }}\n' for name in ("ADA", "BOB"))
ENVIRON = {name: f"{name.lower()}-{secrets.token_hex(24)}" for name in ("STATE_KEY", "ADA", "BOB", "API_KEY")}
SAY = ["notifications/message", {"level": "error", "data": "marked-data"}]
SECRET_KIT = '''
from pegboard import Context, Toolkit

kit = Toolkit("safe")


@kit.tool(requires_secrets=["API_KEY"])
async def use(context: Context, argument: str) -> str:
    """Ask with a secret at hand, and keep what the client says."""
    key = context.get_secret("API_KEY")
    answer = await context.ui.elicit(f"May {argument} use the key?", bool)
    context.session.set("answer", f"{argument} {answer.action} {key[:0]}")
    return argument
'''


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(site: Path, server: RedisServer) -> AsyncIterator[Two]:
    points = {"pegboard.toolkits": {"safe": "safe_kit:kit"}}
    make_distribution(site, "safe-kit", "1", points, {"safe_kit.py": SECRET_KIT})
    config = http_config(host=STATE, more=server.config + CALLERS)
    async with Served(site, config, env=ENVIRON) as first, Served(site, config, env=ENVIRON) as second:
        yield Two(first, second, server)


def bearer(name: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {ENVIRON[name]}")]


async def begin(served: Served, name: str) -> Session:
    session = Session(served, capabilities={"sampling": {}, "elicitation": {}}, fields=bearer(name))
    await session.open()
    return session


async def test_the_session_of_another_caller_is_unknown_at_each_process(two: Two) -> None:
    ada = await begin(two.first, "ADA")
    asking = await ada.begin(call("asking_ask", {}, id="asked"))
    answer = {"jsonrpc": "2.0", "id": asking.first["id"], "result": {"model": "forged"}}
    cancellation = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "asked"}}
    subscription, last = message("resources/subscribe", {"uri": "x://a"}), asking.events[-1].id
    for served in (two.second, two.first):
        bob = ada.at(served, bearer("BOB"))
        for request in (message("ping"), call("asking_keep", {"value": "bob"}), subscription, answer, cancellation):
            assert (await bob.post(request)).refused == (404, -32600)
        for method, fields in (("DELETE", []), ("GET", []), ("GET", [("Last-Event-ID", str(last))])):
            named = bob.fields(("Accept", "text/event-stream"), *fields)
            assert (await served.request(method, "/mcp", named)).status == 404
    bob = await begin(two.second, "BOB")
    assert (await bob.post(answer)).status == 202  # it reaches the process, which has no such question there
    there = ada.at(two.second)
    assert (await there.post({**answer, "result": {"model": "own"}})).status == 202
    assert "own" in (await asking.next())["result"]["content"][0]["text"]
    assert (await there.post(call("asking_keep", {"value": "ada"}))).last["result"]["content"][0]["text"] == "nothing"


async def test_a_session_id_that_is_not_utf_8_is_unknown(two: Two) -> None:
    ada = await begin(two.first, "ADA")
    ada.id = "\xff\xfe"
    assert (await ada.post(message("ping"))).refused == (404, -32600)


async def test_a_stream_of_another_caller_is_not_resumed_by_any_process_number(two: Two) -> None:
    ada, bob = await begin(two.first, "ADA"), await begin(two.second, "BOB")
    running = await ada.begin(call("asking_tell", {"notifications": [SAY], "stay": True}))
    place = running.events[-1].id
    assert place is not None
    stream, _, number = place.rpartition(".")
    start, _, owner = stream.rpartition("-")
    for process in (owner, "0", "1", str(int(owner) + 1), str(2**70), "x"):
        forged = await bob.listen(f"{start}-{process}.{int(number) - 1}")
        while (event := await forged.event()) is not None:
            assert json.loads(event.data)["error"]["code"] == -32603
        assert len(forged.events) == 1
    await ada.post(call("asking_let_go"))
    assert [received["result"]["content"][0]["text"] async for received in running.rest()] == ["told"]


async def test_the_server_of_the_state_sees_no_token_secret_or_argument(two: Two) -> None:
    ada = await begin(two.first, "ADA")
    there = ada.at(two.second)
    asking = await ada.begin(call("safe_use", {"argument": "marked-argument"}))
    answer = {"action": "accept", "content": {"value": True, "note": "marked-answer"}}
    assert (await there.post({"jsonrpc": "2.0", "id": asking.first["id"], "result": answer})).status == 202
    assert (await asking.next())["result"]["content"][0]["text"] == "marked-argument"
    await there.post(message("resources/subscribe", {"uri": "x://marked-resource"}))
    running = await ada.begin(call("asking_tell", {"notifications": [SAY], "stay": True, "label": "marked-argument"}))
    running.abort()
    resumed = await there.listen(running.events[0].id)
    await ada.post(call("asking_let_go"))
    assert [received async for received in resumed.rest()][-1]["result"]
    dump = two.redis.dump()
    assert len(dump) > 1000
    named = ("marked-", "asking_tell", "safe_use", "elicitation", "clientInfo", ada.revision, ada.id)
    for private in (*ENVIRON.values(), *named):
        assert private.encode() not in dump
