"""Changes of lists and resources: notifications to sessions, and subscriptions of 2026-07-28."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from tests.protocol.conftest import Servers, Start
from tests.support.mcp_client import McpClient, McpServer, Pending, values
from tests.support.pool import ASKING
from tests.support.schemas import LEGACY, MODERN

ID = "io.modelcontextprotocol/subscriptionId"
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
TOOLS, RESOURCES, PROMPTS = (f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts"))
GROUP = "asking"


async def change(client: McpClient, *what: str) -> None:
    """Change lists and resources, by a call of no session."""
    params = {"name": "asking_change", "arguments": {"what": list(what)}}
    assert (await client.result("tools/call", params, modern=True))["isError"] is False


async def next_changes(stream: Pending, many: int = 1, request_id: Any = None) -> list[str]:
    """The next notifications; those of a subscription name it by an id of the same type."""
    notices = [await stream.next() for _ in range(many)]
    for notice in notices if request_id is not None else ():
        subscription_id = notice["params"]["_meta"][ID]
        assert (type(subscription_id), subscription_id) == (type(request_id), request_id)
    return [notice["params"].get("uri", notice["method"]) for notice in notices]


async def subscribe(client: McpClient, wanted: Any, request_id: Any = None) -> tuple[Pending, Any]:
    """Begin a subscription; return it with what the host promises."""
    subscription = await client.begin("subscriptions/listen", {"notifications": wanted}, id=request_id, modern=True)
    acknowledged = await subscription.next()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    subscription_id = acknowledged["params"]["_meta"][ID]
    assert (type(subscription_id), subscription_id) == (type(subscription.id), subscription.id)
    return subscription, acknowledged["params"]["notifications"]


@pytest.mark.requirement("LISTEN-10", "LISTEN-11", "SESS-07", "SESS-08")
async def test_a_session_is_told_of_lists_and_of_resources_that_it_subscribed_to(server: McpServer) -> None:
    client, other = await server.client(), await server.client(LEGACY[0])
    stream, others = await client.listen(), await other.listen()
    assert await client.result("resources/subscribe", {"uri": "x://a"}) == {}
    assert await other.result("resources/subscribe", {"uri": "x://b"}) == {}
    assert await other.result("resources/unsubscribe", {"uri": "x://a"}) == {}  # which it did not subscribe to
    for listener in (client,) if server.transport == "http" else (client, other):
        await change(listener, "tools", "x://b", "tools", "x://a", "prompts", "resources", "x://a")
    assert await next_changes(stream, 4) == [TOOLS, "x://a", PROMPTS, RESOURCES]
    assert await next_changes(others, 4) == [TOOLS, "x://b", PROMPTS, RESOURCES]
    assert await client.result("resources/unsubscribe", {"uri": "x://a"}) == {}
    await change(client, "x://a", *["tools"] * 500)  # many changes are one notification
    assert await next_changes(stream) == [TOOLS]
    await change(client, "prompts")
    assert await next_changes(stream) == [PROMPTS]


@pytest.mark.requirement("SEC-03")
async def test_subscriptions_of_a_session_are_validated_and_limited(servers: Servers) -> None:
    client = await (await servers.get("http", "asking")).client()
    for params in ({}, {"uri": 5}, {"uri": ""}, {"uri": "x" * 5000}, {"uri": ["x://a"]}):
        for method in ("resources/subscribe", "resources/unsubscribe"):
            assert (await client.error(method, params))["code"] == -32602
    for number in range(1000):
        assert await client.result("resources/subscribe", {"uri": f"x://{number}"}) == {}
    assert (await client.error("resources/subscribe", {"uri": "x://more"}))["code"] == -32602
    assert await client.result("resources/subscribe", {"uri": "x://7"}) == {}
    assert await client.result("resources/unsubscribe", {"uri": "x://unknown"}) == {}


@pytest.mark.requirement("LISTEN-01", "LISTEN-02", "LISTEN-03", "LISTEN-10")
async def test_a_subscription_is_told_of_what_it_requested(server: McpServer) -> None:
    for request_id in (0, "1", ""):
        client = await server.client(MODERN[-1])
        wanted = {
            "toolsListChanged": True,
            "promptsListChanged": False,
            "resourceSubscriptions": ["x://a", "x://b", "x://a"],
            "futureThings": True,
        }
        stream, promised = await subscribe(client, wanted, request_id)
        assert promised == {"toolsListChanged": True, "resourceSubscriptions": ["x://a", "x://b"]}
        await change(client, "prompts", "resources", "x://c", "tools", "x://b", "x://b", "tools")
        assert await next_changes(stream, 2, request_id) == [TOOLS, "x://b"]
        await change(client, "x://a")
        assert await next_changes(stream, 1, request_id) == ["x://a"]


@pytest.mark.requirement("LISTEN-02", "LISTEN-03", "LISTEN-04", "LISTEN-08")
async def test_subscriptions_are_independent_and_end_silently_when_cancelled(server: McpServer) -> None:
    client = await server.client(MODERN[-1])
    for wanted in ({}, {"toolsListChanged": False}, {"futureThings": True, "taskIds": ["1"]}):
        assert (await subscribe(client, wanted))[1] == {}
    first, _ = await subscribe(client, ALL, 0)
    second, _ = await subscribe(client, {"resourceSubscriptions": ["x://a"]}, "0")
    await change(client, "tools", "x://a", "x://b", "tools")
    notices = [await first.next(), await second.next()]
    assert [(message["method"], message["params"]["_meta"]) for message in notices] == [
        (TOOLS, {ID: 0}),
        ("notifications/resources/updated", {ID: "0"}),
    ]
    await first.cancel()
    await change(client, "prompts", "x://a")
    assert await next_changes(second, 1, "0") == ["x://a"]
    assert await client.settle() == []
    assert (await subscribe(client, ALL, 0))[1] == ALL  # the id is free again


@pytest.mark.requirement("LISTEN-09")
async def test_progress_and_logs_belong_to_their_calls(server: McpServer) -> None:
    client = await server.client(MODERN[-1])
    stream, _ = await subscribe(client, ALL)
    tell = [["notifications/message", {"level": "error", "data": "x"}], ["notifications/progress", {"progress": 1}]]
    meta = {"io.modelcontextprotocol/logLevel": "debug", "progressToken": "p"}
    params = {"name": "asking_tell", "arguments": {"notifications": tell}, "_meta": meta}
    reply = await client.request("tools/call", params)
    assert [notice["method"] for notice in reply.told] == ["notifications/message", "notifications/progress"]
    await change(client, "tools")
    assert await next_changes(stream) == [TOOLS]


@pytest.mark.requirement("LISTEN-12")
async def test_malformed_subscriptions_are_refused(server: McpServer) -> None:
    client = await server.shared(MODERN[-1])
    uris = [f"x://{number}" for number in range(1001)]
    wrong: list[Any] = [{}, *({"notifications": value} for value in values(None, [], "all"))]
    wrong += [{"notifications": {"toolsListChanged": is_wanted}} for is_wanted in ("yes", None)]
    for listed in ("x://a", [5], uris, ["x://" + "x" * 4093]):
        wrong.append({"notifications": {"resourceSubscriptions": listed}})
    for params in wrong:
        reply = await client.request("subscriptions/listen", params)
        assert (reply.error["code"], reply.status) in ((-32602, None), (-32602, 400)), repr(params)[:80]


@pytest.mark.requirement("LISTEN-05", "LISTEN-06", "LISTEN-07")
async def test_a_shutdown_ends_each_subscription_with_its_response(start: Start) -> None:
    """It does not wait for them, whatever the grace period."""
    async with start(site="asking", host=ASKING + "grace_seconds = 30\n") as server:
        client = await server.client(MODERN[-1])
        streams = [(await subscribe(client, ALL, request_id))[0] for request_id in (0, "0")]
        process = server.served if server.transport == "http" else server.wires[0]
        process.signal(signal.SIGTERM)
        for stream in streams:
            ended = await stream.reply()
            assert ended.message["id"] == stream.id
            assert ended.result["resultType"] == "complete"
            assert ended.result["_meta"][ID] == stream.id
        assert await process.wait() == 0
        if server.transport == "stdio":
            notices = [sent for sent in client.wire.messages if sent.get("method") == "notifications/cancelled"]
            assert sorted(repr(notice["params"]["requestId"]) for notice in notices) == ["'0'", "0"]
        assert "Traceback" not in server.stderr


@pytest.mark.requirement("LISTEN-13")
async def test_subscriptions_are_limited_and_cancelling_one_makes_room(start: Start) -> None:
    """100 for a connection over stdio, and for all clients of a server over HTTP as many as are configured."""
    async with start("[plugins.mcp]\nmax_listening = 100", site="asking", host=ASKING) as server:
        client = await server.client(MODERN[-1])
        streams = [(await subscribe(client, {"toolsListChanged": True}))[0] for _ in range(100)]
        refused = await client.request("subscriptions/listen", {"notifications": {}})
        assert (refused.error["code"], refused.status) in ((-32603, None), (-32603, 503))
        await streams.pop().cancel()
        while "error" in (await (await client.begin("subscriptions/listen", {"notifications": {}})).next()):
            pass
        await change(client, "tools")
        assert await next_changes(streams[0]) == [TOOLS]
        assert "Traceback" not in server.stderr
