"""Servers that break the rules: their items are limited and checked, and no other server is affected."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from pegboard.plugin import Plugin, PluginContext, ToolDefinition, hookimpl
from pegboard_plugins.servers.upstreams import link, upstream_lists
from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, tool, tools
from tests.plugins.servers.upstreams.scripted import INITIALIZE
from tests.support.schemas import check

GOOD = tool("good")


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
async def test_a_member_for_which_clients_would_reject_the_list_is_not_listed(
    kind: str, invalid: dict[str, Any], tmp_path: Path
) -> None:
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
    "pages",
    [
        [{"tools": [GOOD], "nextCursor": "same"}],
        [{"tools": [GOOD], "nextCursor": str(number)} for number in range(300)],
        [{"tools": [GOOD]}],
    ],
)
async def test_endless_pages_end(pages: list[Any], tmp_path: Path) -> None:
    async with mounting({"one": scripted(tmp_path, {"tools/list": pages})}) as client:
        assert await names(client) == ["one_good"]


async def test_lists_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upstream_lists, "MAX_ITEMS", 3)
    servers = {"one": scripted(tmp_path, tools("a", "b", "c", "d"))}
    async with mounting(servers) as client:
        assert await names(client) == ["one_a", "one_b", "one_c"]
    monkeypatch.setattr(upstream_lists, "MAX_LIST_BYTES", 150)
    async with mounting(servers) as client:
        assert len(await names(client)) == 2
    assert "the others are not served" in caplog.text


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": None}, {"tools": [], "nextCursor": 7}])
async def test_malformed_lists_are_empty(result: Any, tmp_path: Path) -> None:
    async with mounting(
        {"one": scripted(tmp_path, {"tools/list": result}), "two": scripted(tmp_path, tools("x"))}
    ) as client:
        assert await names(client) == ["two_x"]


async def test_a_name_in_use_is_reported_and_not_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Own(Plugin):
        @hookimpl
        def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
            return [ToolDefinition(lambda: "own", name="one_taken", description="Own.")]

    async with mounting({"one": scripted(tmp_path, tools("taken", "free"))}, plugins={"own": Own}) as client:
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


async def test_a_server_that_never_confirms_subscriptions_is_connected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
