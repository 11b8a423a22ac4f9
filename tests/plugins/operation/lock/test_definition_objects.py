"""Definitions as JSON objects have every member that clients receive."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Annotations, Icon, ToolAnnotations
from pegboard.types import Prompt, PromptArgument, Resource, ResourceTemplate, Tool
from pegboard_plugins.operation.lock.definition_objects import definition_object

SCHEMA = {"type": "object"}
RAW_TOOL = {"name": "far", "description": "", "annotations": {"readOnlyHint": "maybe", "x": 1}, "later": [1]}
RAW_PROMPT = {"name": "far", "arguments": [{"name": "a", "required": "yes", "later": 1}], "icons": [{"src": "x:y"}]}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            Tool("t", "d", SCHEMA, annotations=ToolAnnotations(read_only=False, extra={"e": ""}), icons=(Icon("i:j"),)),
            {"annotations": {"readOnlyHint": False, "e": ""}, "icons": [{"src": "i:j"}], "inputSchema": SCHEMA},
        ),
        (
            Tool("t", "", SCHEMA, annotations=ToolAnnotations(), meta={"a": 1}, raw={**RAW_TOOL, "_meta": {"b": 2}}),
            {"annotations": RAW_TOOL["annotations"], "later": [1], "_meta": {"a": 1}, "name": "t"},
        ),
        (
            Resource("a:b", "r", size=0, annotations=Annotations(audience=["user"], priority=0)),
            {"uri": "a:b", "size": 0, "annotations": {"audience": ["user"], "priority": 0}},
        ),
        (
            ResourceTemplate("a:{b}", "r", mime_type="text/x", raw={"uriTemplate": "c:{b}", "annotations": {"x": 1}}),
            {"uriTemplate": "a:{b}", "mimeType": "text/x", "annotations": {"x": 1}},
        ),
        (
            Prompt("p", arguments=(PromptArgument("a", description="A"),)),
            {"arguments": [{"name": "a", "description": "A", "required": False}]},
        ),
        (
            Prompt("p", arguments=(PromptArgument("a"),), raw=RAW_PROMPT),
            {"name": "p", "arguments": RAW_PROMPT["arguments"], "icons": RAW_PROMPT["icons"]},
        ),
    ],
)
def test_every_member_is_there(item: Any, expected: dict[str, Any]) -> None:
    assert definition_object(item).items() >= expected.items()
