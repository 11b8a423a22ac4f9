"""Forged, endless and late messages: limits and life of the connections to mounted servers."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from pegboard import RetryableToolError
from pegboard.plugin import Bus, ProtocolError
from pegboard.types import ANONYMOUS, Call, Caller, Listing, Tool
from pegboard_plugins.servers.upstreams import link, server_log, upstream_server
from pegboard_plugins.servers.upstreams.hops import VIA, passed_hosts
from pegboard_plugins.servers.upstreams.link import Link, NotConnectedError
from pegboard_plugins.servers.upstreams.mounted import Mounted
from pegboard_plugins.servers.upstreams.request_errors import MAX_ERROR_DATA_BYTES, request_error
from pegboard_plugins.servers.upstreams.resource_updates import ResourceUpdates
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.upstream_calls import _report
from pegboard_plugins.servers.upstreams.upstream_requests import UpstreamRequests
from pegboard_plugins.servers.upstreams.user_links import ConnectionKey, UserKey, UserLinks
from tests.host.hosting import until
from tests.plugins.servers.upstreams.mounts import mounting, scripted, tools

LOGGER = logging.getLogger("test")
CLIENT: Any = SimpleNamespace


def test_the_names_of_passed_hosts_are_checked() -> None:
    assert passed_hosts({VIA: ["a", "x" * 1000, 1]}) == ["a"]


async def test_a_server_that_hangs_does_not_delay_the_lists_for_other_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream_server, "MAX_LOOP_SECONDS", 0.1)
    script = {"tools/list": [tools("a")["tools/list"], "hang"]}
    async with mounting({"one": scripted(tmp_path, script), "two": scripted(tmp_path, tools("b"))}) as client:
        listed = await client.request("tools/list", {"_meta": {VIA: ["other"]}})
        assert [tool["name"] for tool in listed["tools"]] == ["one_a", "two_b"]


async def test_calls_do_not_wait_for_endless_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(link, "MAX_FIRST_LISTS_SECONDS", 0.1)
    script = {**tools("a"), "tools/list": "hang"}
    async with mounting({"one": scripted(tmp_path, script)}, listed=False):
        await until(lambda: "one: cannot connect: it did not send its lists within 0 seconds" in caplog.text)


def make_link(opened: list[str]) -> Link:
    @asynccontextmanager
    async def open_one(_: Any) -> Any:
        opened.append("opened")
        yield SimpleNamespace()

    async def publish(_: Any) -> None: ...

    return Link("one", open_one, SimpleNamespace(), publish, LOGGER, lambda *_: None, keep=True)  # type: ignore[arg-type]


async def test_a_connection_that_the_host_has_closed_stays_closed() -> None:
    opened: list[str] = []
    closed = make_link(opened)
    await closed.close()
    closed.hasten()
    with pytest.raises(NotConnectedError, match="the host has closed the connection"):
        await closed.client()

    async def forget(_: ConnectionKey) -> None: ...

    users = UserLinks("one", 9, inf, lambda _: SimpleNamespace(link=make_link(opened)), forget)  # type: ignore[arg-type,return-value]
    await users.close()
    with pytest.raises(RetryableToolError, match="are closed"):
        async with users.use(ConnectionKey(UserKey(Caller("ann")), b"{}")):
            pass
    assert not opened


async def test_a_login_of_the_operator_hides_tools_from_a_list_that_is_under_way() -> None:
    login = SimpleNamespace(is_private=False, admits=lambda caller: caller.trusted)
    server = SimpleNamespace(
        config=SimpleNamespace(identity="host"),
        login=login,
        items=SimpleNamespace(has=lambda *_: True),
        memory=SimpleNamespace(wait=AsyncMock(return_value=False), is_unconfirmed=False),
        is_settled=lambda *_: True,
        wake=lambda _: None,
    )

    async def list_later(_: Call) -> Listing:
        login.is_private = True
        return Listing("tools", (Tool("cups_cup", "", {"type": "object"}),))

    requests = UpstreamRequests("me", [server], 1.0, lambda: None)  # type: ignore[list-item]
    listing = await requests.on_request(Call("tools/list", {}, ANONYMOUS), list_later)
    assert isinstance(listing, Listing)
    assert (listing.items, listing.private) == ((), True)


async def test_a_server_announces_only_resources_that_were_asked_for() -> None:
    updated: list[str] = []
    context = SimpleNamespace(notifications=SimpleNamespace(resources=SimpleNamespace(updated=updated.append)))

    async def use(*_: Any) -> None:
        await asyncio.Event().wait()

    updates = ResourceUpdates(SimpleNamespace(config=SimpleNamespace(identity="host"), use=use, login=None))  # type: ignore[arg-type]
    updates.follow("x://own", context)  # type: ignore[arg-type]
    for uri in ("x://of-another-server", "x://own", None):
        updates.updated(uri)
    assert updated == ["x://own"]
    await updates.close()


def test_log_messages_pass_without_meta_of_their_connection_and_at_a_limited_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_log, "MAX_LOG_LINES", 1)
    sent: list[Any] = []
    context = SimpleNamespace(name="tool", send_notification=lambda _, params: sent.append(params))
    server = SimpleNamespace(name="one", log=ServerLog("one", LOGGER), rules=None)
    mounted = Mounted(server, Bus())  # type: ignore[arg-type]
    mounted._calls._only_users[CLIENT] = UserKey(Caller("ann"))
    mounted._calls._running[CLIENT] = [lambda: context]  # type: ignore[list-item,return-value]
    for data in ("x", "dropped"):
        mounted._log(CLIENT, {"level": "info", "data": data, "_meta": {"io.modelcontextprotocol/subscriptionId": 1}})
    assert sent == [{"level": "info", "data": "x", "logger": "tool"}]


def test_numbers_beyond_json_and_invisible_characters_are_not_reported() -> None:
    reported: list[Any] = []
    context: Any = SimpleNamespace(progress=SimpleNamespace(report=lambda *arguments: reported.append(arguments)))
    for done, total, message in (
        (inf, 1, ""),
        (1, inf, None),
        (10**400, None, "half"),
        (1, 2, "\x1b[2Jpegboard: done"),
    ):
        _report(context, {"progress": done, "total": total, "message": message})
    assert reported == [(1, None, None), (10**400, None, "half"), (1, 2, None)]


def test_the_data_of_an_error_are_limited() -> None:
    for size, kept in ((10, True), (MAX_ERROR_DATA_BYTES, False)):
        data = {"x": "x" * size}
        error = request_error(CLIENT, CLIENT, "tools/call", {}, ProtocolError(-32000, "no", data))
        assert isinstance(error, ProtocolError)
        assert error.data == (data if kept else None)
