"""The canonical form, the text of a lock, and the differences between two locks."""

from __future__ import annotations

import json
import random
from datetime import date
from typing import Any

import pytest

from pegboard.plugin.definition_checks import CheckedDefinition
from pegboard.terminal import dotted
from pegboard.types.catalogue import Tool
from pegboard_plugins.operation.lock.canonical import canonical_json, digest_of
from pegboard_plugins.operation.lock.differences import Difference, lock_differences
from pegboard_plugins.operation.lock.lock_text import (
    lock_text,
    locked_definition,
    with_former_definitions,
    wrong_digests,
)
from pegboard_plugins.operation.lock.verification import unlocked_reason
from pegboard_plugins.support.catalogue_lock import CatalogueLock, LockedOwner, LockFileError
from pegboard_plugins.support.lock_files import parse_lock

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "integer", "minimum": 0, "description": name} for name in "abcdef"},
    "required": ["a", "b"],
}
TOOL = {"name": "find", "description": "Find a cup.", "inputSchema": SCHEMA}


def shuffled(value: Any) -> Any:
    """Return an equal value with the members of its objects in another order."""
    if not isinstance(value, dict):
        return value
    return {name: shuffled(value[name]) for name in random.sample(sorted(value), len(value))}


def lock_of(**tools: dict[str, Any]) -> CatalogueLock:
    owner = LockedOwner("dist", "1.0", tools={name: locked_definition(tool) for name, tool in tools.items()})
    return CatalogueLock({"toolkit:shop": owner})


def test_the_order_of_members_does_not_change_the_digest() -> None:
    assert len({digest_of(shuffled(TOOL)) for _ in range(100)}) == 1
    assert digest_of(TOOL) == "sha256:df6b0539da119c16471b220d13ab5d2849be8cde83e7494b73b3b1ebf9bb8575"


@pytest.mark.parametrize("other", [True, 1.5, "1", None, [1], {"1": 1}, "\u0031\u200b"])
def test_different_values_have_different_digests(other: Any) -> None:
    assert digest_of({"default": 1}) != digest_of({"default": other})


def test_values_are_locked_as_clients_receive_them() -> None:
    definition = {"a": (1, date(2026, 1, 2), b"b"), "b": {3}, "c": {4: {}}, "d": "\ud800"}
    locked = {"a": [1, "2026-01-02", "Yg=="], "b": [3], "c": {"4": {}}, "d": "\ufffd"}
    assert locked_definition(definition) == (digest_of(locked), locked)
    with pytest.raises(TypeError):
        digest_of({"default": object()})


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    value = {"\u20ac": '\u20ac$\x0f\nA\'B"\\"/', "numbers": [1e-27, 4.5, 2e-3, True, None], "a": {}, "b": (1, 2)}
    text = '{"a":{},"b":[1,2],"numbers":[1e-27,4.5,0.002,true,null],"\u20ac":"\u20ac$\\u000f\\nA\'B\\"\\\\\\"/"}'
    assert canonical_json(value).decode() == text


@pytest.mark.parametrize(
    "value",
    [
        *("".join(map(chr, range(0x80))), "\u2028\ufeff\u00e9\U0001f600"),
        *(1.0, -0.0, 1e16, 1e22, 5e-324, 0.1, 2**64, -(10**30), False),
        {"b": [], "a": {"": [{"\U0001f600": 1, "\uffff": 2, '"': None}]}},
    ],
)
def test_the_canonical_form_is_that_of_python(value: Any) -> None:
    expected = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert canonical_json(value).decode() == expected


def test_an_equal_lock_has_the_same_text_and_nothing_in_it_is_hidden() -> None:
    hidden = {**TOOL, "description": "a\u200bb\u202ec\U000e0041d\ufe0f\u00e9"}
    old = lock_of(find=TOOL, other=hidden)
    text = lock_text(old)
    assert text == lock_text(with_former_definitions(lock_of(other=shuffled(hidden), find=shuffled(TOOL)), old))
    assert rb'"a\u200bb\u202ec\udb40\udc41d\ufe0f' + "\u00e9".encode() in text
    assert parse_lock(text) == old
    assert list(wrong_digests(old)) == []
    assert list(wrong_digests(parse_lock(text.replace(b"Find a cup.", b"Find a cub.")))) == ["find"]


def test_differences_show_every_change() -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "b.x": {"enum": [1, {}]}}, "required": ["a"]}
    changed = {**TOOL, "description": "Find a cub.\nThen pay.\u200b", "--a": "b", "inputSchema": schema}
    old = lock_of(find=TOOL, gone={**TOOL, "title": "Gone"}, old_name={**TOOL, "title": "Same", "name": "old_name"})
    new = lock_of(find=changed, fresh={**TOOL, "title": "Fresh"}, a_name={**TOOL, "title": "Same", "name": "a_name"})
    differences = lock_differences(old, new)
    assert [(difference.name, difference.change, difference.former) for difference in differences] == [
        ("a_name", "renamed", "old_name"),
        ("find", "changed", ""),
        ("fresh", "added", ""),
        ("gone", "removed", ""),
    ]
    assert differences[1].lines == (
        "-description: Find a cup.",
        "+--a: b",
        "+description: Find a cub.",
        r"+description: Then pay.\u200b",
        '+inputSchema.properties."b.x".enum[0]: 1',
        '+inputSchema.properties."b.x".enum[1]: {}',
        '-inputSchema.required[1]: "b"',
    )
    assert "+title: Fresh" in differences[2].lines
    assert lock_differences(old, old) == []


def test_another_version_of_the_owner_is_a_difference() -> None:
    old = lock_of(find=TOOL)
    new = CatalogueLock({"toolkit:shop": old.owners["toolkit:shop"]._replace(version="1.1")})
    lines = ("-distribution: dist 1.0", "+distribution: dist 1.1")
    assert lock_differences(old, new) == [Difference("toolkit:shop", "owner", "", "changed", lines)]


@pytest.mark.parametrize(("value", "is_accepted"), [(1, True), (True, False), (1.0, False)])
def test_only_equal_json_is_accepted(value: object, *, is_accepted: bool) -> None:
    tool = Tool(name="find", description="Find a cup.", input_schema=dict(reversed(SCHEMA.items())), meta={"a": value})
    checked = CheckedDefinition("tools", "find", tool, "toolkit:shop", "dist", "1.0")
    assert (unlocked_reason(lock_of(find=TOOL | {"_meta": {"a": 1}}), checked) is None) is is_accepted


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (("host_digest",), "must be a string"),
        (("owners",), "must be an object"),
        (("owners", "toolkit:shop"), "must be an object"),
        (("owners", "toolkit:shop", "version"), "must be a string"),
        (("owners", "toolkit:shop", "hooks"), "must be a list of strings"),
        (("owners", "toolkit:shop", "settings_schema"), "must be an object"),
        (("owners", "toolkit:shop", "tools"), "must be an object"),
        (("owners", "toolkit:shop", "tools", "find"), "must be an object"),
        (("owners", "toolkit:shop", "tools", "find", "digest"), "must be a string"),
        (("owners", "toolkit:shop", "tools", "find", "definition"), "must be an object"),
    ],
)
@pytest.mark.parametrize("value", [0, True, [1]])
def test_a_member_of_another_type_is_named(path: tuple[str, ...], problem: str, value: object) -> None:
    tree = json.loads(lock_text(lock_of(find=TOOL)))
    inner = tree
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(LockFileError) as caught:
        parse_lock(json.dumps(tree).encode())
    assert str(caught.value) == f"is damaged: {dotted(path)} {problem}"
