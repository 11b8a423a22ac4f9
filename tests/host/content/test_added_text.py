"""Text and `_meta` that middleware adds to results: clients receive the rest as without middleware."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Context, ImageContent, Toolkit, ToolResult
from pegboard.plugin import Plugin, ToolDefinition, around, hookimpl, with_text
from pegboard.types import Call, CallNext, Outcome, RawResult
from pegboard_testing import connect

kit = Toolkit("kit", prefix=False)
IMAGE = ImageContent(b"\x89PNG", "image/png")
RAW = {"content": [{"type": "hologram", "rays": 3}], "structuredContent": {"a": 1}, "future": [1]}
LINE = {"type": "text", "text": "Bye."}
TOOLS = ("text", "number", "record", "nothing", "picture", "labelled_picture", "failure", "mounted")


@kit.tool
def text() -> str:
    """Return text."""
    return "Hello."


@kit.tool
def number() -> int:
    """Return a number."""
    return 5


@kit.tool
def record() -> dict[str, str]:
    """Return an object."""
    return {"a": "é \ud800"}


@kit.tool
def nothing() -> None:
    """Return nothing."""


@kit.tool
def picture() -> list[str | ImageContent]:
    """Return content."""
    return ["A picture:", IMAGE]


@kit.tool
def labelled_picture() -> ToolResult:
    """Return structured content, and content without text."""
    return ToolResult({"a": 1}, structured=True, content=(IMAGE,))


@kit.tool
def failure() -> ToolResult:
    """Return an error."""
    return ToolResult("No.", is_error=True, meta={"a": 1})


async def mounted(arguments: dict[str, Any], context: Context) -> RawResult:
    return RawResult(RAW)


@around("tools/call")
async def sign(call: Call, call_next: CallNext) -> Outcome:
    outcome = with_text(await call_next(call), LINE["text"])
    assert isinstance(outcome, ToolResult | RawResult)
    return outcome.with_meta({"com.example/signed": True})


class Mounted(Plugin):
    @hookimpl
    def register_tools(self) -> list[ToolDefinition]:
        return [ToolDefinition(mounted, raw={"inputSchema": {"type": "object"}})]


class Signed(Mounted):
    @hookimpl
    def register_middleware(self) -> list[Any]:
        return [sign]


@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
@pytest.mark.parametrize("tool", TOOLS)
async def test_a_client_receives_a_result_and_the_line_after_it(tool: str, revision: str) -> None:
    results = []
    for plugin in (Mounted, Signed):
        async with connect(kit, plugin, revision=revision) as client:
            results.append(await client.request("tools/call", {"name": tool, "arguments": {}}))
    plain, signed = results
    assert signed["content"] == [*plain["content"], LINE]
    assert signed["_meta"] == {**plain.get("_meta", {}), "com.example/signed": True}
    assert {**signed, "content": 0, "_meta": 0} == {**plain, "content": 0, "_meta": 0}


async def test_other_outcomes_stay() -> None:
    contents = RawResult({"contents": []})
    assert with_text(contents, "Bye.") is contents
