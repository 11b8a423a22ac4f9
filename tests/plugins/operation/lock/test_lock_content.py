"""The lock has what a host needs to list the items of each owner without importing it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Annotations, Context, Icon, PluginConfig, ToolAnnotations, Toolkit
from pegboard.types import Prompt, PromptArgument, Resource, ResourceTemplate, Tool
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.definition_objects import definition_object
from pegboard_plugins.operation.lock.lock_command import lock_of
from pegboard_plugins.operation.lock.lock_text import lock_text
from pegboard_plugins.support.catalogue_lock import CatalogueLock, LockedOwner
from tests.host.hosting import make_host


class Settings(PluginConfig):
    word: str = "tea"
    api_key: str = ""


def shop(*, lasting: bool = False) -> Toolkit:
    kit = Toolkit("shop", config=Settings, description="A shop.")

    @kit.tool(requires_secrets=["SHOP_KEY"], version="1.2")
    def find(words: str, context: Context[Any]) -> str:
        """Find a cup."""
        return words

    if lasting:

        @kit.lifespan
        async def life(config: Settings) -> AsyncIterator[None]:
            yield

    return kit


def locked(kit: Toolkit, settings: dict[str, Any] | None = None, **host: Any) -> CatalogueLock:
    made = make_host(kit, config={"toolkits": {"shop": settings or {}}}, **host)
    made.load()
    return lock_of(made)


def owner(lock: CatalogueLock) -> LockedOwner:
    return lock.owners["toolkit:shop"]


def test_requirements_hooks_and_the_schema_of_settings_are_recorded() -> None:
    recorded = owner(locked(shop()))
    tool = recorded.tools["shop_find"]
    assert (recorded.description, recorded.hooks, tool.digest) == ("A shop.", (), digest_of(tool.definition))
    assert (tool.definition["requires"], tool.definition["version"]) == ({"secrets": ["SHOP_KEY"]}, "1.2.0")
    assert dict(recorded.settings_schema or {})["properties"].keys() == {"word", "api_key"}
    assert owner(locked(shop(lasting=True))).hooks == ("lifespan",)


def test_settings_are_recorded_as_a_digest_without_secrets() -> None:
    plain, other, secret = (locked(shop(), settings) for settings in ({}, {"word": "milk"}, {"api_key": "canary"}))
    changed = locked(shop(), {"api_key": "another"})
    assert len({owner(lock).settings_digest for lock in (plain, other, secret)}) == 3
    assert owner(secret).settings_digest == owner(changed).settings_digest
    assert b"canary" not in lock_text(secret)
    assert locked(shop(), tool_names="pascal").host_digest != plain.host_digest == locked(shop(), name="x").host_digest


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
