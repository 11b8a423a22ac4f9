"""The metadata, annotations and `_meta` of a tool: checked, compared and shown."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from pegboard import Behavior, Classification, Operation, ServiceDomain, ToolAnnotations, Toolkit, ToolMetadata
from pegboard.types import Tool
from tests.host.hosting import make_host, work

METADATA = "pegboard/metadata"


def outcome(**options: Any) -> tuple[Tool | None, str]:
    """Return a tool with these options, None if it is not served, and the messages for the operator."""
    kit = Toolkit("x")
    kit.tool(**options)(work)
    kit.tool(name="other")(work)
    assembly = make_host(kit).load()
    assert "x_other" in assembly.tools
    bound = assembly.tools.get("x_work")
    return (bound and bound.tool, "\n".join(map(str, assembly.problems)))


def served(**options: Any) -> Tool:
    tool, problems = outcome(**options)
    assert tool is not None, problems
    assert problems == ""
    return tool


def refused(**options: Any) -> str:
    """Return the message for the operator without the tool, its file and its line."""
    tool, problems = outcome(**options)
    assert tool is None
    place = f"tool 'work' ({work.__code__.co_filename}:{work.__code__.co_firstlineno}): "
    _, separator, complaint = problems.partition(place)
    assert separator, problems
    return complaint.removesuffix("; it is not served")


class Own(str, Enum):  # noqa: UP042 - its texts print as Own.PIGEONS
    PIGEONS = "pigeon_post"


def test_metadata_is_copied_as_plain_json_and_makes_annotations() -> None:
    extras: dict[str, Any] = {"levels": (1, 2.5, None, True), "nested": {Own.PIGEONS: [Own.PIGEONS]}}
    behavior = Behavior([Operation.READ, "update"], read_only=False, destructive=False, idempotent=True)
    metadata = ToolMetadata(Classification([ServiceDomain.EMAIL, Own.PIGEONS]), behavior, extras)
    tool = served(metadata=metadata, meta={"com.example/own": 1})
    extras["nested"][Own.PIGEONS].append("more")
    assert tool.meta is not None
    shown = tool.meta[METADATA]
    assert shown["classification"] == {"service_domains": ["email", "pigeon_post"]}
    assert shown["behavior"]["operations"] == ["read", "update"]
    assert shown["extras"] == {"levels": [1, 2.5, None, True], "nested": {"pigeon_post": ["pigeon_post"]}}
    assert {type(text) for text in (*shown["classification"]["service_domains"], *shown["extras"]["nested"])} == {str}
    assert tool.annotations == ToolAnnotations(None, False, False, True)
    assert served(metadata=ToolMetadata(Classification(), Behavior(), {})).meta is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            ToolMetadata(behavior=Behavior(["read", "update"], read_only=True)),
            "read_only=True contradicts the operations: update",
        ),
        (
            ToolMetadata(behavior=Behavior(["delete"], destructive=False)),
            "destructive=False contradicts the operation delete",
        ),
        (
            ToolMetadata(Classification(["email"]), Behavior(open_world=False)),
            "open_world=False contradicts the service domains email",
        ),
    ],
)
def test_a_contradiction_disables_the_tool_unless_it_is_not_strict(metadata: ToolMetadata, message: str) -> None:
    complaint = refused(metadata=metadata)
    assert complaint.startswith("its metadata: ")
    assert message in complaint
    assert complaint.endswith("change one of the two values, or set strict=False to keep both")
    served(metadata=metadata._replace(strict=False))


WRONG: Any = 5
CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (ToolAnnotations(extra={"readOnlyHint": True}), "not allowed in extra. Write ToolAnnotations(read_only=...)"),
        (ToolAnnotations(extra={"a\u202eb": 1}), "in extra: use one such as com.example/name"),
        ({"behavior": {}}, "it must be ToolMetadata, not dict"),
        (ToolMetadata(WRONG), "its classification must be Classification, not 5"),
        (ToolMetadata(behavior=Behavior(["write"])), "use one of read, create, update, delete, opaque"),
        (ToolMetadata(extras={"a": {"b": [object]}}), "extras['a']['b'][0] must be JSON, not <class 'object'>"),
        (ToolMetadata(extras=CYCLE), "extras is nested more than 100 levels deep"),
    ],
)
def test_invalid_metadata_or_annotations_disable_the_tool(metadata: Any, message: str) -> None:
    option = "annotations" if isinstance(metadata, ToolAnnotations) else "metadata"
    assert message in refused(**{option: metadata})


def test_annotations_come_before_metadata() -> None:
    behavior = Behavior(read_only=False, destructive=True, open_world=True)
    annotations = ToolAnnotations("Title", read_only=False, idempotent=True, extra={"com.example/a": ("a", 1)})
    tool = served(annotations=annotations, metadata=ToolMetadata(behavior=behavior))
    assert tool.annotations == ToolAnnotations("Title", False, True, True, True, {"com.example/a": ["a", 1]})
    assert tool.title == "Title"


def test_annotations_and_metadata_must_agree_unless_it_is_not_strict() -> None:
    annotations, behavior = ToolAnnotations(open_world=True), Behavior(open_world=False)
    complaint = refused(annotations=annotations, metadata=ToolMetadata(behavior=behavior))
    assert complaint.startswith("its annotations say open_world=True and its metadata open_world=False. Remove one")
    tool = served(annotations=annotations, metadata=ToolMetadata(behavior=behavior, strict=False))
    assert tool.annotations == annotations


def test_a_read_only_tool_cannot_be_destructive() -> None:
    sense = "a read_only tool cannot be destructive: remove one of the two hints"
    assert refused(annotations=ToolAnnotations(read_only=True, destructive=True)) == sense
    split = ToolMetadata(behavior=Behavior(destructive=True))
    assert refused(annotations=ToolAnnotations(read_only=True), metadata=split) == sense
    served(annotations=ToolAnnotations(read_only=True), metadata=split._replace(strict=False))
