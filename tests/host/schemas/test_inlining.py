"""Definitions in place of references: which are inlined, and when all references are kept."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from pegboard import Toolkit
from pegboard.schemas.inlining import inlined
from pegboard_testing import connect

LONG = {"type": "integer", "description": "x" * 100}


def ref(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", **beside}


def root(definitions: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"$defs": definitions, "properties": properties, "type": "object"}


@pytest.mark.parametrize(
    ("definitions", "before", "after"),
    [
        ({"A": LONG}, ref("A"), LONG),
        ({"A": LONG}, ref("A", description="d"), {**LONG, "description": "d"}),
        ({"A": LONG}, ref("A", **{"x-b": 1}), {**LONG, "x-b": 1}),
        ({"A": LONG}, ref("A", type="number"), {"allOf": [LONG], "type": "number"}),
        ({"A": LONG}, ref("A", multipleOf=2), {"allOf": [LONG], "multipleOf": 2}),
        ({"A": LONG}, {"dependentSchemas": {"default": ref("A")}}, {"dependentSchemas": {"default": LONG}}),
        ({"A": {"items": ref("B")}, "B": LONG}, {"allOf": [ref("A")]}, {"allOf": [{"items": LONG}]}),
        ({"A": LONG}, {"properties": {"default": ref("A")}}, {"properties": {"default": LONG}}),
        ({"A": LONG}, {"properties": {"$ref": ref("A")}}, {"properties": {"$ref": LONG}}),
        ({"A": LONG}, {"default": ref("A")}, {"default": ref("A")}),
        ({"A": LONG}, {"$ref": "https://example.com"}, {"$ref": "https://example.com"}),
    ],
)
def test_a_definition_replaces_its_references(definitions: Any, before: Any, after: Any) -> None:
    assert inlined(root(definitions, a=before)) == {"properties": {"a": after}, "type": "object"}


def test_recursive_definitions_keep_their_references() -> None:
    """Also those that are recursive through another definition. The root is never a reference."""
    tree = {"properties": {"others": ref("Others"), "mark": ref("Mark")}}
    definitions = {"Mark": LONG, "Others": {"items": ref("Tree")}, "Tree": tree}
    result = inlined({"$defs": definitions, **ref("Tree", description="d")})
    plain = {"properties": {"others": ref("Others"), "mark": LONG}}
    assert result == {"$defs": {"Others": {"items": ref("Tree")}, "Tree": plain}, **plain, "description": "d"}


def test_references_of_a_schema_with_its_own_id_are_kept() -> None:
    own = {"$id": "https://example.com/own", "items": ref("A")}
    schema = root({"A": LONG, "B": LONG}, a=own, b=ref("B"))
    assert inlined(schema) == root({"A": LONG}, a=own, b=LONG)


@pytest.mark.parametrize("uses", [2, 4, 60])
def test_references_are_kept_if_the_schema_would_more_than_double(uses: int) -> None:
    schema = root({"A": LONG}, **{f"a{number}": ref("A") for number in range(uses)})
    assert ("$defs" in inlined(schema)) is (uses > 2)


def test_definitions_that_use_each_other_twice_take_no_time() -> None:
    chain = {f"d{at}": {"items": ref(f"d{at + 1}"), "contains": ref(f"d{at + 1}")} for at in range(200)}
    schema = root({**chain, "d200": {}}, a=ref("d0"))
    assert inlined(schema) is schema


class Point(BaseModel):
    x: int


class Line(BaseModel):
    start: Point
    end: Annotated[Point, Field(description="the other end")]


@pytest.mark.parametrize("references", ["inline", "keep"])
async def test_the_setting_and_schemas_of_authors_keep_references(references: str) -> None:
    kit = Toolkit("kit")
    authored = root({"A": LONG}, a=ref("A"))

    @kit.tool
    def draw(line: Line) -> Line:
        """Draw it."""
        return line

    @kit.tool(input_schema=authored, output_schema=authored)
    def own(a: int = 1) -> dict[str, int]:
        """Return it."""
        return {"a": a}

    async with connect(kit, hostconfig={"host": {"schema_references": references}}) as client:
        tools = [await client.tool(name) for name in ("draw", "own")]
        listed = [tool[member] for tool in tools for member in ("inputSchema", "outputSchema")]
        assert listed[2:] == [authored] * 2
        assert ["$ref" in json.dumps(schema) for schema in listed[:2]] == [references == "keep"] * 2
        line = {"start": {"x": 1}, "end": {"x": 2}}
        assert (await client.call("draw", line=line)).value == line
