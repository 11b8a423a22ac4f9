"""URLs at which another server answers than before, and lists that cannot be read for a moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pegboard.types import Caller, Client, RawResult
from pegboard_client import http_session
from pegboard_plugins.servers.upstreams import UpstreamsPlugin
from tests.host.hosting import WAIT, call, listed
from tests.pegboard_client.scripted import (
    ACCEPTED,
    DISCOVERED,
    INITIALIZED,
    NOT_OFFERED,
    REVISION,
    STREAM,
    Got,
    as_json,
    scripted_http,
    session,
    silence,
    whole,
)
from tests.plugins.servers.upstreams.mounts import mounting, tools
from tests.plugins.servers.upstreams.test_users import mounting_host

RESULTS: dict[str, Any] = {**tools("x"), "tools/call": {"content": [{"type": "text", "text": "done"}]}}


def refusal(code: int, message: str) -> bytes:
    return as_json({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, status=400)


def of_sessions(got: Got) -> bytes:
    """Answer as a server that speaks only 2025-11-25."""
    if got.method == "initialize":
        return got.result(INITIALIZED, "Mcp-Session-Id: s1")
    if got.verb == "GET":
        return NOT_OFFERED
    if got.headers.get("mcp-session-id") != "s1":
        return refusal(-32600, "Bad Request: Missing ID")
    return got.result(RESULTS.get(got.method, {})) if got.message and "id" in got.message else ACCEPTED


def without_sessions(got: Got) -> bytes:
    """Answer as a server that speaks only 2026-07-28."""
    if got.headers.get("mcp-protocol-version") != "2026-07-28":
        return refusal(-32022, "Unsupported protocol version")
    results = {"server/discover": DISCOVERED, **RESULTS}
    return got.result(results[got.method]) if got.method in results else refusal(-32601, "Method not found")


@pytest.mark.parametrize("servers", [(of_sessions, without_sessions), (without_sessions, of_sessions)])
async def test_a_server_of_another_revision_at_the_same_url_is_connected(servers: Any) -> None:
    answers = [*servers]

    def respond(got: Got) -> bytes:
        answer: bytes = answers[0](got)
        return answer

    async with scripted_http(respond) as (url, _), mounting({"one": {"url": url}}) as client:
        assert (await client.call("one_x")).text == "done"
        del answers[0]
        async with asyncio.timeout(WAIT):
            while (await client.call("one_x")).is_error:
                pass


async def test_running_calls_survive_a_list_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_session, "reconnect_delay", lambda _: 0)
    called, released = asyncio.Event(), asyncio.Event()
    seen: list[str] = []

    async def respond(got: Got) -> bytes:
        seen.append(got.method)
        if got.verb == "GET":
            if seen.count("GET") > 1:
                await called.wait()
            return STREAM if seen.count("GET") < 3 else await silence()
        if got.method == "tools/call":
            called.set()
            await released.wait()
        elif seen.count("tools/list") == 2:
            return whole(503, b"")
        elif seen.count("tools/list") == 3:
            released.set()
        return got.result(RESULTS[got.method])

    async with (
        scripted_http(session(respond)) as (url, _),
        mounting({"one": {"url": url, "revision": REVISION}}) as client,
    ):
        assert (await client.call("one_x")).text == "done"


@pytest.mark.parametrize("refused", [whole(405, b""), whole(500, b""), STREAM])
async def test_a_server_that_cannot_announce_changes_is_connected(refused: bytes) -> None:
    def respond(got: Got) -> bytes:
        return refused if got.method == "subscriptions/listen" else without_sessions(got)

    async with scripted_http(respond) as (url, _), mounting({"one": {"url": url}}) as client:
        assert (await client.call("one_x")).text == "done"


async def test_a_login_does_not_cut_the_running_calls_of_its_user() -> None:
    called, released = asyncio.Event(), asyncio.Event()

    async def respond(got: Got) -> bytes:
        if got.method == "tools/call":
            called.set()
            await released.wait()
        return without_sessions(got)

    ann = Caller("ann")
    async with scripted_http(respond) as (url, _), mounting_host({"url": url, "identity": "user"}) as host:
        assert await listed(host, ann) == ["one_x"]
        running = asyncio.ensure_future(call(host, "one_x", caller=ann))
        await called.wait()
        (plugin,) = [plugin.instance for plugin in host.report.plugins if isinstance(plugin.instance, UpstreamsPlugin)]
        mounted: Any = plugin._mounted
        callers = mounted.servers[0].callers
        callers._renew(callers.key(ann, Client()))  # as after a login
        await callers._users.get(callers.key(ann, Client())).link.settle()
        released.set()
        assert isinstance(await running, RawResult)
