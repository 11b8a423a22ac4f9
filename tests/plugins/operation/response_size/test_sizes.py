"""Warnings about large results."""

from __future__ import annotations

import logging

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
from pegboard_plugins.operation.response_size import ResponseSizePlugin, size_of
from tests.host.hosting import make_host

PART = ResourceContents("x://r", "\u00e4bc")


@pytest.mark.parametrize(
    ("outcome", "size"),
    [
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
def test_the_size_of_a_result_is_that_of_its_contents(outcome: Outcome, size: int) -> None:
    assert size_of(outcome) == size


@pytest.mark.parametrize("limit", [9, 10])
async def test_a_result_beyond_the_limit_is_logged(limit: int, caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit("x")
    kit.tool(name="say", description="Say.")(lambda: "0123456789")
    kit.resource("x://r")(lambda: "0123456789")
    requests = [("tools/call", {"name": "x_say"}, "'x_say'"), ("resources/read", {"uri": "x://r"}, "'x://r'")]
    config = {"plugins": {"size_of_test": {"warn_bytes": limit}}}
    async with make_host(kit, plugins={"size_of_test": ResponseSizePlugin}, config=config) as host:
        for method, params, _ in requests:
            assert not isinstance(await host.dispatch(Call(method, params)), Failure)
    logged = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    expected = [f"the result of {method} {name} is large: 10 bytes" for method, _, name in requests]
    assert logged == (expected if limit < 10 else [])
