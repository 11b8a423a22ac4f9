"""The lists of mounted servers: their order, their changes, and templates of any form."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pegboard.plugin import Plugin, PluginContext, ToolDefinition, hookimpl
from pegboard.types import Call, Change, RawResult, ToolkitInfo
from pegboard_plugins.servers.upstreams.served_items import ServedItems
from pegboard_plugins.servers.upstreams.upstream_lists import UpstreamLists
from tests.host.hosting import listed, make_host
from tests.plugins.servers.upstreams.mounts import mounting, names, scripted, tool, tools
from tests.plugins.servers.upstreams.scripted import INITIALIZE


async def test_lists_keep_the_order_of_each_server(tmp_path: Path) -> None:
    servers = {"two": scripted(tmp_path, tools("y", "x")), "one": scripted(tmp_path, tools("z", "a", "_", "B"))}
    async with mounting(servers) as client:
        assert await names(client) == ["one_z", "one_a", "one__", "one_B", "two_y", "two_x"]


class Serving(Plugin):
    """Serves the tools of one list, as a mounted server does."""

    items: ServedItems

    @hookimpl
    def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
        def run(arguments: dict[str, Any]) -> RawResult:
            return RawResult({"content": []})

        def define(_: Any, raw: Any, place: int) -> ToolDefinition:
            return ToolDefinition(run, name=raw["name"], raw=raw, place=place, toolkit=ToolkitInfo("one", prefix=False))

        log = logging.getLogger("tests.upstreams")
        Serving.items = ServedItems("one", context.catalogue, define, log, lambda *_: None)
        return []


def lists(order: str) -> UpstreamLists:
    return UpstreamLists(tools={name: tool(name) for name in order})


ORDERS = ["zam", "maz", "zamb", "bzam", "zbm", "m", "", "azm", "xyw"]
ZAM = ("host", "zam", "zam")
SECOND = [("ann", "zam", "zam"), ("bob", "maz", "zam"), ("bob", "xma", "zamx")]


@pytest.mark.parametrize("published", [*([ZAM, ("host", order, order), ZAM] for order in ORDERS), SECOND])
async def test_a_changed_list_has_the_new_order_and_a_second_connection_keeps_it(published: Any) -> None:
    async with make_host(plugins={"serving": Serving}, page_size=2) as host:
        for holder, order, expected in published:
            await Serving.items.publish(holder, lists(order))
            assert await listed(host) == [*expected]


async def test_a_cursor_continues_behind_a_removed_item() -> None:
    async with make_host(plugins={"serving": Serving}, page_size=2) as host:
        await Serving.items.publish("host", lists("zamb"))
        first: Any = await host.dispatch(Call("tools/list"))
        await Serving.items.publish("host", lists("zmb"))
        second: Any = await host.dispatch(Call("tools/list", {"cursor": first.next_cursor}))
        assert [item.name for item in second.items] == ["m", "b"]


async def test_clients_do_not_list_again_because_a_connection_makes_room() -> None:
    """Their lists would open connections, for which others would make room."""
    async with make_host(plugins={"serving": Serving}) as host:
        for holder in ("ann", "bob"):
            await Serving.items.publish(holder, lists("zam"))
        changes: list[Change] = []
        host.watch(changes.append)
        await Serving.items.forget("ann")
        assert await listed(host) == [*"zam"]
    assert changes == []


async def test_changed_definitions_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(plugins={"serving": Serving}) as host:
        for description in ("first", "first", "changed", "changed"):
            current = {name: tool(name, description=description if name in "abcdefg" else "") for name in "abcdefghi"}
            await Serving.items.publish("host", UpstreamLists(tools=current))
        assert len(await listed(host)) == 9
    lines = [record.getMessage() for record in caplog.records if record.name == "tests.upstreams"]
    names = ", ".join(f"tool '{name}'" for name in "abcde")
    assert lines == [f"one: the server has changed the definition of {names} and 2 more"]


@pytest.mark.parametrize(
    ("template", "uri"),
    [("notes/{id}", "notes/7"), ("{kind}://{+path}", "doc://a/b"), ("{+any}", "doc://a/b"), ("{id}", "7")],
)
async def test_templates_without_a_scheme_are_served(template: str, uri: str, tmp_path: Path) -> None:
    contents = [{"uri": uri, "text": "found"}]
    script = {
        "initialize": {**INITIALIZE, "capabilities": {"resources": {}}},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": template, "name": "t"}]},
        "resources/read": {"contents": contents},
    }
    async with mounting({"one": scripted(tmp_path, script)}, listed=False) as client:
        (served,) = (await client.request("resources/templates/list"))["resourceTemplates"]
        assert served["uriTemplate"] == template
        assert (await client.request("resources/read", {"uri": uri}))["contents"] == contents
