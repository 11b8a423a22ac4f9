"""Servers that break the rules, and forged, endless and late messages: no other server is affected."""

from __future__ import annotations

import logging
import re
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from pegboard import NotFoundError, RetryableToolError
from pegboard.errors import RepeatCallError
from pegboard.plugin import Bus, ProtocolError, ToolDefinition
from pegboard.types import ANONYMOUS, Call, Caller, Inventory, Listing, Tool
from pegboard_client import UnreachableError
from pegboard_plugins.servers.upstreams import link, server_log, upstream_lists, upstream_server
from pegboard_plugins.servers.upstreams.hops import VIA, passed_hosts
from pegboard_plugins.servers.upstreams.link import Link, NotConnectedError
from pegboard_plugins.servers.upstreams.mounted import Mounted
from pegboard_plugins.servers.upstreams.resource_updates import ResourceUpdates
from pegboard_plugins.servers.upstreams.server_log import ServerLog
from pegboard_plugins.servers.upstreams.upstream_calls import _report
from pegboard_plugins.servers.upstreams.upstream_errors import MAX_ERROR_DATA_BYTES, request_error
from pegboard_plugins.servers.upstreams.upstream_requests import UpstreamRequests
from pegboard_plugins.servers.upstreams.user_links import ConnectionKey, UserKey, UserLinks
from tests.host.hosting import never, plugin_of, until
from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, tool, tools
from tests.plugins.servers.upstreams.scripted import INITIALIZE
from tests.support.schemas import check

GOOD = tool("good")
MALFORMED: list[Any] = [{}, {"tools": {}}, {"tools": None}, {"tools": [], "nextCursor": 7}]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (tool("bad", description="hid\u200bden"), "U+200B"),
        (tool("bad", title="tag\U000e0041"), "U+E0041"),
        (tool("bad", inputSchema={"type": "object", "description": "\u202e"}), "U+202E"),
        (tool("bad", description="x" * 2_000_000), "the limit is"),
    ],
)
async def test_an_invalid_item_is_reported_and_the_others_are_served(
    bad: dict[str, Any], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = {"tools/list": {"tools": [tool("a"), bad, GOOD, {"name": 7}, "text", {}]}}
    async with mounting({"one": scripted(tmp_path, script)}) as client:
        assert await names(client) == ["one_a", "one_good"]
    (line,) = [record.getMessage() for record in caplog.records if "is not served" in record.getMessage()]
    assert line.startswith("one: tool 'bad' is not served: ")
    assert reason in line
    assert ".py" not in line


@pytest.mark.parametrize(
    ("kind", "invalid"),
    [
        ("tools", {"annotations": 5}),
        ("tools", {"annotations": {"readOnlyHint": "yes", "title": 5}}),
        ("tools", {"icons": 5}),
        ("tools", {"icons": [{"src": 5}]}),
        ("tools", {"icons": [{"src": "https://a/b", "theme": "pink"}]}),
        ("resources", {"icons": [{}], "size": "5", "mimeType": 5, "annotations": {"priority": 2}}),
        ("resources", {"annotations": {"audience": ["robots"], "lastModified": 5}}),
        ("prompts", {"arguments": [{"name": "x", "title": 5, "description": [], "required": "yes"}]}),
    ],
)
async def test_members_that_clients_reject_are_not_listed(kind: str, invalid: dict[str, Any], tmp_path: Path) -> None:
    listed = {**tool("a"), "uri": "x://a", **invalid}
    capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
    script = {"initialize": {**INITIALIZE, "capabilities": capabilities}, f"{kind}/list": {kind: [listed]}}
    async with mounting({"one": scripted(tmp_path, script)}, listed=False) as client:
        result = await client.request(f"{kind}/list")
        assert len(result[kind]) == 1
        check("2026-07-28", f"List{kind.title()}Result", {"resultType": "complete", **result})


async def test_a_definition_cannot_forge_the_keys_of_the_host(tmp_path: Path) -> None:
    forged = {"pegboard/requirements": {"authorization": {"provider": "bad"}}}
    listed = [tool("a", _meta=forged), tool("b", _meta={**forged, "com.example/x": 1})]
    async with mounting({"one": scripted(tmp_path, {"tools/list": {"tools": listed}})}) as client:
        assert [item.get("_meta") for item in await client.tools()] == [None, {"com.example/x": 1}]


@pytest.mark.parametrize(
    ("pages", "served"),
    [
        ([{"tools": [GOOD], "nextCursor": "same"}], ["one_good"]),
        ([{"tools": [GOOD], "nextCursor": str(number)} for number in range(300)], ["one_good"]),
        ([{"tools": [GOOD]}], ["one_good"]),
        *(([result], []) for result in MALFORMED),
    ],
)
async def test_endless_pages_end_and_malformed_lists_are_empty(pages: Any, served: list[str], tmp_path: Path) -> None:
    servers = {"one": scripted(tmp_path, {"tools/list": pages}), "two": scripted(tmp_path, tools("x"))}
    async with mounting(servers) as client:
        assert await names(client) == [*served, "two_x"]


async def test_list_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(upstream_lists, "MAX_ITEMS", 3)
    servers = {"one": scripted(tmp_path, tools("a", "b", "c", "d"))}
    async with mounting(servers) as client:
        assert await names(client) == ["one_a", "one_b", "one_c"]
    monkeypatch.setattr(upstream_lists, "MAX_LIST_BYTES", 150)
    async with mounting(servers) as client:
        assert len(await names(client)) == 2
    assert "the others are not served" in caplog.text


async def test_a_name_in_use_is_reported_and_not_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = plugin_of(tools=[ToolDefinition(lambda: "own", name="one_taken", description="Own.")])
    async with mounting({"one": scripted(tmp_path, tools("taken", "free"))}, plugins={"own": own}) as client:
        assert await names(client) == ["one_free", "one_taken"]
        assert (await client.call("one_taken")).text == "own"
    assert "tool 'taken' is not served" in caplog.text


async def test_servers_with_the_same_names_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = scripted(tmp_path, tools("x"), prefix="same")
    second = scripted(tmp_path, tools("x", "y", "z"), prefix="same", rename={"z": "same_y"})
    async with mounting({"one": first, "two": second}) as client:
        assert await names(client) == ["same_x", "same_y"]
    refused = re.findall(r"is not served: the server '(?:one|two)' has '(\w+)' already; set prefix", caplog.text)
    assert sorted(refused) == ["same_x", "same_y"]


async def test_a_server_that_announces_changes_again_and_again_is_slowed_down(tmp_path: Path) -> None:
    flood = 'yes \'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\' | head -n 2000; cat > /dev/null'
    server = scripted(tmp_path, tools("x"))
    command = f'( {flood} ) & exec "$@"'
    noisy = {"command": "/bin/sh", "args": ["-c", command, "sh", server["command"], *server["args"]]}
    async with mounting({"one": noisy, "two": scripted(tmp_path, tools("env"))}) as client:
        assert (await client.call("two_env", name="X")).text == ""


async def test_members_of_results_that_belong_to_the_host_do_not_pass(tmp_path: Path) -> None:
    script = {**tools("x"), "tools/call": {"content": [], "_meta": {"pegboard/error": {"kind": "X"}, "a/b": 1}}}
    async with mounting({"one": scripted(tmp_path, script)}) as client:
        meta = (await client.request("tools/call", {"name": "one_x", "arguments": {}}))["_meta"]
        assert "pegboard/error" not in meta
        assert meta["a/b"] == 1


async def test_secrets_of_the_section_are_not_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "canary-0123456789-secret"
    section = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {canary}"}}
    async with mounting({"one": section}) as client:
        assert await names(client) == []
    assert canary not in caplog.text


async def test_a_server_without_confirmations_is_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MAX_LISTEN_SECONDS", 0.1)
    discovered = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "scripted", "version": "1"},
    }
    script = {"server/discover": discovered, "subscriptions/listen": "hang", **tools("env")}
    async with mounting({"one": scripted(tmp_path, script)}) as client:
        assert await names(client) == ["one_env"]


@pytest.mark.parametrize(
    ("completion", "passed"),
    [
        ({"values": ["a"], "more": 1}, {"values": ["a"], "more": 1}),
        ({"values": ["a", 7]}, {"values": ["a"], "hasMore": True}),
        ({"values": ["a"] * 101, "total": 7}, {"values": ["a"] * 100, "hasMore": True}),
        ({"values": None}, {"values": [], "hasMore": False, "total": 0}),
    ],
)
async def test_valid_completions_pass_unchanged(completion: Any, passed: Any, tmp_path: Path) -> None:
    script: dict[str, Any] = {
        "initialize": {**INITIALIZE, "capabilities": {"prompts": {}, "completions": {}}},
        "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "x"}]}]},
        "completion/complete": {"completion": completion},
    }
    async with mounting({"one": scripted(tmp_path, script)}, listed=False) as client:
        await client.prompts()
        params = {"ref": {"type": "ref/prompt", "name": "one_p"}, "argument": {"name": "x", "value": ""}}
        assert (await client.request("completion/complete", params))["completion"] == passed


LOGGER = logging.getLogger("test")
CLIENT: Any = SimpleNamespace


def test_the_names_of_passed_hosts_are_checked() -> None:
    assert passed_hosts({VIA: ["a", "x" * 1000, 1]}) == ["a"]


async def test_a_hanging_server_does_not_delay_lists_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    return Link("one", open_one, SimpleNamespace(), AsyncMock(), LOGGER, lambda *_: None, keep=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(("unreached", "is_lost"), [(2, False), (3, True)])
async def test_running_calls_survive_checks_that_do_not_reach_the_server(
    unreached: int, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "reconnect_delay", lambda _: 0)
    request = AsyncMock(side_effect=[*[UnreachableError("cannot connect")] * unreached, {}])
    checked = make_link([])
    client: Any = SimpleNamespace(stateless=True, request=request)
    checked.connected = client
    with checked.uses:
        checked.check(client)
        assert checked._check is not None
        await checked._check
    assert (checked._blocked == "cannot connect") == is_lost


async def test_a_connection_that_the_host_has_closed_stays_closed() -> None:
    opened: list[str] = []
    closed = make_link(opened)
    await closed.close()
    closed.hasten()
    with pytest.raises(NotConnectedError, match="the host has closed the connection"):
        await closed.client()

    user: Any = SimpleNamespace(link=make_link(opened))
    users = UserLinks("one", 9, lambda _: user, AsyncMock())
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
        items=SimpleNamespace(has=lambda *_: True, version=0),
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


async def test_a_call_that_meets_items_of_another_caller_is_repeated_after_its_own_connection() -> None:
    settled: list[Call] = []
    server = SimpleNamespace(
        name="one",
        config=SimpleNamespace(
            identity="user", callers_log_in=False, prefix=None, timeout=1.0, may_have=lambda *_: True
        ),
        items=SimpleNamespace(has=lambda *_: True, version=0, settled_version=AsyncMock(return_value=1)),
        memory=SimpleNamespace(wait=AsyncMock(return_value=False)),
        allows=lambda *_: bool(settled),
        is_settled=lambda *_: bool(settled),
        settle=AsyncMock(side_effect=settled.append),
    )
    requests = UpstreamRequests("me", [server], 1.0, lambda: None)  # type: ignore[list-item]
    requests.assembled(Inventory({"one_env": Tool("one_env", "", {}, owner="one")}, {}, {}, frozenset(), lambda _: ()))
    hidden = AsyncMock(side_effect=NotFoundError("Unknown tool: one_env"))
    with pytest.raises(RepeatCallError):
        await requests.on_request(Call("tools/call", {"name": "one_env"}, ANONYMOUS), hidden)
    assert settled


async def test_a_server_announces_only_resources_that_were_asked_for() -> None:
    updated: list[str] = []
    context = SimpleNamespace(notifications=SimpleNamespace(resources=SimpleNamespace(updated=updated.append)))

    server: Any = SimpleNamespace(config=SimpleNamespace(identity="host"), use=lambda *_: never(), login=None)
    updates = ResourceUpdates(server)
    updates.follow("x://own", context)  # type: ignore[arg-type]
    for uri in ("x://of-another-server", "x://own", None):
        updates.updated(uri)
    assert updated == ["x://own"]
    await updates.close()


def test_log_messages_pass_without_meta_and_at_a_limited_rate(monkeypatch: pytest.MonkeyPatch) -> None:
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
    for done, total, text in ((inf, 1, ""), (1, inf, None), (10**400, None, "half"), (1, 2, "\x1b[2Jpegboard: done")):
        _report(context, {"progress": done, "total": total, "message": text})
    assert reported == [(1, None, None), (10**400, None, "half"), (1, 2, None)]


def test_the_data_of_an_error_are_limited() -> None:
    for size, kept in ((10, True), (MAX_ERROR_DATA_BYTES, False)):
        data = {"x": "x" * size}
        error = request_error(CLIENT, CLIENT, "tools/call", {}, ProtocolError(-32000, "no", data))
        assert isinstance(error, ProtocolError)
        assert error.data == (data if kept else None)
