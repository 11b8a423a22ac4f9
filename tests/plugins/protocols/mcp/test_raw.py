"""Definitions and results of other servers pass to clients unchanged, in the form of each revision."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pegboard import Context, ToolResult
from pegboard.plugin import (
    Middleware,
    Plugin,
    PromptDefinition,
    ProtocolError,
    ResourceDefinition,
    ToolDefinition,
    hookimpl,
)
from pegboard.types import Call, CallNext, Outcome, RawResult
from pegboard_plugins.protocols.mcp.raw_objects import raw_result
from pegboard_testing import connect
from tests.host.hosting import kit_of, plugin_of, work

LOOK = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}, "$schema": "urn:unknown"}
TOOL: dict[str, Any] = {
    "name": "a.b",
    "inputSchema": LOOK,
    "outputSchema": {"$schema": "urn:unknown", "anyOf": [{"type": "integer"}, {"type": "object"}]},
    "annotations": {"readOnlyHint": True, "destructiveHint": True, "future": 1},
    "icons": [{"src": "x:y", "shape": "round"}],
    "_meta": {"io.modelcontextprotocol/x": 1},
    "execution": {"taskSupport": "required"},
    "future": {"b": [None]},
}
RESULT: dict[str, Any] = {
    "content": [{"type": "hologram", "rays": 3}, {"type": "text", "text": "t", "annotations": {"priority": 7}}],
    "structuredContent": 5,
    "isError": False,
    "_meta": {
        "k": 1,
        "io.modelcontextprotocol/serverInfo": {"name": "other", "version": "1"},
        "io.modelcontextprotocol/subscriptionId": 1,
    },
    "resultType": "complete",
    "future": [1],
}
READ = {"contents": [{"uri": "m://1", "text": "t", "future": 1}], "ttlMs": 5, "cacheScope": "private", "later": {}}
PROMPT: dict[str, Any] = {"name": "p", "arguments": [{"name": "topic", "required": True, "future": 1}]}
MESSAGES = {"messages": [{"role": "tool", "content": {"type": "hologram"}}], "description": "d", "later": 1}


class Proxy(Plugin):
    """A plugin with definitions of another server."""

    async def call(self, arguments: dict[str, Any], context: Context) -> RawResult:
        return RawResult({**RESULT, "arguments": arguments})

    async def read(self, uri: str, context: Context) -> RawResult:
        return RawResult({**READ, "uri": uri})

    async def prompt(self, arguments: Mapping[str, str], context: Context) -> RawResult:
        return RawResult({**MESSAGES, "arguments": arguments})

    async def complete(self, value: str, context: Context) -> list[str]:
        return [f"{value}, {context.arguments}"]

    @hookimpl
    def register_tools(self) -> list[ToolDefinition]:
        whole = ToolDefinition(self.call, name="a_b", raw=TOOL)
        return [whole, whole._replace(name="tiny", max_result=9)]

    @hookimpl
    def register_resources(self) -> list[ResourceDefinition]:
        def subscribed(uri: str, context: Context) -> None:
            asyncio.get_running_loop().call_soon(context.notifications.resources.updated, uri)

        about = {"name": "n", "annotations": {"audience": ["robot"]}, "future": 1}
        return [
            ResourceDefinition("m://1", self.read, raw={"uri": "m://1", "size": "big", **about}),
            ResourceDefinition(
                "m://{+rest}", self.read, raw=about, completions={"rest": self.complete}, subscribed=subscribed
            ),
        ]

    @hookimpl
    def register_prompts(self) -> list[PromptDefinition]:
        return [PromptDefinition(self.prompt, name="p", raw=PROMPT, completions={"topic": self.complete})]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2026-07-28"])
async def test_raw_definitions_and_results_pass_unchanged(revision: str) -> None:
    is_new, structured = revision == "2026-07-28", revision >= "2025-06-18"
    async with connect(Proxy, revision=revision) as client:
        listed = (await client.request("tools/list"))["tools"][0]
        expected = {name: member for name, member in TOOL.items() if name not in ("execution", "icons")}
        wrapped: dict[str, Any] = {"$schema": "urn:unknown", "type": "object", "required": ["result"]}
        wrapped["properties"] = {"result": {"anyOf": TOOL["outputSchema"]["anyOf"]}}
        if not structured:
            del expected["outputSchema"], expected["annotations"], expected["_meta"]
        elif is_new:
            expected["icons"] = TOOL["icons"]
        else:
            expected["outputSchema"] = wrapped
        assert listed == {**expected, "name": "a_b"}
        result = await client.request("tools/call", {"name": "a_b", "arguments": {"a": 1, "z": None}})
        assert result["content"] == RESULT["content"]
        assert (result["future"], result["arguments"], result["_meta"]["k"]) == ([1], {"a": 1, "z": None}, 1)
        assert ("io.modelcontextprotocol/serverInfo" in result["_meta"], "resultType" in result) == (is_new, is_new)
        assert "io.modelcontextprotocol/subscriptionId" not in result["_meta"]
        content = 5 if is_new else {"result": 5}
        assert result.get("structuredContent") == (content if structured else None)


@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
async def test_raw_resources_templates_and_prompts(revision: str) -> None:
    async with connect(Proxy, revision=revision) as client:
        (resource,) = (await client.request("resources/list"))["resources"]
        assert resource["future"] == 1
        assert resource.keys().isdisjoint({"size", "annotations"})  # clients would reject the list for their values
        (template,) = (await client.request("resources/templates/list"))["resourceTemplates"]
        assert (template["uriTemplate"], template["future"]) == ("m://{+rest}", 1)
        for uri in ("m://1", "m://a/b"):
            read = await client.request("resources/read", {"uri": uri})
            assert (read["contents"], read["uri"], read["later"]) == (READ["contents"], uri, {})
            assert read.get("ttlMs") == (5 if revision == "2026-07-28" else None)
        (prompt,) = (await client.request("prompts/list"))["prompts"]
        assert prompt["arguments"] == PROMPT["arguments"]
        result = await client.request("prompts/get", {"name": "p", "arguments": {"topic": "x", "odd": "y"}})
        assert (result["messages"], result["later"]) == (MESSAGES["messages"], 1)
        assert result["arguments"] == {"topic": "x", "odd": "y"}
        for ref, name in (
            ({"type": "ref/prompt", "name": "p"}, "topic"),
            ({"type": "ref/resource", "uri": "m://{+rest}"}, "rest"),
        ):
            params = {"ref": ref, "argument": {"name": name, "value": "v"}, "context": {"arguments": {"o": "1"}}}
            completed = await client.request("completion/complete", params)
            assert completed["completion"]["values"] == ["v, {'o': '1'}"]


async def test_the_host_limits_the_size_of_raw_results() -> None:
    async with connect(Proxy, revision="2026-07-28") as client:
        result = await client.request("tools/call", {"name": "tiny", "arguments": {}})
        assert (result["isError"], "more than 9 bytes" in result["content"][0]["text"]) == (True, True), result


@pytest.mark.parametrize(
    ("block", "revision", "sent"),
    [
        ({"type": "audio", "mimeType": "a/b"}, "2024-11-05", "[Audio of type a/b, which this revision"),
        ({"type": "resource_link", "uri": "u:v", "name": "n", "description": "d"}, "2025-03-26", "n: u:v\nd"),
    ],
)
def test_types_that_a_revision_lacks_become_text(block: dict[str, Any], revision: str, sent: str) -> None:
    (text_block,) = raw_result({"content": [block]}, revision, is_wrapped=False)["content"]
    assert (text_block["type"], text_block["text"].startswith(sent)) == ("text", True)
    (message,) = raw_result({"messages": [{"content": block}]}, revision, is_wrapped=False)["messages"]
    assert message["content"] == text_block


def test_a_result_that_an_old_revision_would_lose_becomes_text() -> None:
    result = raw_result({"structuredContent": {"a": 1}}, "2025-03-26", is_wrapped=False)
    assert result == {"content": [{"type": "text", "text": '{"a":1}'}]}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"inputSchema": {"type": "array"}}, 'with `"type": "object"`'),
        ({"inputSchema": {"type": "object", "properties": {"a": 1}}}, "properties must be schemas"),
        ({"inputSchema": {"type": "object", "required": "a"}}, "required must be a list"),
        ({**TOOL, "outputSchema": 1}, "outputSchema must be an object"),
        ({**TOOL, "description": "hidden\u200b"}, "description"),
        ({**TOOL, "deep": {"x": "\u202e"}}, "deep.x"),
        ({**TOOL, "big": "x" * 2**20}, "the limit is 1,048,576"),
        (5, "must be an MCP object"),
    ],
)
async def test_a_definition_that_harms_clients_is_reported(raw: Any, message: str) -> None:
    class Harmful(Proxy):
        @hookimpl
        def register_tools(self) -> list[ToolDefinition]:
            return [ToolDefinition(self.call, name="a_b", raw=raw)]

    async with connect(Harmful, strict=False) as client:
        assert await client.tools() == []
        assert any(message in str(problem) for problem in client.problems)


@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
async def test_a_resource_learns_of_subscriptions(revision: str) -> None:
    async with connect(Proxy, revision=revision) as client:
        await client.listen("m://2")
        heard = await client.heard("notifications/resources/updated")
        assert heard["params"]["uri"] == "m://2"


@pytest.mark.parametrize("changes", [{"value": object()}, {"meta": 5}], ids=["value", "type"])
async def test_unencodable_outcomes_have_an_error_id(changes: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    class Spoiling(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call)
            assert isinstance(outcome, ToolResult)
            return outcome._replace(**changes)

    plugins = {"spoiler": plugin_of(middleware=[Spoiling()])}
    async with connect(kit_of(work), plugins=plugins, revision="2026-07-28") as client:
        with pytest.raises(ProtocolError, match="Internal error") as caught:
            await client.call("work")
    assert f"error {caught.value.data['errorId']} in tools/call 'work': TypeError: " in caplog.text
