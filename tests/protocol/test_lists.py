"""Lists: pages, order, the fields of each revision, caching, and lists that grow and shrink while the host runs."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import Servers
from tests.support.mcp_client import NEWEST, McpClient, McpServer, values
from tests.support.schemas import MODERN, definitions

LISTS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}
METHODS = {kind: method for method, kind in LISTS.items()}
DEFINITIONS = {"tools": "Tool", "resources": "Resource", "prompts": "Prompt"}
IDENTIFIERS = {"tools": "name", "resources": "uri", "prompts": "name"}


async def pages(client: McpClient, method: str, modern: bool | None = None) -> list[dict[str, Any]]:
    """All pages of a list."""
    results = [await client.result(method, modern=modern)]
    while "nextCursor" in results[-1]:
        results.append(await client.result(method, {"cursor": results[-1]["nextCursor"]}, modern=modern))
    return results


@pytest.mark.requirement("ERA-15", "ERA-17", "LIST-01", "LIST-02", "LIST-03", "LIST-04", "LIST-08")
async def test_pages_together_are_the_whole_list_on_any_instance(servers: Servers, sites: dict[str, Path]) -> None:
    whole = await (await servers.get("http", "fixture")).shared(NEWEST[1])
    short, another = [McpServer("http", sites["fixture"], host="page_size = 2\n") for _ in range(2)]
    async with short, another:
        client, other = await short.client(NEWEST[1]), await another.client(NEWEST[1])
        for method, kind in LISTS.items():
            listing = await pages(client, method)
            assert {len(page[kind]) for page in listing[:-1]} == {2}
            assert len({page.get("cacheScope") for page in listing}) == 1
            items = [item for page in listing for item in page[kind]]
            assert items == (await whole.result(method))[kind]
            assert len({item[IDENTIFIERS[kind]] for item in items}) == len(items) > 2
            for cursor in values(
                "nonsense", "MTA=!", "0", 5, False, [], {}, "\u00e9", "//79", "====", "AA==AA==", "YQ==\n"
            ):
                assert (await client.error(method, {"cursor": cursor}))["code"] == -32602, cursor
        first = await client.result("tools/list")
        assert (await client.result("tools/list", {"cursor": ""}))["tools"] == first["tools"]
        cursor = {"cursor": first["nextCursor"]}
        assert (await client.error("resources/list", cursor))["code"] == -32602
        again = await other.result("tools/list", cursor)
        assert (await client.result("tools/list", cursor))["tools"] == again["tools"]


def nulls(value: Any, path: str = "") -> Iterator[str]:
    """Where a value holds null."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from nulls(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from nulls(item, f"{path}[]")


@pytest.mark.requirement("ERA-07", "LIST-03", "RES-15", "SCHEMA-09", "TOOL-01", "TOOL-07", "TOOL-21", "TOOL-23")
async def test_lists_hold_only_fields_of_the_revision_and_no_null(every: McpClient) -> None:
    """One null in an optional field, or one bad tool, fails a whole list in real clients."""
    known = definitions(every.revision)
    for method, kind in LISTS.items():
        result = await every.result(method, {"_meta": {"progressToken": 1}})
        for item in result[kind]:
            assert item.keys() <= known[DEFINITIONS[kind]]["properties"].keys()
            if "annotations" in item:
                assert item["annotations"].keys() <= known["ToolAnnotations"]["properties"].keys()
        assert [path for path in nulls(result) if not path.endswith("default")] == []
    for tool in ("fixture_nothing", "fixture_refuse"):
        assert set(nulls(await every.call(tool))) <= {".structuredContent"}
    assert (await every.result("resources/templates/list"))["resourceTemplates"] == []
    tools = (await every.result("tools/list"))["tools"]
    assert [tool["name"] for tool in tools] == sorted(tool["name"] for tool in tools)
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools)
    assert all(len(tool["name"]) <= 64 for tool in tools)


async def listed(client: McpClient, kind: str, *, modern: bool | None = None) -> list[str]:
    """The identifiers of a whole list."""
    return [item[IDENTIFIERS[kind]] for page in await pages(client, METHODS[kind], modern) for item in page[kind]]


async def grow(client: McpClient, kind: str, *names: str, **more: str) -> None:
    result = await client.call("grow", kind=kind, names=names, modern=True, **more)
    assert result["structuredContent"] == list(names)


async def shrink(client: McpClient, kind: str, *names: str) -> None:
    assert (await client.call("shrink", kind=kind, names=names, modern=True))["isError"] is False


@pytest.fixture
def growing(sites: dict[str, Path]) -> Any:
    """Start a host whose only tools are `grow` and `shrink`."""
    return lambda more="": McpServer("http", sites["growing"], more=more, host='plugins = ["growing"]\npage_size = 2\n')


@pytest.mark.requirement("LIST-01", "LIST-08", "LIST-09")
@pytest.mark.parametrize("revision", NEWEST)
async def test_a_list_shows_the_current_tools_though_pages_are_cached(growing: Any, revision: str) -> None:
    async with growing() as server:
        client = await server.client(revision)
        assert await listed(client, "tools") == ["grow", "shrink"]
        for name in ("a", "grow", "never there", "\u00e9", "\x00", "zz"):  # a cursor of any name is a page
            cursor = base64.urlsafe_b64encode(f"tools:{name}".encode()).decode()
            page = await client.result("tools/list", {"cursor": cursor})
            assert [tool["name"] for tool in page["tools"]] == [tool for tool in ("grow", "shrink") if tool > name]
        await grow(client, "tools", "c", "a", "z")
        assert await listed(client, "tools") == ["a", "c", "grow", "shrink", "z"]
        assert await client.text("z") == "z"
        await shrink(client, "tools", "a", "z")
        assert await listed(client, "tools") == ["c", "grow", "shrink"]
        assert (await client.error("tools/call", {"name": "z", "arguments": {}}))["code"] == -32602
        await grow(client, "tools", "a", "b", "d")
        page = await client.result("tools/list")
        await shrink(client, "tools", "b", "c")  # the cursor goes on behind them
        page = await client.result("tools/list", {"cursor": page["nextCursor"]})
        assert [tool["name"] for tool in page["tools"]] == ["d", "grow"]
        if client.modern:
            await grow(client, "tools", "z", scope="x")  # a list that is shorter for other callers is private
            await grow(client, "prompts", "p")
            assert {page["cacheScope"] for page in await pages(client, "tools/list")} == {"private"}
            assert (await client.result("prompts/list"))["cacheScope"] == "public"
            await shrink(client, "tools", "z")
            assert {page["cacheScope"] for page in await pages(client, "tools/list")} == {"public"}


@pytest.mark.requirement("ERA-07", "ERA-08", "ERA-09", "PROMPT-07")
@pytest.mark.parametrize("revision", NEWEST)
async def test_a_capability_comes_with_the_first_of_its_kind_and_to_later_sessions(growing: Any, revision: str) -> None:
    """A session has what its handshake advertised; a capability that is not advertised has no methods."""
    async with growing() as server:
        for kind, name in (("resources", "x://late"), ("prompts", "late")):
            client = await server.client(revision)
            assert kind not in (await client.server())["capabilities"]
            assert (await client.error(METHODS[kind]))["code"] == -32601
            await grow(client, kind, name)
            if not client.modern:
                assert (await client.error(METHODS[kind]))["code"] == -32601
                client = await server.client(revision)
            assert kind in (await client.server())["capabilities"]
            assert await listed(client, kind) == [name]
            await shrink(client, kind, name)
            assert await listed(client, kind) == []
            assert kind in (await client.server())["capabilities"]


@pytest.mark.requirement("LIST-05", "LIST-06", "LIST-11")
async def test_lists_may_be_cached_as_the_operator_says_and_contents_as_the_author_says(growing: Any) -> None:
    async with growing("[plugins.mcp]\nlist_ttl_ms = 10\ntools_ttl_ms = 0\nprompts_ttl_ms = 30") as server:
        client = await server.client(MODERN[-1])
        await grow(client, "resources", "x://a", "x://kept")
        await grow(client, "prompts", "a")
        methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover")
        assert [(await client.result(method))["ttlMs"] for method in methods] == [0, 10, 10, 30, 10]
        for uri, kept in (("x://a", (0, "private")), ("x://kept", (5000, "public"))):
            read = await client.result("resources/read", {"uri": uri})
            assert (read["ttlMs"], read["cacheScope"]) == kept
