"""`x-mcp-header`: where it may stand in a schema, and what it costs a tool where it may not (section 11.4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from pegboard import Toolkit
from pegboard.catalogue.definitions import compile_tool
from pegboard.plugin import ToolDefinition, ToolInputSchemaError
from pegboard.types import LOCAL, Caller, MirroredArgument, Tool
from tests.host.hosting import make_host

REGION = Field(json_schema_extra={"x-mcp-header": "Region"})


def tool(function: Any, schema: Any = None) -> Tool:
    return compile_tool(ToolDefinition(function, description="A tool", input_schema=schema), "tool", "kit")[0]


def raw(**properties: Any) -> tuple[MirroredArgument, ...]:
    def function(**arguments: Any) -> None: ...

    return tool(function, {"type": "object", "properties": properties}).mirrored


def at(path: str, annotated: Any) -> dict[str, Any]:
    """A schema with something at a path."""
    schema = annotated
    for part in reversed(path.split(".")):
        schema = [schema] if part == "[]" else {part: schema}
    return {"type": "object", **schema}


def text(name: Any = "Region") -> dict[str, Any]:
    return {"type": "string", "x-mcp-header": name}


@pytest.mark.requirement("HEAD-18")
def test_properties_of_the_three_types() -> None:
    found = raw(b=text(), a={"type": "integer", "x-mcp-header": "a"}, c={"type": "boolean", "x-mcp-header": "C"}, d={})
    assert found == (MirroredArgument("a", ("a",)), MirroredArgument("C", ("c",)), MirroredArgument("Region", ("b",)))


def test_properties_of_properties() -> None:
    assert raw(a={"properties": {"properties": {"properties": {"b": text()}}}}) == (
        MirroredArgument("Region", ("a", "properties", "b")),
    )


def test_most_tools_mirror_nothing() -> None:
    assert raw(a={"type": "string"}) == ()
    assert tool(lambda: None).mirrored == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"x-mcp-header": {"type": "string"}},
        {"a": {"const": {"x-mcp-header": 5}}},
        {"a": {"enum": [{"x-mcp-header": 5}], "default": {"x-mcp-header": 5}, "examples": [{"x-mcp-header": 5}]}},
        {"a": {"description": '"x-mcp-header"'}},
        {"a": {"dependentRequired": {"x-mcp-header": ["b"]}, "required": ["x-mcp-header"]}},
    ],
)
def test_what_only_looks_like_it(schema: dict[str, Any]) -> None:
    assert raw(**schema) == ()


@pytest.mark.parametrize("name", ["R", "x-y", "!#$%&'*+-.^_`|~09azAZ", "x" * 200])
def test_names_that_headers_have(name: str) -> None:
    assert raw(a=text(name)) == (MirroredArgument(name, ("a",)),)


@pytest.mark.requirement("HEAD-14", "HEAD-15", "HEAD-16")
@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a:b", "a\r\nX: y", "a\n", "größe", "a\0", "(a)", "a/b", 5, None, ["a"], True, {}]
)
def test_names_that_they_have_not(name: Any) -> None:
    with pytest.raises(
        ToolInputSchemaError, match=r"x-mcp-header at properties\.a: .* cannot be part of a header's name"
    ):
        raw(a=text(name))


@pytest.mark.requirement("HEAD-15")
@given(name=st.text(max_size=8))
def test_a_name_is_a_token_or_refused(name: str) -> None:
    token = bool(name) and all(char.isascii() and (char.isalnum() or char in "!#$%&'*+-.^_`|~") for char in name)
    try:
        assert raw(a=text(name)) == (MirroredArgument(name, ("a",)),)
        assert token
    except ToolInputSchemaError:
        assert not token


@pytest.mark.requirement("HEAD-17")
def test_names_have_no_case_and_are_given_once() -> None:
    with pytest.raises(ToolInputSchemaError, match="is given twice; the names of headers have no case"):
        raw(a=text("Region"), b={"properties": {"c": text("REGION")}})


@pytest.mark.requirement("HEAD-18")
@pytest.mark.parametrize(
    "kind",
    ["number", "array", "object", "null", ["string"], ["string", "null"], None],
)
def test_other_types(kind: Any) -> None:
    with pytest.raises(ToolInputSchemaError, match="has to be one of string, integer, boolean"):
        raw(a={"type": kind, "x-mcp-header": "A"} if kind else {"x-mcp-header": "A", "enum": ["x"]})


@pytest.mark.requirement("HEAD-20")
@pytest.mark.parametrize(
    "path",
    [
        "properties.a.items",
        "properties.a.items.properties.b",
        "properties.a.prefixItems.[]",
        "properties.a.contains",
        "properties.a.additionalProperties",
        "properties.a.patternProperties.b",
        "properties.a.anyOf.[]",
        "properties.a.if",
        "properties.a.not",
        "properties.a.$defs.b",
        "properties.a.unknown",
        "properties.a.unknown.properties.b",
        "allOf.[]",
        "allOf.[].properties.a",
        "anyOf.[].properties.a",
        "oneOf.[].properties.a",
        "not.properties.a",
        "if.properties.a",
        "then.properties.a",
        "else.properties.a",
        "dependentSchemas.a.properties.b",
        "additionalProperties.properties.a",
        "$defs.a",
        "$defs.a.properties.b",
        "definitions.a",
        "propertyNames",
        "unevaluatedProperties",
    ],
)
def test_places_that_properties_alone_do_not_lead_to(path: str) -> None:
    with pytest.raises(ToolInputSchemaError, match="may stand only at a property that `properties` alone leads to"):
        tool(lambda **arguments: None, at(path, text()))


@pytest.mark.requirement("HEAD-20")
def test_the_root_is_no_property() -> None:
    with pytest.raises(ToolInputSchemaError, match="x-mcp-header at the root"):
        tool(lambda **arguments: None, {"type": "object", "x-mcp-header": "A"})


@pytest.mark.parametrize(
    "bound", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "default", "enum"]
)
def test_integers_are_exact_everywhere(bound: str) -> None:
    def schema(value: int) -> dict[str, Any]:
        return {"type": "integer", "x-mcp-header": "A", bound: [value] if bound == "enum" else value}

    for value in (2**53 - 1, -(2**53) + 1, 0):
        assert len(raw(a=schema(value))) == 1
    for value in (2**53, -(2**53)):
        with pytest.raises(ToolInputSchemaError, match="beyond 2\\^53 - 1"):
            raw(a=schema(value))


# --- by types


class Place(BaseModel):
    region: Annotated[str, REGION]


def test_types_say_it_with_field() -> None:
    def function(
        region: Annotated[str, "where", REGION],
        limit: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Limit"}, ge=0)] = 5,
        kind: Literal["a", "b"] = Field(default="a", json_schema_extra={"x-mcp-header": "Kind"}),
        dry: Annotated[bool, Field(json_schema_extra={"x-mcp-header": "Dry"})] = False,
    ) -> None: ...

    found = tool(function)
    assert [one.header for one in found.mirrored] == ["Dry", "Kind", "Limit", "Region"]
    assert found.input_schema["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize("kind", [Optional[str], float, list[str], str | int, Any, dict[str, int]])
def test_types_that_headers_do_not_carry(kind: Any) -> None:
    def function(a: Any) -> None: ...

    function.__annotations__["a"] = Annotated[kind, REGION]
    with pytest.raises(ToolInputSchemaError, match=r"has to be one of [^;]*; it is ('\w+'|none of its own)$"):
        tool(function)


def test_members_of_models_are_behind_references() -> None:
    def function(place: Place) -> None: ...

    with pytest.raises(ToolInputSchemaError, match="`properties` alone"):
        tool(function)


# --- what a host makes of it


@pytest.mark.requirement("HEAD-21")
async def test_a_wrong_annotation_costs_its_tool_and_says_why() -> None:
    kit = Toolkit("kit")

    @kit.tool
    def wrong(a: Annotated[float, REGION]) -> None:
        """Mirror what cannot be mirrored."""

    @kit.tool
    def right(a: Annotated[str, REGION]) -> None:
        """Mirror what can."""

    async with make_host(kit) as host:
        assert list(host.assembly.tools) == ["kit_right"]
        (problem,) = host.problems
        assert "x-mcp-header at properties.a" in str(problem)
        assert "wrong" in str(problem)


async def test_a_protocol_sees_the_tools_of_its_caller() -> None:
    kit = Toolkit("kit")

    @kit.tool(scopes=["work"])
    def hidden() -> None:
        """Not for everybody."""

    @kit.tool
    def shown(a: Annotated[str, REGION]) -> None:
        """For everybody."""

    async with make_host(kit) as host:
        found = host.tool("kit_shown", Caller())
        assert found is not None
        assert found.mirrored == (MirroredArgument("Region", ("a",)),)
        assert host.tool("kit_hidden", LOCAL) is not None
        assert host.tool("kit_hidden", Caller()) is None
        assert host.tool("kit_none", LOCAL) is None
