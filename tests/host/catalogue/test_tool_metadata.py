"""The metadata, annotations and `_meta` of a tool: checked, compared and shown."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import Any

import pytest

from pegboard import Behavior, Classification, Operation, ServiceDomain, ToolAnnotations, Toolkit, ToolMetadata
from pegboard.types import Tool
from tests.host.hosting import make_host

METADATA = "pegboard/metadata"
HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}


def work() -> str:
    """Work."""
    return ""


async def outcome(**options: Any) -> tuple[Tool | None, str]:
    """Return a tool with these options, None if it is not served, and the messages for the operator."""
    kit = Toolkit("x")
    kit.tool(**options)(work)
    kit.tool(name="other")(work)
    async with make_host(kit) as host:
        assert "x_other" in host.assembly.tools
        found = host.assembly.tools.get("x_work")
        return (found and found.tool, "\n".join(map(str, host.problems)))


async def served(**options: Any) -> Tool:
    tool, told = await outcome(**options)
    assert tool is not None, told
    assert told == ""
    return tool


async def refused(**options: Any) -> str:
    """Return the message for the operator without the tool, its file and its line."""
    tool, told = await outcome(**options)
    assert tool is None
    place = f"tool 'work' ({__file__}:{work.__code__.co_firstlineno}): "
    _, found, complaint = told.partition(place)
    assert found, told
    assert complaint.endswith("; it is not served")
    return complaint.removesuffix("; it is not served")


# --- metadata


async def test_metadata_is_kept_and_shown() -> None:
    metadata = ToolMetadata(
        Classification([ServiceDomain.EMAIL, "acme_pigeon_post"]),
        Behavior([Operation.READ, "update"], read_only=False, destructive=False, idempotent=True, open_world=True),
        {"idp": "entraID", "levels": (1, 2.5, None, True), "nested": {"a": []}},
    )
    tool = await served(metadata=metadata, meta={"com.example/own": 1})
    plain = {"idp": "entraID", "levels": [1, 2.5, None, True], "nested": {"a": []}}
    assert tool.metadata is not None
    assert tool.metadata.classification == Classification(("email", "acme_pigeon_post"))
    assert tool.metadata.behavior == Behavior(("read", "update"), False, False, True, True)
    assert tool.metadata.extras == plain
    assert tool.meta == {
        "com.example/own": 1,
        METADATA: {
            "classification": {"service_domains": ["email", "acme_pigeon_post"]},
            "behavior": {
                "operations": ["read", "update"],
                "read_only": False,
                "destructive": False,
                "idempotent": True,
                "open_world": True,
            },
            "extras": plain,
        },
    }
    assert tool.annotations == ToolAnnotations(None, False, False, True, True)


async def test_the_record_is_copied_as_plain_json() -> None:
    class Own(str, Enum):  # noqa: UP042 - its texts print as Own.PIGEONS
        PIGEONS = "pigeon_post"

    domains = [Own.PIGEONS]
    extras: dict[str, Any] = {Own.PIGEONS: [Own.PIGEONS]}
    kit = Toolkit("x")
    kit.tool(metadata=ToolMetadata(Classification(domains), extras=extras))(work)
    async with make_host(kit) as host:
        extras[Own.PIGEONS].append(Own.PIGEONS)
        domains.append(Own.PIGEONS)
        meta = host.assembly.tools["x_work"].tool.meta
    assert meta is not None
    shown = meta[METADATA]
    (domain,) = shown["classification"]["service_domains"]
    ((key, (value,)),) = shown["extras"].items()
    assert [(one, type(one)) for one in (domain, key, value)] == [("pigeon_post", str)] * 3


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [
        (ToolMetadata(), None),
        (ToolMetadata(Classification(), Behavior(), {}), None),
        (ToolMetadata(behavior=Behavior(["read"])), {"behavior": {"operations": ["read"]}}),
        (ToolMetadata(extras={"a": None}), {"extras": {"a": None}}),
        (ToolMetadata(Classification(["crm"]), strict=False), {"classification": {"service_domains": ["crm"]}}),
    ],
)
async def test_empty_metadata_is_not_shown(metadata: ToolMetadata, shown: Any) -> None:
    tool = await served(metadata=metadata)
    assert tool.meta == (None if shown is None else {METADATA: shown})
    assert tool.annotations is None


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        (ToolMetadata(behavior=Behavior(["create"], read_only=True)), "it is read_only, but its operations change"),
        (ToolMetadata(behavior=Behavior(["read", "update"], read_only=True)), "operations change something: update"),
        (ToolMetadata(behavior=Behavior(["opaque"], read_only=True)), "it is read_only, but its operations are opaque"),
        (ToolMetadata(behavior=Behavior(["delete"], destructive=False)), "it is not destructive, but it deletes"),
        (
            ToolMetadata(Classification(["email"]), Behavior(open_world=False)),
            "it stays within this process (open_world=False), but works on a service: email",
        ),
    ],
)
async def test_a_contradiction_disables_the_tool_unless_it_is_not_strict(metadata: ToolMetadata, told: str) -> None:
    complaint = await refused(metadata=metadata)
    assert complaint.startswith("its metadata: ")
    assert told in complaint
    assert complaint.endswith("correct one of them, or set strict=False if both are true")
    tool = await served(metadata=metadata._replace(strict=False))
    assert tool.metadata == metadata._replace(
        strict=False,
        classification=metadata.classification and Classification(tuple(metadata.classification.service_domains)),
        behavior=metadata.behavior and metadata.behavior._replace(operations=tuple(metadata.behavior.operations)),
    )


@pytest.mark.parametrize(
    "metadata",
    [
        ToolMetadata(behavior=Behavior(["read"], read_only=True)),
        ToolMetadata(behavior=Behavior(["opaque"], read_only=False)),
        ToolMetadata(behavior=Behavior(["opaque"])),
        ToolMetadata(behavior=Behavior(["delete"], destructive=True)),
        ToolMetadata(behavior=Behavior(["create", "update"], destructive=False)),
        ToolMetadata(Classification(["email"]), Behavior(open_world=True)),
        ToolMetadata(Classification(), Behavior(open_world=False)),
    ],
)
async def test_consistent_metadata_is_served(metadata: ToolMetadata) -> None:
    await served(metadata=metadata)


WRONG: Any = 5
CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE
DEEP: Any = 1
for _ in range(101):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"behavior": {}}, "it must be ToolMetadata, not dict"),
        (ToolMetadata(WRONG), "its classification must be Classification, not 5"),
        (ToolMetadata(behavior=WRONG), "its behavior must be Behavior, not 5"),
        (ToolMetadata(extras=WRONG), "its extras must be a dict, not 5"),
        (ToolMetadata(strict=WRONG), "its strict must be true or false, not 5"),
        (ToolMetadata(Classification("email")), "its service_domains must be a list, not 'email'"),
        (ToolMetadata(Classification([WRONG])), "its service_domains must be strings, not 5"),
        (ToolMetadata(Classification(["Email"])), "did you mean 'email'?"),
        (ToolMetadata(Classification([""])), "the service domain '' is not in snake case of at most 64 characters"),
        (ToolMetadata(Classification(["é"])), "the service domain 'é'"),
        (ToolMetadata(Classification(["a" * 65])), "of at most 64 characters"),
        (ToolMetadata(behavior=Behavior("read")), "its operations must be a list, not 'read'"),
        (ToolMetadata(behavior=Behavior(["write"])), "there are: read, create, update, delete, opaque"),
        (ToolMetadata(behavior=Behavior(read_only=WRONG)), "its read_only must be true or false, not 5"),
        (ToolMetadata(extras={"a": {"b": [object]}}), "extras['a']['b'][0] must be JSON, not <class 'object'>"),
        (
            ToolMetadata(extras={"when": datetime.date(2026, 1, 1)}),
            "extras['when'] must be JSON, not datetime.date(2026, 1, 1)",
        ),
        (ToolMetadata(extras={"a": float("nan")}), "extras['a'] must be JSON, not nan"),
        (ToolMetadata(extras={"a": {WRONG: 1}}), "extras['a'] must have string keys, not 5"),
        (ToolMetadata(extras=CYCLE), "extras is nested more than 100 levels deep"),
        (ToolMetadata(extras=DEEP), "extras is nested more than 100 levels deep"),
    ],
)
async def test_invalid_metadata_disables_the_tool(metadata: Any, told: str) -> None:
    complaint = await refused(metadata=metadata)
    assert complaint.startswith("its metadata: ")
    assert told in complaint


# --- annotations


async def test_annotations_come_before_metadata() -> None:
    behavior = Behavior(read_only=False, destructive=True, open_world=True)
    annotations = ToolAnnotations("Title", read_only=False, idempotent=True, extra={"com.example/a": ("a", 1)})
    tool = await served(annotations=annotations, metadata=ToolMetadata(behavior=behavior))
    assert tool.annotations == ToolAnnotations("Title", False, True, True, True, {"com.example/a": ["a", 1]})
    assert (await served(annotations=annotations, metadata=ToolMetadata(extras={"a": 1}))).title == "Title"
    assert tool.title == "Title"


@pytest.mark.parametrize("name", HINTS.values())
async def test_annotations_and_metadata_must_agree_unless_it_is_not_strict(name: str) -> None:
    annotations, behavior = ToolAnnotations(**{name: True}), Behavior(**{name: False})  # type: ignore[arg-type]
    complaint = await refused(annotations=annotations, metadata=ToolMetadata(behavior=behavior))
    assert complaint == (
        f"its annotations say {name}=True and its metadata {name}=False; "
        "remove one, or set strict=False in the metadata"
    )
    tool = await served(annotations=annotations, metadata=ToolMetadata(behavior=behavior, strict=False))
    assert tool.annotations == annotations


async def test_a_read_only_tool_cannot_be_destructive() -> None:
    sense = "it is read_only and destructive; remove one of the hints"
    assert await refused(annotations=ToolAnnotations(read_only=True, destructive=True)) == sense
    split = ToolMetadata(behavior=Behavior(destructive=True))
    assert await refused(annotations=ToolAnnotations(read_only=True), metadata=split) == sense
    await served(annotations=ToolAnnotations(read_only=True), metadata=split._replace(strict=False))
    await served(annotations=ToolAnnotations(read_only=False, destructive=True))
    await served(annotations=ToolAnnotations(read_only=True, destructive=False))


@pytest.mark.parametrize(
    ("annotations", "told"),
    [
        ({"readOnlyHint": True}, "must be ToolAnnotations(read_only=..., extra={...}), not"),
        (ToolAnnotations(extra=WRONG), "its annotations: extra must be a dict, not 5"),
        *(
            (
                ToolAnnotations(extra={name: True}),
                f"{name!r} is not allowed in extra; write ToolAnnotations({argument}=...)",
            )
            for hint, argument in HINTS.items()
            for name in (hint, argument)
        ),
        (ToolAnnotations(extra={"title": "x"}), "'title' is not allowed in extra"),
        (ToolAnnotations(extra={"": 1}), "invalid name '' in extra: use one such as com.example/name"),
        (ToolAnnotations(extra={"a\u202eb": 1}), "in extra: use one such as"),
        (ToolAnnotations(extra={WRONG: 1}), "extra must have string keys, not 5"),
        (ToolAnnotations(extra={"a": object}), "extra['a'] must be JSON, not <class 'object'>"),
        (ToolAnnotations(extra=DEEP), "extra is nested more than 100 levels deep"),
    ],
)  # fmt: skip
async def test_invalid_annotations_disable_the_tool(annotations: Any, told: str) -> None:
    assert told in await refused(annotations=annotations)
