"""`subscriptions/listen` over HTTP (section 6)."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, Streaming, ask, call, message, mirrored, modern, stream
from tests.support.pool import ASKING

pytestmark = pytest.mark.asyncio(loop_scope="session")

ID = "io.modelcontextprotocol/subscriptionId"
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
LISTS = {kind: f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}


def listening(wanted: Any, *, id: Any = None) -> dict[str, Any]:
    return message("subscriptions/listen", {"notifications": wanted}, id=id)


async def change(asking: Served, *what: str) -> None:
    assert (await ask(asking, call("asking_change", {"what": list(what)}))).result["isError"] is False


async def told(streaming: Streaming, request_id: Any, many: int = 1) -> list[str]:
    """What a stream tells; all of it names the subscription, by an id of the same type."""
    found = [await streaming.next() for _ in range(many)]
    for one in found:
        given = one["params"]["_meta"][ID]
        assert (type(given), given) == (type(request_id), request_id)
    return [one["params"].get("uri", one["method"]) for one in found]


@pytest.mark.requirement("LISTEN-01", "LISTEN-02", "LISTEN-03", "LISTEN-10")
@pytest.mark.parametrize("request_id", [0, 1, "1", "", "listen:0"], ids=repr)
async def test_it_is_acknowledged_and_told_of_what_it_wants(asking: Served, request_id: Any) -> None:
    wanted = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "resourceSubscriptions": ["x://a", "x://b", "x://a"],
    }
    streaming = await stream(asking, listening(wanted, id=request_id))
    honoured = {"toolsListChanged": True, "resourceSubscriptions": ["x://a", "x://b"]}
    assert streaming.first["method"] == "notifications/subscriptions/acknowledged"
    assert streaming.first["params"] == {"_meta": {ID: request_id}, "notifications": honoured}
    await change(asking, "prompts", "resources", "x://c", "tools", "x://b", "x://b", "tools")
    assert await told(streaming, request_id, 2) == [LISTS["tools"], "x://b"]
    await change(asking, "x://a")
    assert await told(streaming, request_id) == ["x://a"]
    assert all(event.id is None and event.retry is None for event in streaming.events)


@pytest.mark.requirement("LISTEN-01", "LISTEN-04")
async def test_nothing_and_what_nobody_knows_are_acknowledged(asking: Served) -> None:
    for wanted in ({}, {"toolsListChanged": False}, {"futureThings": True, "taskIds": ["1"]}):
        streaming = await stream(asking, listening(wanted))
        assert streaming.first["params"]["notifications"] == {}
        streaming.abort()


@pytest.mark.requirement("LISTEN-02", "LISTEN-03")
async def test_several_at_once_even_of_one_id(asking: Served) -> None:
    one, other = (
        await stream(asking, listening(ALL, id=7)),
        await stream(asking, listening({"toolsListChanged": True}, id=7)),
    )
    await change(asking, "prompts", "tools")
    assert await told(one, 7, 2) == [LISTS["prompts"], LISTS["tools"]]
    assert await told(other, 7) == [LISTS["tools"]]


@pytest.mark.requirement("LISTEN-12")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": "all"},
        {"notifications": {"toolsListChanged": "yes"}},
        {"notifications": {"toolsListChanged": 1}},
        {"notifications": {"promptsListChanged": None}},
        {"notifications": {"resourceSubscriptions": "x://a"}},
        {"notifications": {"resourceSubscriptions": [5]}},
        {"notifications": {"resourceSubscriptions": {"x://a": True}}},
        {"notifications": {"resourceSubscriptions": [f"x://{n}" for n in range(1001)]}},
        {"notifications": {"resourceSubscriptions": ["x://" + "x" * 4093]}},
    ],
    ids=lambda params: repr(params)[:60],
)
async def test_what_is_not_sound_is_refused(asking: Served, params: dict[str, Any]) -> None:
    assert (await ask(asking, message("subscriptions/listen", params))).refused == (400, -32602)


async def test_it_is_a_stream_or_nothing(asking: Served) -> None:
    assert (await ask(asking, listening(ALL), Accept="application/json")).status == 406
    streaming = Streaming(await asking.connect())
    one = modern(listening(ALL))
    await streaming.begin(one, mirrored(one, Accept="text/event-stream"))
    assert streaming.first["params"]["notifications"] == ALL


@pytest.mark.requirement("LISTEN-09")
async def test_calls_say_nothing_on_it(asking: Served) -> None:
    """MUST NOT: progress and the log belong to their requests."""
    streaming = await stream(asking, listening(ALL))
    tell = [["notifications/message", {"level": "error", "data": "x"}], ["notifications/progress", {"progress": 1}]]
    meta = {"io.modelcontextprotocol/logLevel": "debug", "progressToken": "p"}
    assert len((await ask(asking, modern(call("asking_tell", {"notifications": tell}), **meta))).messages) == 3
    await change(asking, "tools")
    assert (await streaming.next())["method"] == LISTS["tools"]


@pytest.mark.requirement("LISTEN-13")
async def test_who_does_not_read_is_told_each_thing_once(asking_site: Path) -> None:
    """Bounded: however often something changes, it waits once."""
    async with Served(asking_site, http_config(host=ASKING)) as served:
        uris = [f"x://{number}/{'x' * 1000}" for number in range(1000)]
        one = modern(listening({"resourceSubscriptions": uris}))
        line = await served.connect()
        await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
        assert (await line.head()).status == 200
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a socket's
        await change(served, *uris)
        before = served.memory()
        for _ in range(10):
            await change(served, *uris)
        assert served.memory() - before < 16 * 2**20


@pytest.mark.requirement("LISTEN-13")
async def test_leaving_frees_it(asking_site: Path) -> None:
    config = http_config(host=ASKING, more="[plugins.mcp]\nmax_listening = 3")
    async with Served(asking_site, config) as served:
        streams = [await stream(served, listening(ALL)) for _ in range(3)]
        refused = await ask(served, listening(ALL))
        assert refused.refused == (503, -32603)
        assert refused.answer.get("Retry-After") == "60"
        streams.pop().abort()
        one = modern(listening(ALL))
        async with asyncio.timeout(5):
            while True:
                async with await served.connect() as line:
                    await line.ask("POST", "/mcp", mirrored(one), json.dumps(one).encode())
                    if (await line.head()).status == 200:
                        break
        await change(served, "tools")
        assert (await streams[0].next())["method"] == LISTS["tools"]
        assert "Traceback" not in served.stderr


@pytest.mark.requirement("LISTEN-05")
async def test_the_end_of_the_server_is_a_response(asking_site: Path) -> None:
    """A shutdown ends each with its response, in good time, and does not wait for them."""
    async with Served(asking_site, http_config(host=ASKING + "grace_seconds = 30\n")) as served:
        streams = [await stream(served, listening(ALL, id=request_id)) for request_id in (0, "0")]
        async with asyncio.timeout(3):
            served.signal(signal.SIGTERM)
            for streaming, request_id in zip(streams, (0, "0"), strict=True):
                ended = await streaming.next()
                assert ended["id"] == request_id
                assert ended["result"]["resultType"] == "complete"
                assert ended["result"]["_meta"][ID] == request_id
                assert await streaming.next() is None
            assert await served.wait() == 0
        assert "Traceback" not in served.stderr


async def test_a_silent_subscription_is_kept_alive(asking_site: Path) -> None:
    async with Served(asking_site, http_config("port = 0\nstream_ping_seconds = 0.1", host=ASKING)) as served:
        streaming = await stream(served, listening(ALL))
        for _ in range(2):
            assert await streaming.line.chunk() == b": ping\n\n"


async def test_a_session_has_no_subscriptions(asking: Served) -> None:
    session = Session(asking)
    await session.open()
    assert (await session.post(listening(ALL))).refused == (200, -32601)
