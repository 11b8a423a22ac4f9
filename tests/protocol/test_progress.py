"""Progress and cancellation. The recorder checks that progress increases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.conftest import Start
from tests.support.hostile_kit import ODD_VALUES
from tests.support.mcp_client import McpClient, McpServer, Reply, until, until_cancelled


async def called(client: McpClient, tool: str, token: Any = "token", **arguments: Any) -> Reply:
    meta = {} if token is None else {"progressToken": token}
    return await client.request("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})


async def progress(client: McpClient, tool: str, token: Any = "token", **arguments: Any) -> list[dict[str, Any]]:
    """The parameters of the notifications before the response; none comes after it."""
    reply = await called(client, f"fixture_{tool}", token, **arguments)
    assert reply.result["isError"] is False
    assert await client.settle() == []
    return [notice["params"] for notice in reply.told]


@pytest.mark.requirement("HTTP-10", "HTTP-11", "HTTP-15", "HTTP-24", "UTIL-10", "UTIL-11", "UTIL-12", "UTIL-13")
async def test_progress_comes_before_the_response_under_the_token_of_the_request(client: McpClient) -> None:
    """0 and "" are tokens like any other."""
    for token in ("token", "", 0, 2**53, "ünï"):
        heard = await progress(client, "count", token)
        assert [(report["progress"], report["total"]) for report in heard] == [(1, 3), (2, 3), (3, 3)]
        assert all((report["progressToken"], type(report["progressToken"])) == (token, type(token)) for report in heard)
    assert [report["progress"] for report in await progress(client, "count_sync")] == [0.5, 1, 1.5]
    assert [report["progress"] for report in await progress(client, "stumble")] == [1, 2]  # it stood and went back
    message = (await progress(client, "count", to=1, say="a\nb\r\nc\rd\u2028e\x85"))[0]["message"]
    assert message == "a\nb\r\nc\rd\u2028e\x85"
    assert await progress(client, "count", None) == []


@pytest.mark.requirement("UTIL-14")
async def test_a_flood_of_progress_is_coalesced_up_to_its_last_value(client: McpClient) -> None:
    heard = [report["progress"] for report in await progress(client, "count_sync", to=10_000)]
    assert len(heard) < 1000
    assert heard[-1] == 5000


async def test_invalid_progress_harms_nothing(either: McpClient) -> None:
    for part in ("progress", "total", "message"):
        for kind in ODD_VALUES:
            assert "content" in (await called(either, "hostile_odd_report", 1, part=part, kind=kind)).result


async def began(client: McpClient, tool: str, **more: Any) -> Any:
    call = await client.begin_call(f"fixture_{tool}", progress=True, **more)
    assert (await call.next())["params"]["progress"] == 1
    return call


async def assert_silent_end(client: McpClient, call: Any) -> None:
    """Neither a response nor anything else comes for a request: over HTTP its stream ends."""
    if hasattr(call, "line") and not client.modern:
        assert await call.next() is None
    assert await client.settle() == []


@pytest.mark.requirement("HTTP-16", "HTTP-17", "STDIO-05", "STDIO-06", "UTIL-02")
async def test_a_cancelled_call_stops_and_gets_no_response(client: McpClient) -> None:
    for request_id in (0, "", "a"):
        label = f"call {request_id!r} of {client.revision}"
        call = await began(client, "wait", id=request_id, label=label)
        await call.cancel()
        await assert_silent_end(client, call)
        await until_cancelled(client, label)
        assert "result" in (await client.request("tools/list", id=request_id)).message  # the id is free again


@pytest.mark.requirement("HTTP-16", "STDIO-05", "STDIO-06")
async def test_a_cancelled_tool_that_goes_on_is_not_heard(client: McpClient) -> None:
    """One that catches the cancellation, and one in a thread, which sees `context.cancelled`."""
    call = await began(client, "stubborn", label=f"stubborn {client.revision}")
    await call.cancel()
    await assert_silent_end(client, call)
    await until_cancelled(client, f"stubborn {client.revision}")

    async def blocked_and_cancelled() -> bool:
        call = await began(client, "block", label=f"block {client.revision}")
        await call.cancel()
        await assert_silent_end(client, call)
        await client.call("fixture_open_gate")  # over HTTP the server may notice the closed connection later than this
        return f"block {client.revision}" in await client.text("fixture_cancelled")

    await until(blocked_and_cancelled)
    assert await client.settle() == []


@pytest.mark.requirement("UTIL-01", "UTIL-03", "UTIL-04")
async def test_a_cancellation_cancels_only_the_request_in_flight_of_this_client_that_it_names(
    server: McpServer, legacy: McpClient
) -> None:
    foreign = await server.client()
    call, other = await began(legacy, "wait", id=7), await began(legacy, "wait", id="other")
    for wrong in ("7", 8, 7.5, None, [7]):
        await legacy.notify("notifications/cancelled", {"requestId": wrong})
    await legacy.notify("notifications/cancelled", {})
    await foreign.notify("notifications/cancelled", {"requestId": 7})
    await other.cancel()
    await assert_silent_end(legacy, other)
    await legacy.call("fixture_release")
    assert await call.text() == "released"


@pytest.mark.requirement("UTIL-05")
async def test_the_reason_for_a_cancellation_is_logged(start: Start) -> None:
    async with start(host='log_level = "info"') as server:
        client = await server.client()
        await began(client, "wait", id="w")
        await client.notify("notifications/cancelled", {"requestId": "w", "reason": "it rains"})
        assert "'w'" in (await server.wait_for_stderr(r".*it rains.*"))[0]
