"""Content is checked before it is sent. Messages name the member and the problem."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import (
    Annotations,
    EmbeddedResource,
    Icon,
    ImageContent,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceLink,
    ResourceResult,
    TextContent,
    ToolResult,
)
from pegboard.content.function_results import prompt_result, resource_result, tool_result
from pegboard.content.rules import ContentError, checked
from pegboard.errors import ToolOutputError

ANY: Any = None
"""A value of a wrong type that type checkers accept."""


def link(**fields: Any) -> ResourceLink:
    return ResourceLink(**{"uri": "x://y", "name": "y", **fields})


def text(**fields: Any) -> TextContent:
    return TextContent("x", Annotations(**fields))


def complaint(read: Callable[[Any], Any], item: Any) -> str:
    with pytest.raises((ContentError, ToolOutputError)) as rejected:
        read(item)
    return str(getattr(rejected.value, "developer_message", rejected.value))


SOUND = [
    "text",
    text(audience=["user"], priority=0, last_modified="2026-07-28"),
    text(priority=1.0, last_modified=datetime(2026, 1, 1)),  # noqa: DTZ001 - whatever an author has
    ImageContent("", "image/png"),
    link(size=0, icons=(Icon("data:image/png;base64,AA=="),), meta={"com.example/a": None}),
]


@pytest.mark.parametrize("item", SOUND, ids=repr)
def test_valid_content_is_unchanged(item: Any) -> None:
    assert checked(item) == (TextContent(item) if isinstance(item, str) else item)


@pytest.mark.requirement("MSG-23", "RES-14", "TOOL-20")
@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (5, "int is not content: use str, TextContent, ImageContent"),
        (TextContent(5), "TextContent.text: must be a string, not int"),  # type: ignore[arg-type]
        (text(audience="user"), "annotations.audience: must be a list of 'user' or 'assistant', not 'user'"),
        (text(audience=["system"]), "annotations.audience: must be 'user' or 'assistant', not 'system'"),
        (text(priority=1.1), "annotations.priority: must be a number from 0 to 1, not 1.1"),
        (text(priority=True), "must be a number from 0 to 1, not True"),
        (text(last_modified="yesterday"), "annotations.last_modified: must be a time in ISO 8601, not 'yesterday'"),
        (TextContent("x", {"audience": []}), "annotations: must be Annotations, not dict"),  # type: ignore[arg-type]
        (TextContent("x", meta={"progressToken": 1}), "the meta of TextContent: the key 'progressToken' is reserved"),
        (ImageContent(b"", "png"), "ImageContent.mime_type: must be a media type such as image/png, not 'png'"),
        (ImageContent("a", "image/png"), "ImageContent.data: must be base64"),
        (ImageContent([1], "image/png"), "ImageContent.data: must be bytes or a string in base64, not list"),  # type: ignore[arg-type]
        (
            EmbeddedResource(ResourceContents("/x", "")),
            "EmbeddedResource.resource.uri: must be an absolute URI (RFC 3986), not '/x'",
        ),
        (EmbeddedResource(ResourceContents("x:y", ANY)), "content: must be str or bytes, not NoneType"),
        (EmbeddedResource(ResourceContents("x:y", "", None, {"ui": 1})), "the key 'ui' is reserved"),
        (link(uri="y"), "ResourceLink.uri: must be an absolute URI (RFC 3986), not 'y'"),
        (link(size=-1), "ResourceLink.size: must be a number of bytes, not -1"),
        (link(icons=Icon("https://x")), "icons: must be a list of Icon, not Icon"),
        (link(icons=[Icon("javascript:alert(1)")]), "src must be an https:, http: or data: URI, not 'javascript:alert"),
        (link(icons=[Icon("https://x", theme="blue")]), "theme must be 'light' or 'dark', not 'blue'"),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_content_that_the_specification_does_not_allow_is_rejected(item: Any, reason: str) -> None:
    assert reason in complaint(checked, item)


@pytest.mark.parametrize(
    ("item", "record"),
    [
        ({"type": "text", "text": "x", "_meta": {"a": 1}}, TextContent("x", None, {"a": 1})),
        (
            {"type": "resource", "resource": {"uri": "x:y", "text": "t", "mimeType": "a/b"}, "annotations": {}},
            EmbeddedResource(ResourceContents("x:y", "t", "a/b"), Annotations()),
        ),
        (
            {"type": "resource_link", "uri": "x:y", "name": "y", "icons": [{"src": "https://x", "theme": "dark"}]},
            ResourceLink("x:y", "y", icons=(Icon("https://x", theme="dark"),)),
        ),
    ],
)  # fmt: skip
def test_objects_of_the_specification_are_read(item: Any, record: Any) -> None:
    assert checked(item) == record


@pytest.mark.requirement("PROMPT-06", "RES-13")
@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({}, "unknown content type None: use 'text', 'image'"),
        ({"type": "text"}, "content of type 'text' lacks text"),
        ({"type": "text", "text": "x", "colour": "red"}, "content of type 'text' has no member 'colour'"),
        (
            {"type": "text", "text": "x", "annotations": {"last_modified": ""}},
            "annotations has no member 'last_modified'",
        ),
        ({"type": "resource", "resource": {"uri": "x:y"}}, "resource: must have either text or blob"),
        ({"type": "resource", "resource": {"uri": "x:y", "blob": "?"}}, "resource.blob: must be base64"),
    ],
)
def test_objects_that_the_specification_does_not_define_are_rejected(item: Any, reason: str) -> None:
    assert reason in complaint(checked, item)


def same(value: Any) -> Any:
    return value


def of_tool(value: Any) -> ToolResult | None:
    return tool_result(value, same, is_free=True)


def of_prompt(value: Any) -> PromptResult:
    return prompt_result(value, "d")


def of_resource(value: Any) -> ResourceResult:
    return resource_result(value, "x:y", None)


@pytest.mark.parametrize(
    "value", [{"content": "text"}, {"content": [{"type": "x"}]}, {"content": [], "other": 1}, {"content": [5]}, {}]
)
def test_a_value_that_is_not_a_call_tool_result_is_a_value(value: Any) -> None:
    assert of_tool(value) is None


def test_content_is_a_result() -> None:
    assert of_tool(["x", TextContent("y")]) == ToolResult(content=(TextContent("x"), TextContent("y")))
    assert of_tool({"content": [], "structuredContent": None}) == ToolResult(None, True, ())


def test_content_in_place_of_the_declared_type_is_an_error_with_advice() -> None:
    advice = complaint(lambda value: tool_result(value, same, is_free=False), [TextContent("x")])
    assert "annotate the result as content" in advice
    failed = ToolResult(content=(TextContent("x"),), is_error=True)
    assert tool_result(failed, same, is_free=False) == failed
    assert tool_result(ToolResult(5), same, is_free=False) == ToolResult(5, structured=True)


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("x", [PromptMessage("x")]),
        (PromptMessage("x", "assistant"), [PromptMessage("x", "assistant")]),
        (["x", ImageContent(b"", "a/b")], [PromptMessage("x"), PromptMessage(ImageContent(b"", "a/b"))]),
    ],
    ids=repr,
)
def test_the_result_of_a_prompt_becomes_messages(value: Any, messages: list[PromptMessage]) -> None:
    assert of_prompt(value) == PromptResult(tuple(messages), "d")


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("x", [ResourceContents("x:y", "x", "text/plain")]),
        (memoryview(b"x"), [ResourceContents("x:y", b"x", "application/octet-stream")]),
        (["x"], [ResourceContents("x:y", '["x"]', "application/json")]),
        (ResourceContents("x:z", "z"), [ResourceContents("x:z", "z")]),
        (ResourceResult(("x",)), [ResourceContents("x:y", "x", "text/plain")]),  # type: ignore[arg-type]
    ],
    ids=range(5),
)
def test_the_result_of_a_resource_becomes_contents(value: Any, contents: list[ResourceContents]) -> None:
    assert of_resource(value) == ResourceResult(tuple(contents))


@pytest.mark.requirement("PROMPT-04")
@pytest.mark.parametrize(
    ("read", "value", "reason"),
    [
        (of_tool, {"content": [], "isError": "yes"}, "isError: must be true or false, not 'yes'"),
        (of_tool, ToolResult(content="x"), "content: must be a list, not str"),  # type: ignore[arg-type]
        (of_tool, ToolResult(meta={"ui": 1}), "the key 'ui' is reserved"),
        (of_prompt, PromptMessage("x", "system"), "role: must be 'user' or 'assistant', not 'system'"),  # type: ignore[arg-type]
        (of_prompt, {"role": "user", "text": "x"}, "message lacks content"),
        (of_prompt, PromptResult("x"), "messages: must be a list, not str"),  # type: ignore[arg-type]
        (of_resource, [ResourceContents("x:y", "x"), 5], "int"),
        (of_resource, ResourceResult("x"), "contents: must be a list, not str"),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_result_is_an_error_of_its_function(read: Callable[[Any], Any], value: Any, reason: str) -> None:
    assert reason in complaint(read, value)


MEMBERS = ["type", "text", "data", "mimeType", "resource", "uri", "annotations", "audience", "content", "role"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["text", "user", "x:y", "AA=="]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
    max_leaves=8,
)


@given(JSON)
def test_no_value_makes_the_rules_fail(value: Any) -> None:
    for read in (checked, of_prompt, of_tool):
        try:
            read(value)
        except (ContentError, ToolOutputError) as refused:
            assert str(refused)  # noqa: PT017 - not every value is refused
