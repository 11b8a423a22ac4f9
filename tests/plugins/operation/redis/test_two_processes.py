"""Two processes that share state, over HTTP: each message may reach the process that it does not belong to."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from tests.support.http import Answer, Served, http_config
from tests.support.http_mcp import Session, ask, call, message, opened, stream
from tests.support.pool import ASKING
from tests.support.redis_server import PREFIX, RedisServer, needs_redis

pytestmark = [needs_redis, pytest.mark.asyncio(loop_scope="session")]

KEY = "0123456789abcdef0123456789abcdef"
STATE = f'{ASKING}state = "redis"\nstate_keys = ["{KEY}"]'
ABLE: dict[str, Any] = {"sampling": {}}
SAY = ["notifications/message", {"level": "error", "data": "x"}]


class Two(NamedTuple):
    """Two processes on one server."""

    first: Served
    second: Served
    redis: RedisServer

    async def open(self, **options: Any) -> tuple[Session, Session]:
        """Return one session as it is used at each process. Both have used it."""
        here = await opened(self.first, **options)
        there = here.at(self.second)
        assert (await there.post(message("ping"))).status == 200
        return here, there


def serve(site: Path, server: RedisServer, host: str = STATE) -> Served:
    return Served(site, http_config(host=host, more=server.config))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(site: Path, server: RedisServer) -> AsyncIterator[Two]:
    async with serve(site, server) as first, serve(site, server) as second:
        yield Two(first, second, server)


async def notification(session: Session, method: str, params: Any) -> int:
    return (await session.post({"jsonrpc": "2.0", "method": method, "params": params})).status


def text(exchanged: Any) -> str:
    return str(exchanged["result"]["content"][0]["text"])


async def test_progress_and_an_answer_reach_the_process_that_asked(two: Two) -> None:
    here, there = await two.open(capabilities=ABLE)
    asking = await here.begin(call("asking_ask", {"progress": True}))
    token = asking.first["params"]["_meta"]["progressToken"]
    assert await notification(there, "notifications/progress", {"progressToken": token, "progress": 1}) == 202
    answer = {"jsonrpc": "2.0", "id": asking.first["id"], "result": {"model": "m"}}
    assert (await there.post(answer)).status == 202
    heard = [[1, None, None]]
    assert json.loads(text(await asking.next())) == {"answers": [{"result": {"model": "m"}, "heard": heard}]}


@pytest.mark.parametrize("request_id", [7 << 20, 2**60, -5, 1 << 20])
async def test_an_answer_with_a_forged_process_is_refused(two: Two, request_id: int) -> None:
    here, _ = await two.open(capabilities=ABLE)
    assert (await here.post({"jsonrpc": "2.0", "id": request_id, "result": {}})).refused == (400, -32600)


async def test_a_call_is_cancelled_from_another_process(two: Two) -> None:
    here, there = await two.open(capabilities=ABLE)
    running = await here.begin(call("asking_ask", {"label": "cancelled elsewhere"}, id="slow"))
    assert await notification(there, "notifications/cancelled", {"requestId": "slow"}) == 202
    assert [received["method"] async for received in running.rest()] == ["notifications/cancelled"]  # of its question
    assert "cancelled elsewhere" in text((await here.post(call("asking_ended"))).last)


async def test_a_deleted_session_is_refused_everywhere_and_does_not_come_back(two: Two) -> None:
    here, there = await two.open()
    stays = await there.begin(call("asking_tell", {"notifications": [SAY], "stay": True}))
    assert (await two.first.request("DELETE", "/mcp", here.fields())).status == 204
    assert [received.get("error", {}).get("message") async for received in stays.rest()][-1]
    while (await there.post(call("asking_keep", {"value": "a"}))).status != 404:
        pass
    for session in (here, there):
        assert (await session.post(message("ping"))).status == 404


async def test_values_of_both_processes_are_kept_and_read_at_once(two: Two) -> None:
    here, there = await two.open()
    for number in range(20):
        kept = [
            await session.post(call("asking_keep", {"value": f"{number}{session.served.port}"}))
            for session in (here, there)
        ]
        assert text(kept[1].last) == f"{number}{here.served.port}"
    put = [session.post(call("asking_put", {"key": key, "value": key})) for session, key in ((here, "a"), (there, "b"))]
    assert [exchanged.status for exchanged in await asyncio.gather(*put)] == [200, 200]
    values = [text((await here.post(call("asking_take", {"key": key}))).last) for key in "ab"]
    assert values == ["a", "b"]


async def test_the_log_level_reaches_running_calls_of_other_processes(two: Two) -> None:
    here, there = await two.open()
    telling = call("asking_tell", {"notifications": [["notifications/message", {"level": "info", "data": "x"}]]})
    assert len((await there.post(telling)).messages) == 2
    assert (await here.post(message("logging/setLevel", {"level": "error"}))).status == 200
    while len((await there.post({**telling, "id": message("x")["id"]})).messages) != 1:
        pass


async def test_a_subscription_at_one_process_gets_changes_of_the_other(two: Two) -> None:
    here, there = await two.open()
    changes = await here.listen()
    assert (await there.post(message("resources/subscribe", {"uri": "x://a"}))).status == 200
    changed: dict[str, Any] = {}
    while "uri" not in changed:  # lists are announced, too, if messages between the processes were late
        told = False
        while not told:
            await there.post(call("asking_change", {"what": ["x://b", "x://a"]}))
            told = bool(changes.line.reader._buffer)  # type: ignore[attr-defined]  # no event without a subscription
        changed = (await changes.next())["params"]
    assert changed["uri"] == "x://a"


async def test_a_change_reaches_clients_of_2026_07_28_at_other_processes(two: Two) -> None:
    request = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://c"]}})
    changes = await stream(two.first, request)
    there = await opened(two.second)
    await there.post(call("asking_change", {"what": ["x://c", "x://c", "x://d"]}))
    assert (await changes.next())["params"]["uri"] == "x://c"


async def test_a_running_call_is_resumed_at_another_process(two: Two) -> None:
    here, there = await two.open()
    running = await here.begin(call("asking_tell", {"notifications": [SAY], "stay": True}))
    last = running.events[-1].id
    running.abort()
    resumed = await there.listen(last)
    assert (await here.post(call("asking_let_go"))).status == 200
    assert [text(received) async for received in resumed.rest()] == ["told"]
    again = await there.listen(last)  # the call has ended, and its process still has the events
    assert [text(received) async for received in again.rest()] == ["told"]


async def test_a_message_that_is_not_sealed_is_ignored(two: Two) -> None:
    here, there = await two.open()
    body = json.dumps({"kind": "deleted", "session": here.id})
    place = two.redis.client.incr(f"{PREFIX}bus-place")
    two.redis.client.xadd(f"{PREFIX}bus", {"t": "mcp/sessions/", "b": body, "s": "1"}, id=f"{place}-0")
    for served in (two.first, two.second):
        await served.wait_for_stderr("it is not sealed with")
    assert [(await session.post(message("ping"))).status for session in (here, there)] == [200, 200]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux distributes connections among sockets of one port")
async def test_two_workers_share_sessions_and_questions(two: Two, site: Path) -> None:
    """Each request has a connection, which the system gives to any of the two."""
    command = (sys.executable, "-m", "pegboard", "serve", "--workers", "2")
    async with Served(site, http_config(host=STATE, more=two.redis.config), command=command) as served:
        session = await opened(served, capabilities=ABLE)
        former = "nothing"
        for number in map(str, range(20)):
            assert text((await session.post(call("asking_keep", {"value": number}))).last) == former
            former = number
            asking = await session.begin(call("asking_ask", {}))
            answer = {"jsonrpc": "2.0", "id": asking.first["id"], "result": {"model": number}}
            assert (await session.post(answer)).status == 202
            assert json.loads(text(await asking.next()))["answers"][0]["result"] == {"model": number}


async def ready(served: Served) -> Answer:
    return await served.request("GET", "/readyz")


async def test_a_change_that_was_refused_does_not_replace_a_later_one(two: Two) -> None:
    here, there = await two.open()
    two.redis.process.send_signal(signal.SIGSTOP)
    assert (await here.post(message("logging/setLevel", {"level": "error"}))).status == 503
    two.redis.process.send_signal(signal.SIGCONT)
    for _ in range(2):  # it runs what it has received, then the second command
        two.redis.client.ping()
    while (await there.post(message("logging/setLevel", {"level": "debug"}))).status != 200:
        pass
    telling = {"notifications": [["notifications/message", {"level": "info", "data": "x"}]]}
    while len((await here.post(call("asking_tell", telling))).messages) != 2:
        pass


async def test_sessions_and_outcomes_survive_the_death_of_a_process(two: Two, site: Path) -> None:
    async with serve(site, two.redis) as third:
        here = await opened(third, capabilities=ABLE)
        there = here.at(two.second)
        assert text((await here.post(call("asking_keep", {"value": "kept"}))).last) == "nothing"
        running = await here.begin(call("asking_tell", {"notifications": [SAY], "stay": True}, id="lost"))
        asking = await here.begin(call("asking_ask", {}))
        changes = await here.listen()
        assert (await here.post(message("resources/subscribe", {"uri": "x://a"}))).status == 200
        await here.post(call("asking_change", {"what": ["x://a"]}))
        assert (await changes.next())["params"]["uri"] == "x://a"
        third.process.kill()
        await third.wait()
    assert text((await there.post(call("asking_keep", {"value": "b"}))).last) == "kept"
    anew = await there.listen(changes.events[-1].id)
    kinds = [(await anew.next())["method"] for _ in range(4)]
    assert kinds[-1] == "notifications/resources/updated"
    assert len(set(kinds)) == 4
    numbers = [int(event.id.rpartition("-")[2].partition(".")[0]) for event in running.events if event.id]
    two.redis.client.delete(f"{PREFIX}process:{numbers[0]}")  # as after 15 s
    rest = await there.listen(running.events[-1].id)
    lost = [received async for received in rest.rest()][-1]
    assert (lost["id"], lost["error"]["code"]) == ("lost", -32603)
    answer = {"jsonrpc": "2.0", "id": asking.first["id"], "result": {}}
    assert (await there.post(answer)).refused == (400, -32600)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_what_a_client_has_not_read_outlives_the_process(two: Two, site: Path, number: int) -> None:
    def kept() -> set[Any]:
        return set(two.redis.client.keys(f"{PREFIX}events:*"))

    before = kept()
    async with serve(site, two.redis, f"{STATE}\ngrace_seconds = 0.1") as third:
        here = await opened(third)
        descriptors = third.descriptors()
        said = {"notifications": [SAY], "times": 3, "stay": True}
        running = await here.begin(call("asking_tell", said, id="unread"))
        running.abort()
        while third.descriptors() > descriptors:
            await ready(two.second)
        assert not kept() > before
        if number == signal.SIGKILL:
            await here.post(call("asking_let_go"))
            while not kept() > before:
                await ready(two.second)
        third.process.send_signal(number)
        await third.wait()
    last = running.events[-1].id
    assert last is not None
    two.redis.client.delete(f"{PREFIX}process:{last.rpartition('-')[2].partition('.')[0]}")  # as after 15 s
    *logs, response = [received async for received in (await here.at(two.second).listen(last)).rest()]
    assert [received["method"] for received in logs] == ["notifications/message"] * 2
    assert (response["id"], "result" in response) == ("unread", number == signal.SIGKILL)


async def test_sessions_wait_for_a_server_that_is_away(two: Two, site: Path) -> None:
    """Requests that need no session go on."""
    here, there = await two.open()
    await here.post(call("asking_keep", {"value": "before"}))
    two.redis.process.send_signal(signal.SIGSTOP)
    refused = await here.post(call("asking_keep", {"value": "lost"}))
    assert (refused.status, refused.answer.get("Retry-After")) == (503, "2")
    assert (await Session(two.first).open()).status == 503
    assert (await ask(two.first, message("tools/list"))).status == 200
    while (await ready(two.first)).status != 503:
        pass
    assert "Redis cannot be reached" in (await ready(two.first)).text
    two.redis.kill()
    two.redis.start()
    while (await ready(two.first)).status != 200 or (await ready(two.second)).status != 200:
        pass
    assert text((await there.post(call("asking_keep", {"value": "after"}))).last) == "before"
    asked = Session(two.second, capabilities=ABLE)
    await asked.open()
    asking = await asked.begin(call("asking_ask", {}))
    assert (await asked.at(two.first).post({"jsonrpc": "2.0", "id": asking.first["id"], "result": {}})).status == 202
    assert await asking.next()
