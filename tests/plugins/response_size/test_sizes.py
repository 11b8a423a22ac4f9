"""Warnings about large results."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pegboard import (
    Completion,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceLink,
    ResourceResult,
    TextContent,
    Toolkit,
    ToolResult,
)
from pegboard.types import Call, Failure, Outcome
from pegboard_plugins.response_size import ResponseSizePlugin, size_of
from tests.host.hosting import make_host

PART = ResourceContents("x://r", "\u00e4bc")


@pytest.mark.parametrize(
    ("outcome", "size"),
    [
        (ToolResult(None), 0),
        (ToolResult("abc"), 3),
        (ToolResult("\u00e4bc"), 4),
        (ToolResult("\ud800"), 3),
        (ToolResult({"a": [1, 2]}), 11),
        (ToolResult(content=(TextContent("abc"), ImageContent(b"1234", "image/png"))), 3 + 8),
        (ToolResult(content=(EmbeddedResource(PART), ResourceLink("x://r", "r"))), 4 + 5),
        (ResourceResult((PART, ResourceContents("x://b", b"123"))), 4 + 4),
        (PromptResult((PromptMessage("abc"), PromptMessage(TextContent("d")))), 4),
        (Completion(("abc",)), 0),
    ],
)
def test_a_result_has_the_size_of_what_it_holds(outcome: Outcome, size: int) -> None:
    assert size_of(outcome) == size


REQUESTS: list[tuple[str, dict[str, Any], str]] = [
    ("tools/call", {"name": "x_say"}, "'x_say'"),
    ("resources/read", {"uri": "x://r"}, "'x://r'"),
    ("prompts/get", {"name": "x_p"}, "'x_p'"),
]


@pytest.mark.parametrize(("method", "params", "name"), REQUESTS)
@pytest.mark.parametrize("most", [9, 10])
async def test_what_is_larger_than_the_limit_is_logged(
    method: str, params: dict[str, Any], name: str, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    kit = Toolkit("x")
    kit.tool(name="say", description="Say.")(lambda: "0123456789")
    kit.resource("x://r")(lambda: "0123456789")
    kit.prompt(name="p", description="Ask.")(lambda: "0123456789")
    config = {"plugins": {"size_of_test": {"warn_bytes": most}}}
    async with make_host(kit, plugins={"size_of_test": ResponseSizePlugin}, config=config) as host:
        assert not isinstance(await host.dispatch(Call(method, params)), Failure)
    logged = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert logged == ([f"the result of {method} {name} is large: 10 bytes"] if most < 10 else [])
