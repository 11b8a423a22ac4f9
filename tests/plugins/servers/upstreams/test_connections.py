"""Connections with mounted servers: loss, retries, dead servers, changes of lists, loops and processes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from math import inf
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import urlsplit

import pytest

from pegboard import Toolkit
from pegboard.errors import LifespanError
from pegboard.plugin import Middleware, ProtocolError
from pegboard.types import Call, Caller, CallNext, Failure, Inventory, Outcome, RawResult
from pegboard_client import Client
from pegboard_plugins.servers.upstreams import UpstreamsPlugin, link, server_log, upstream_lists
from pegboard_plugins.servers.upstreams.hops import MAX_HOSTS, VIA
from pegboard_plugins.servers.upstreams.item_selection import ItemSelection
from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_lists import ALL_KINDS, ListReader, UpstreamLists
from tests.host.hosting import WAIT, call, failure, listed, make_host, plugin_of, until
from tests.pegboard_client.scripted import DISCOVERED, NOT_OFFERED, Got, scripted_http
from tests.plugins.servers.upstreams.mounts import ERAS, mounting, names, peer, scripted, served_peer, toml, tools
from tests.plugins.servers.upstreams.scripted import INITIALIZE
from tests.plugins.servers.upstreams.test_users import mounting_host
from tests.support.http import Served, http_config
from tests.support.oidc import free_port
from tests.support.wire import PEGBOARD, is_alive

LOST = "lost its connection before it responded"


@pytest.mark.parametrize("revision", ERAS)
async def test_a_killed_server_fails_its_calls_and_is_connected_again(revision: str, tmp_path: Path) -> None:
    servers = {"one": peer(revision=revision), "two": scripted(tmp_path, tools("env"))}
    async with mounting(servers) as client:
        before = int((await client.call("one_pid")).text)
        calls = [client.call("one_add", a=1, b=number) for number in range(50)]
        others = [client.call("two_env", name="PATH") for _ in range(50)]
        results = await asyncio.gather(client.call("one_die"), *calls, client.call("one_die"), *others)
        for result in results[:52]:
            assert not result.is_error or LOST in result.text or "not available" in result.text
            assert not result.is_error or "'one'" in result.text
        assert LOST in results[0].text
        assert all(not result.is_error for result in results[52:])
        assert (await client.call("one_add", a=1, b=2)).text == "3"
        assert (await client.call("one_pid")).text != str(before)
        assert not is_alive(before)


async def test_three_dead_servers_of_eighteen_do_not_delay_the_others(tmp_path: Path) -> None:
    dead = {
        "hangs": scripted(tmp_path, {"initialize": "hang", "server/discover": "hang"}),
        "exits": {"command": "/bin/false"},
        "absent": {"url": "http://127.0.0.1:9/mcp"},
    }
    servers = {f"server{number}": scripted(tmp_path, tools("env")) for number in range(15)}
    async with mounting({**servers, **dead}, first_list_seconds=0.2) as client:
        await until_names(client, 15)
        results = await asyncio.gather(*(client.call(f"{name}_env", name="PATH") for name in servers))
        assert all(result.text == os.environ["PATH"] for result in results)


async def until_names(client: Any, number: int) -> None:
    """Wait for a number of tools, with the notifications of the host."""
    await client.listen()
    while len(await names(client)) < number:
        await client.heard("notifications/tools/list_changed")


@pytest.mark.parametrize("revision", ERAS)
async def test_a_change_of_a_servers_list_reaches_clients(revision: str) -> None:
    async with mounting({"one": peer(revision=revision)}) as client:
        await client.listen()
        assert "one_grown" not in await names(client)
        await client.call("one_grow", name="grown")
        await client.heard("notifications/tools/list_changed")
        assert (await client.call("one_grown")).text == "grown"
        client.notifications.clear()
        await client.call("one_shrink", name="grown")
        await client.heard("notifications/tools/list_changed")
        assert "one_grown" not in await names(client)


async def test_calls_of_a_dead_server_name_the_next_attempt(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    marker = tmp_path / "once"
    script = f'test -e {marker} && exit 1; touch {marker}; exec "$@"'
    server = scripted(tmp_path, {**tools("env"), "tools/call": "exit"})
    once = {"command": "/bin/sh", "args": ["-c", script, "sh", server["command"], *server["args"]]}
    async with mounting({"one": once}) as client:
        assert await names(client) == ["one_env"]
        assert LOST in (await client.call("one_env")).text
        while "not available" not in (result := await client.call("one_env")).text:
            assert result.is_error
        assert result.error.can_retry
        assert "The next attempt to connect is in" in result.text
        assert await names(client) == ["one_env"]
    assert "one: the connection is lost: /bin/sh ended with code 3; next attempt in" in caplog.text


@pytest.mark.parametrize(("fault", "restarts"), [("block", True), ("hang", False)])
@pytest.mark.parametrize("revision", ERAS)
async def test_a_server_that_does_not_respond_at_all_is_started_again(
    fault: str,
    restarts: bool,
    revision: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(link, "MAX_CHECK_SECONDS", 1)
    discovery = {"supportedVersions": [revision], "capabilities": {"tools": {}}} if revision == ERAS[0] else None
    script = {**tools("env"), "server/discover": discovery, "tools/call": [fault, None]}
    async with mounting({"one": scripted(tmp_path, script, timeout=1, revision=revision)}) as client:
        for _ in range(2 if restarts else 1):  # the second process blocks too
            assert "did not respond in time. The call may have had effects" in (await client.call("one_env")).text
            if restarts:
                await until(lambda: "a request timed out, and" in caplog.text)
                caplog.clear()
        if not restarts:
            assert not (await client.call("one_env", name="PATH")).is_error
            assert "the connection is lost" not in caplog.text


async def test_a_required_server_must_connect() -> None:
    with pytest.raises(LifespanError, match="the required server 'one' is not available: /bin/false ended with code 1"):
        async with mounting({"one": {"command": "/bin/false", "start": "required"}}):
            pass


async def test_a_required_server_is_connected_at_the_start(tmp_path: Path) -> None:
    async with mounting({"one": scripted(tmp_path, tools("env"), start="required")}, first_list_seconds=0) as client:
        await until_names(client, 1)


async def test_a_lazy_server_connects_with_a_call_before_the_first_list(tmp_path: Path) -> None:
    async with mounting({"one": scripted(tmp_path, tools("env"), start="lazy")}, listed=False) as client:
        assert not (await client.call("one_env", name="X")).is_error
        with pytest.raises(ProtocolError, match="Unknown tool: one_other"):
            await client.call("one_other")


class HeldPublication(Middleware):
    """Holds the publication of a tool, in its thread, until a call has met the catalogue before it."""

    def __init__(self) -> None:
        self.begun, self.met = Event(), Event()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        if "one_env" in inventory.tools:
            self.begun.set()
            assert self.met.wait(WAIT)
        return ()

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        try:
            return await call_next(call)
        finally:
            self.met.set()


async def test_a_call_that_meets_the_publication_of_its_tool_is_run(tmp_path: Path) -> None:
    held = HeldPublication()
    plugins = {"upstreams_of_test": UpstreamsPlugin, "held": plugin_of(middleware=[held])}
    config = {"plugins": {"upstreams_of_test": {"servers": {"one": scripted(tmp_path, tools("env"))}}}}
    async with make_host(Toolkit("none"), plugins=plugins, config=config) as host:
        await until(held.begun.is_set)
        outcome = await call(host, "one_env", {"name": "X"})
    assert not isinstance(outcome, Failure), outcome


async def test_standard_error_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with mounting({"one": peer()}) as client:
        await client.call("one_complain", text="a complaint " + "x" * 5000)
        await until(lambda: "one, standard error: a complaint" in caplog.text)
    assert "x" * 2000 not in caplog.text


async def test_lines_of_a_server_are_limited(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(server_log, "MAX_LOG_LINES", 3)
    log = server_log.ServerLog("one", logging.getLogger("test"))
    for _ in range(5):
        log.write(logging.DEBUG, "", "not logged, and not counted")
    for number in range(10):
        log.write(logging.INFO, "", f"line {number}")
    await until(lambda: "dropped" in caplog.text)
    log.write(logging.INFO, "", "a later line")
    assert caplog.messages == [
        *(f"one: line {number}" for number in range(3)),
        "one: 7 lines were dropped; the limit is 3 lines a second",
        "one: a later line",
    ]


@pytest.mark.parametrize("revision", ERAS)
async def test_a_killed_http_server_is_used_again_when_it_is_back(revision: str, tmp_path: Path) -> None:
    port = free_port()
    section = {"url": f"http://127.0.0.1:{port}/mcp", "revision": revision}
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(served_peer(tmp_path, port))
        client = await stack.enter_async_context(mounting({"one": section}))
        others = await asyncio.gather(*(client.call("one_add", a=1, b=number) for number in range(20)))
        assert not any(result.is_error for result in others)
        dying = await client.call("one_die")
        assert "'one'" in dying.text
        assert dying.is_error
        await first.process.wait()
        refused = await client.call("one_add", a=1, b=2)
        while LOST in refused.text:  # an idle connection, whose end the host has not read yet
            refused = await client.call("one_add", a=1, b=2)
        assert (refused.error.kind, refused.error.can_retry) == ("NETWORK_TRANSPORT_RUNTIME_UNREACHABLE", True)
        await stack.enter_async_context(served_peer(tmp_path, port))
        assert (await client.call("one_add", a=1, b=2)).text == "3"


@pytest.mark.parametrize("revision", ERAS)
async def test_a_killed_http_server_is_lost_without_calls(
    revision: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    section = {"url": f"http://127.0.0.1:{(port := free_port())}/mcp", "revision": revision}
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(served_peer(tmp_path, port))
        client = await stack.enter_async_context(mounting({"one": section}))
        first.process.kill()
        await until(lambda: f"one: the connection is lost: http://127.0.0.1:{port}" in caplog.text)
        while "It is connecting" in (refused := await client.call("one_add", a=1, b=2)).text:
            pass
        assert "The server 'one' is not available. The next attempt to connect is in" in refused.text
        assert refused.error.detail["extra"]["retry_after_ms"] > 0
        await stack.enter_async_context(served_peer(tmp_path, port))
        assert (await client.call("one_add", a=1, b=2)).text == "3"


@pytest.mark.parametrize("identity", ["host", "user"])
async def test_a_call_notices_the_loss_of_a_server_that_announces_no_changes(
    identity: str, caplog: pytest.LogCaptureFixture
) -> None:
    results = {"server/discover": DISCOVERED, **tools("x"), "tools/call": {"content": []}}

    def respond(got: Got) -> bytes:
        return got.result(results[got.method]) if got.method in results else NOT_OFFERED

    ann = Caller("ann")
    async with AsyncExitStack() as stack:
        async with scripted_http(respond) as (url, _):
            host = await stack.enter_async_context(mounting_host({"url": url, "identity": identity}))
            assert await listed(host, ann) == ["one_x"]
        while "is lost" not in caplog.text:
            assert isinstance(await call(host, "one_x", caller=ann), Failure)
        error: Any = (await failure(host, "one_x", caller=ann)).error
        assert "The next attempt to connect is in" in error.message
        async with scripted_http(respond, urlsplit(url).port) as (_, got):
            assert isinstance(await call(host, "one_x", caller=ann), RawResult)
            assert got[-1].method == "tools/call"


async def test_an_unknown_tool_of_a_dead_server_names_the_server() -> None:
    async with mounting({"one": {"command": "/bin/false"}, "two": {"command": "/bin/false"}}) as client:
        assert "The server 'two' is not available." in (await client.call("two_env")).text
        with pytest.raises(ProtocolError, match="Unknown tool: three_env"):
            await client.call("three_env")


async def test_kinds_of_items_are_declared_before_a_server_is_connected() -> None:
    async with mounting({"one": {"command": "/bin/false"}}, listed=False) as client:
        capabilities = (await client.request("server/discover"))["capabilities"]
        assert {"tools", "resources", "prompts", "completions"} <= capabilities.keys()


async def test_lists_without_announcements_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_lists, "MIN_FRESH_SECONDS", 0)
    lists = [{**tools(name)["tools/list"], "ttlMs": 1} for name in ("a", "b")]
    script = {"initialize": {**INITIALIZE, "capabilities": {"tools": {}}}, "tools/list": lists}
    async with mounting({"one": scripted(tmp_path, script)}) as client:
        while await names(client) != ["one_b"]:
            pass


@pytest.mark.parametrize(
    ("ttl_ms", "seconds"), [(None, 60), (0, 60), (True, 60), (1, 5), (30_000, 30), (10**400, 60), (inf, 60)]
)
async def test_a_server_shortens_the_time_until_its_lists_are_read_again(ttl_ms: Any, seconds: float) -> None:
    request = AsyncMock(return_value={"tools": [], "ttlMs": ttl_ms})
    client: Any = SimpleNamespace(server=SimpleNamespace(capabilities={"tools": {}}), request=request)
    config = ServerConfig(command="x", refresh_seconds=60)
    reader = ListReader("one", config, logging.getLogger("test"), {}, ItemSelection("one", config, lambda *_: None))
    await reader.read(client, ALL_KINDS, UpstreamLists())
    assert reader.fresh_seconds == seconds


async def test_no_process_is_left_after_the_host_has_stopped(tmp_path: Path) -> None:
    async with mounting({"one": peer()}) as client:
        pid = int((await client.call("one_pid")).text)
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_a_program_that_mounts_itself_is_found(tmp_path: Path) -> None:
    folder = str(tmp_path)
    config = toml("me", {"command": str(PEGBOARD), "args": ["stdio", "--config", f"{folder}/hostconfig.toml"]})
    async with Served(tmp_path, http_config(host='log_level = "info"', more=config), cwd=tmp_path) as served:
        await served.wait_for_stderr(
            "me, standard error: .*me is not mounted: the program is a host that mounts itself"
        )


async def test_hosts_that_mount_each_other_do_not_list_their_own_items(tmp_path: Path) -> None:
    ports = {"a": free_port(), "b": free_port()}
    urls = {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}
    async with AsyncExitStack() as stack:
        for name, other in (("a", "b"), ("b", "a")):
            await stack.enter_async_context(served_peer(tmp_path, ports[name], toml(other, {"url": urls[other]})))
        await seen(urls["b"], "a_add")
        async with Client(urls["a"]) as client:
            await seen(urls["a"], "b_grow")
            assert (await client.call("b_grow", {"name": "grown"}))["content"][0]["text"] == "grown"
            names = await seen(urls["a"], "b_grown")  # read after b has listed the tools of a
            assert not {name for name in names if name.startswith("b_a_")}


async def seen(url: str, name: str) -> set[str]:
    """Return the names of a server's tools once one of them has this name."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.timeout(WAIT), Client(url, on_notification=lambda name, _: heard.put_nowait(name)) as client:
        await client.listen()
        while name not in (names := {str(tool["name"]) for tool in await client.tools()}):
            await heard.get()
        return names


async def test_a_request_passes_a_limited_number_of_hosts(tmp_path: Path) -> None:
    async with mounting({"one": scripted(tmp_path, tools("env"))}) as client:
        params = {"name": "one_env", "arguments": {}}
        near, far = ({"_meta": {**client.meta, VIA: ["other"] * hosts}} for hosts in (MAX_HOSTS - 1, MAX_HOSTS))
        await client.request("tools/call", {**params, **near})
        with pytest.raises(ProtocolError, match="which is the limit"):
            await client.request("tools/call", {**params, **far})
