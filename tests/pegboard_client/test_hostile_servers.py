"""Servers that refuse, stall and overwhelm: the client goes on, and keeps nothing for them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.plugin import ProtocolError, TransportError
from pegboard_client import (
    Client,
    Endpoint,
    Program,
    ServerTimeoutError,
    Stream,
    child_process,
    http_session,
    task_calls,
)
from pegboard_client.http_stream import MIN_RETRY_MS, EventParser
from tests.host.hosting import WAIT, until
from tests.pegboard_client.pairs import MemoryEnd, StreamPair
from tests.pegboard_client.scripted import (
    ACCEPTED,
    DISCOVERED,
    INITIALIZED,
    NOT_FOUND,
    NOT_OFFERED,
    REVISION,
    STREAM,
    Got,
    Tokens,
    assert_refused,
    connected,
    event,
    guarded,
    scripted_http,
    scripted_stream,
    session,
    silence,
    whole,
)

OK: dict[str, Any] = {"content": []}


async def test_requests_to_this_machine_use_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        scripted_http(lambda _: b"") as (proxy, _),
        scripted_http(lambda got: got.result(DISCOVERED)) as (url, got),
    ):
        monkeypatch.setenv("http_proxy", proxy)
        for host in ("127.0.0.1", "localhost"):
            async with Client(url.replace("127.0.0.1", host)) as client:
                assert client.stateless
    assert len(got) == 2


async def test_errors_name_neither_the_password_of_a_proxy_nor_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(got: Got) -> bytes:
        return whole(407, b"") if got.verb == "CONNECT" else b"HTTP/1.1 200\r\nx\r\n\r\n"

    async with scripted_http(respond) as (url, _):
        monkeypatch.setenv("https_proxy", url.replace("127", "me:secret@127"))
        for address, message in (("https://server.invalid/", "407"), (url, "no response: 400 ")):
            caught = await assert_refused(f"{address}?key=secret", message)
            assert "secret" not in str(caught.value)


def test_addresses_do_not_show_their_secrets() -> None:
    endpoint = Endpoint("https://server.example/mcp?key=secret", {"Authorization": "secret"})
    program = Program("server", ["--key=secret"], {"KEY": "secret"})
    assert f"{endpoint!r} {program!r}" == "Endpoint('https://server.example/mcp') Program('server')"


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ({"status": "working", "pollIntervalMs": 10**400}, nullcontext()),
        ({"status": "input_required", "inputRequests": [1]}, pytest.raises(TransportError, match="asks more than")),
    ],
)
async def test_members_of_a_task_are_limited(
    monkeypatch: pytest.MonkeyPatch, task: dict[str, Any], outcome: AbstractContextManager[Any]
) -> None:
    monkeypatch.setattr(task_calls, "MAX_POLL_SECONDS", 0)
    states = iter([task, {"status": "completed", "result": OK}])
    async with connected(lambda got: got.result(next(states) if got.method == "tasks/get" else DISCOVERED)) as (
        client,
        _,
    ):
        with outcome:
            assert await client.task("t") == OK


@pytest.mark.parametrize("held", ["initialize", "notifications/initialized"])
async def test_requests_wait_for_the_renewal_of_a_session(held: str) -> None:
    renewing, renewed = asyncio.Event(), asyncio.Event()
    opened = 0

    async def respond(got: Got) -> bytes:
        nonlocal opened
        used = got.headers.get("mcp-session-id")
        opened += got.method == "initialize"
        if got.method == held and opened == 2:
            renewing.set()
            await renewed.wait()
        if got.method == "initialize":
            return got.result(INITIALIZED, f"Mcp-Session-Id: s{opened}")
        if got.method != "tools/call":
            return ACCEPTED
        ready = used == "s2" and renewed.is_set()
        return got.result(OK) if ready else NOT_FOUND if used == "s1" else whole(400, b"")

    async with connected(respond, revision=REVISION) as (client, _):
        first = asyncio.create_task(client.call("x"))
        await renewing.wait()
        later = asyncio.create_task(client.call("y"))
        for _ in range(100):
            await asyncio.sleep(0)
        renewed.set()
        assert [await first, await later] == [OK, OK]


async def test_requests_do_not_wait_for_a_renewal_beyond_their_time() -> None:
    opened = 0

    def respond(got: Got) -> bytes | Awaitable[bytes]:
        nonlocal opened
        if got.method == "initialize":
            opened += 1
            return got.result(INITIALIZED, "Mcp-Session-Id: s1") if opened == 1 else silence()
        return NOT_FOUND if got.method == "tools/call" else ACCEPTED

    async with connected(respond, revision=REVISION) as (client, _), asyncio.timeout(WAIT):
        calls = (client.call("x", timeout=0.1) for _ in range(3))
        for failed in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(failed, ServerTimeoutError)


@pytest.mark.parametrize("status", [409, 429, 503])
async def test_a_standalone_stream_that_is_refused_for_now_is_opened_later(status: int, reconnects: list[int]) -> None:
    refusals = [STREAM, whole(status, b""), whole(status, b"")]

    def respond(got: Got) -> bytes:
        return refusals.pop(0) if refusals else NOT_OFFERED

    async with connected(session(respond), revision=REVISION) as (client, got):
        await client.listen()
        await until(lambda: sum(request.verb == "GET" for request in got) == 4)
    assert reconnects == [1, 2, 3]  # also a stream that ends at once is a failure


@pytest.mark.usefixtures("reconnects")
@pytest.mark.parametrize("resumed", [False, True])
async def test_the_standalone_stream_is_opened_again_in_a_new_session(resumed: bool) -> None:
    """Many servers respond with status 400 to a stream of a session that they do not know, as after a restart."""
    opened: list[str] = []

    def respond(got: Got) -> bytes | Awaitable[bytes]:
        if got.method == "initialize":
            opened.append(f"s{len(opened) + 1}")
            return got.result(INITIALIZED, f"Mcp-Session-Id: {opened[-1]}")
        if got.verb != "GET":
            return ACCEPTED
        streams.append(got.headers["mcp-session-id"])
        if streams == ["s1"]:
            return STREAM + event(None, "e1" if resumed else "", retry=1)
        unknown = whole(400, b"Invalid or missing session ID")
        return unknown if streams[-1] == "s1" else silence()

    streams: list[str] = []
    async with connected(respond, revision=REVISION) as (client, _):
        await client.listen()
        await until(lambda: "s2" in streams)
    assert opened == ["s1", "s2"]


async def test_a_notification_that_is_never_accepted_is_dropped(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pegboard.client")

    def respond(got: Got) -> bytes | Awaitable[bytes]:
        return asyncio.Event().wait() if got.method == "notifications/x" else ACCEPTED  # type: ignore[return-value]

    async with connected(session(respond), revision=REVISION) as (client, _):
        monkeypatch.setattr(http_session, "MAX_DELIVERY_SECONDS", 0.01)
        client.notify("notifications/x")
        await until(lambda: "did not accept a message in time" in caplog.text)


async def test_a_login_has_its_own_time() -> None:
    remaining: list[float] = []

    class Login(Tokens):
        async def challenged(self, url: str, status: int, headers: Any) -> bool:
            (flight,) = client._connection.incoming.in_flight.values()
            remaining.append(flight.due - asyncio.get_running_loop().time())
            return await super().challenged(url, status, headers)

    async with scripted_http(guarded) as (url, _), (client := Client(Endpoint(url, auth=Login()), timeout=20)):
        assert remaining[0] > 1000


async def test_a_server_cannot_demand_a_reconnect_at_once() -> None:
    assert [event.retry_ms for event in EventParser(100).feed(b"retry: 0\n\n")] == [MIN_RETRY_MS]


@given(st.lists(st.sampled_from([b"data: a", b"\n", b"\r", b"\r\n"]), max_size=8))
@example([b"data: a", b"\r", b"\n", b"\n"])
def test_events_do_not_depend_on_how_a_stream_is_divided(chunks: list[bytes]) -> None:
    parser, whole = EventParser(100), EventParser(100)
    assert [event for chunk in chunks for event in parser.feed(chunk)] == [*whole.feed(b"".join(chunks))]


def test_a_stream_may_begin_with_a_byte_order_mark() -> None:
    assert [event.data for event in EventParser(100).feed(b"\xef\xbb\xbfdata: a\n\n")] == [b"a"]


def subscriptions(listened: list[Any], ended: list[Any], refuse: str = "") -> Callable[[MemoryEnd], Awaitable[None]]:
    """Return a server that notes the requests for changes and the ends of them."""

    async def serve(end: MemoryEnd) -> None:
        async for data in end.messages():
            request = json.loads(data)
            reply = {"jsonrpc": "2.0", "id": request.get("id")}
            if request["method"] == "server/discover":
                end.send(json.dumps({**reply, "result": DISCOVERED}).encode())
            elif request["method"] == "notifications/cancelled":
                ended.append(request["params"]["requestId"])
            elif refuse in (uris := request["params"]["notifications"].get("resourceSubscriptions", [])):
                end.send(json.dumps({**reply, "error": {"code": -32602, "message": "refused"}}).encode())
            else:
                listened.append((request["id"], uris))
                meta = {"io.modelcontextprotocol/subscriptionId": request["id"]}
                note = {"method": "notifications/subscriptions/acknowledged", "params": {"_meta": meta}}
                end.send(json.dumps({"jsonrpc": "2.0", **note}).encode())

    return serve


async def test_subscriptions_at_once_leave_one_request_which_ends_with_the_client() -> None:
    listened: list[Any] = []
    ended: list[Any] = []
    async with scripted_stream(subscriptions(listened, ended)) as client:
        async with client:
            await asyncio.gather(*(client.subscribe(f"x://{name}") for name in "abc"))
            assert listened[-1][1] == ["x://a", "x://b", "x://c"]
            await client.subscribe("x://c", "x://d", "x://e")
            assert (len(listened), len(listened[-1][1])) == (4, 5)
        assert not [task for task in asyncio.all_tasks() if "Listening" in repr(task)]
    assert sorted(ended) == [number for number, _ in listened]


async def test_a_refused_subscription_does_not_spoil_the_others() -> None:
    listened: list[Any] = []
    async with scripted_stream(subscriptions(listened, [], refuse="x://no")) as client, client:
        with pytest.raises(ProtocolError, match="refused"):
            await client.subscribe("x://no")
        await client.subscribe("x://yes")
    assert [uris for _, uris in listened] == [["x://yes"]]


async def test_requests_are_not_kept_for_a_server_that_reads_nothing() -> None:
    pair = StreamPair()

    async def full() -> None:
        await asyncio.Event().wait()

    async def serve() -> None:
        request = json.loads(await anext(aiter(pair.server.messages())))
        pair.client.drain = full  # type: ignore[method-assign]
        pair.server.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": DISCOVERED}).encode())

    serving = asyncio.ensure_future(serve())
    async with Client(Stream(pair.client)) as client:
        await serving
        for _ in range(3):
            with suppress(ServerTimeoutError):
                await client.call("x", timeout=0.001)
        assert pair.server._received.empty()


async def test_a_program_without_its_guard_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def fail(pid: int) -> None:
        started.append(pid)
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(child_process, "_guard_of", fail)
    await assert_refused(Program("sleep", ["60"]), "guard of sleep: no more processes")
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
