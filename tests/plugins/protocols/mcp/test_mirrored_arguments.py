"""`x-mcp-header`: the places in a schema where it is allowed, and the tools that are not served because of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import ToolDefinitionError
from pegboard_plugins.protocols.mcp.mirrored_arguments import MirroredArgument, mirrored_arguments

TYPES = "must be one of string, integer, boolean"
PLACES = "only a property of an object can be mirrored: move the keyword to a schema in `properties`"


def read(**properties: Any) -> tuple[MirroredArgument, ...]:
    return mirrored_arguments({"type": "object", "properties": properties})


def at(path: str, annotated: Any) -> dict[str, Any]:
    """Return a schema with another schema at a path."""
    schema = annotated
    for part in reversed(path.split(".")):
        schema = [schema] if part == "[]" else {part: schema}
    return {"type": "object", **schema}


def text(name: Any = "Region") -> dict[str, Any]:
    return {"type": "string", "x-mcp-header": name}


@pytest.mark.requirement("HEAD-18", "HEAD-20")
def test_properties_of_three_types_are_mirrored() -> None:
    nested = {"properties": {"properties": {"properties": {"b": text("Deep")}}}}
    arguments = read(
        b=text(), a={"type": "integer", "x-mcp-header": "a"}, c={"type": "boolean", "x-mcp-header": "C"}, d={}
    )
    assert arguments == (
        MirroredArgument("a", ("a",)),
        MirroredArgument("C", ("c",)),
        MirroredArgument("Region", ("b",)),
    )
    assert read(a=nested) == (MirroredArgument("Deep", ("a", "properties", "b")),)
    assert read(a={"type": "string"}) == ()


def test_data_and_names_are_no_annotations() -> None:
    data = {"x-mcp-header": 5}
    assert read(**{"x-mcp-header": {"type": "string"}}) == ()
    assert read(a={"const": data, "enum": [data], "default": data, "examples": [data]}) == ()
    assert read(a={"dependentRequired": {"x-mcp-header": ["b"]}, "required": ["x-mcp-header"]}) == ()


@pytest.mark.requirement("HEAD-14", "HEAD-15", "HEAD-16")
@given(st.text(max_size=8) | st.sampled_from(["!#$%&'*+-.^_`|~09azAZ", "a\n", "a\r\nX: y", "größe", 5, None, True, ()]))
def test_the_value_must_be_a_token(name: Any) -> None:
    if isinstance(name, str) and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        assert read(a=text(name)) == (MirroredArgument(name, ("a",)),)
    else:
        with pytest.raises(ToolDefinitionError, match=r"x-mcp-header at properties\.a: .* part of a header's name"):
            read(a=text(name))


@pytest.mark.requirement("HEAD-17")
def test_a_header_is_named_once_in_any_case() -> None:
    with pytest.raises(ToolDefinitionError, match="appears twice"):
        read(a=text("Region"), b={"properties": {"c": text("REGION")}})


@pytest.mark.requirement("HEAD-18")
@pytest.mark.parametrize("kind", ["number", ["string", "null"], None])
def test_other_types_are_refused(kind: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=TYPES):
        read(a={"type": kind, "x-mcp-header": "A"} if kind else {"x-mcp-header": "A", "enum": ["x"]})


@pytest.mark.requirement("HEAD-20")
@pytest.mark.parametrize(
    "path",
    [
        "properties.a.items",
        "properties.a.additionalProperties",
        "properties.a.anyOf.[]",
        "properties.a.unknown.properties.b",
        "allOf.[].properties.a",
        "$defs.a.properties.b",
    ],
)
def test_other_places_are_refused(path: str) -> None:
    with pytest.raises(ToolDefinitionError, match=PLACES):
        mirrored_arguments(at(path, text()))
    with pytest.raises(ToolDefinitionError, match="x-mcp-header at the root"):
        mirrored_arguments({"type": "object", "x-mcp-header": "A"})


@pytest.mark.parametrize("bound", [{"maximum": 2**53}, {"const": -(2**53)}, {"enum": [2**53]}], ids=str)
def test_integers_are_exact_everywhere(bound: dict[str, Any]) -> None:
    assert len(read(a={"type": "integer", "x-mcp-header": "A", "minimum": -(2**53) + 1, "maximum": 2**53 - 1})) == 1
    with pytest.raises(ToolDefinitionError, match="beyond 2\\^53 - 1"):
        read(a={"type": "integer", "x-mcp-header": "A", **bound})
