"""Results that are not objects, in every revision."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import BaseModel

from pegboard import ResourceLink, Toolkit, ToolResult
from pegboard.types import Tool
from pegboard_plugins.protocols.mcp.revisions import SUPPORTED_REVISIONS
from pegboard_plugins.protocols.mcp.wrapped_results import output_schema
from pegboard_testing import connect

STRUCTURED = ("2025-06-18", "2025-11-25")
OLD = "http://json-schema.org/draft-07/schema#"


class Node(BaseModel):
    children: list[Node] = []


NODE: dict[str, Any] = {"children": [{"children": []}]}
OBJECT = {"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}, "required": ["children"]}
CASES: dict[str, tuple[Any, Any]] = {
    "array": (list[int], [1, 2]),
    "number": (float, 1.5),
    "choice": (Literal["a", "b"], "a"),
    "nothing": (int | None, None),
    "object or nothing": (dict[str, int] | None, {"result": 1}),
    "array of recursive": (list[Node], [NODE]),
    "recursive": (Node, NODE),
    "object": (dict[str, int], {"result": 1}),
    "text": (str, "1"),
    "authored array": ({"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}}, [1]),
    "authored, from the root": ({"$defs": {"tree": OBJECT}, "anyOf": [OBJECT, {"type": "null"}]}, {"children": [None]}),
}


def kit_of(annotation: Any, value: Any, content: tuple[Any, ...] | None = None) -> Toolkit:
    def give() -> Any:
        """Give it."""
        return value if content is None else ToolResult(value, structured=True, content=content)

    kit = Toolkit("kit")
    if isinstance(annotation, dict):
        kit.tool(output_schema=annotation)(give)
    else:
        give.__annotations__["return"] = annotation
        kit.tool(give)
    return kit


@pytest.mark.requirement("TOOL-18", "TOOL-19", "TOOL-26")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("revision", SUPPORTED_REVISIONS)
async def test_a_result_fits_its_listed_schema_and_clients_of_tests_receive_it(name: str, revision: str) -> None:
    annotation, value = CASES[name]
    async with connect(kit_of(annotation, value), revision=revision) as client:
        schema = (await client.tool("give")).get("outputSchema")
        result = await client.call("give")
    assert result.value == value
    assert name != "nothing" or result.text == "null"
    assert (schema is None) == (name == "text" or revision < STRUCTURED[0])
    if schema is None:
        assert "structuredContent" not in result.raw
        return
    Draft202012Validator(schema).validate(result.structured)
    wraps = revision in STRUCTURED and name not in ("object", "recursive")
    assert result.structured == ({"result": value} if wraps else value)
    assert wraps is (schema.get("required") == ["result"])


@pytest.mark.parametrize("revision", STRUCTURED)
async def test_content_may_accompany_a_wrapped_result(revision: str) -> None:
    link = ResourceLink("docs://x", "x")
    async with connect(kit_of(dict[str, int] | None, {"a": 1}, (link,)), revision=revision) as client:
        result = await client.call("give")
    assert (result.structured, result.text) == ({"result": {"a": 1}}, '{"a":1}')


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"prefixItems": [{"const": 1}, {"$ref": "#/prefixItems/0"}]}, [1, 1], [1, 2]),
        ({"properties": {"default": {"$ref": "#/properties/b"}, "b": {"const": 1}}}, {"default": 1}, {"default": 2}),
        ({"$id": "urn:a", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"const": 1}}}, [1], [2]),
        ({"$schema": OLD, "definitions": {"a": {"const": 1}}, "$ref": "#/definitions/a"}, 1, 2),
        ({"items": {"$id": "urn:b", "prefixItems": [{"const": 1}, {"$ref": "#/prefixItems/0"}]}}, [[1, 1]], [[1, 2]]),
        (
            {"dependentSchemas": {"const": {"$ref": "#/properties/b"}}, "properties": {"b": {"required": ["a"]}}},
            {"const": 1, "a": 1},
            {"const": 1},
        ),
        ({"enum": [{"$ref": "#"}, 1]}, {"$ref": "#"}, {"$ref": "#/properties/result"}),
    ],
)
def test_references_of_authors_keep_their_meaning(schema: dict[str, Any], valid: Any, invalid: Any) -> None:
    wrapped = output_schema(Tool("a", "A.", {"type": "object"}, schema), STRUCTURED[0])
    assert wrapped is not None
    dialect = Draft7Validator if "$schema" in schema else Draft202012Validator
    assert [dialect(wrapped).is_valid({"result": value}) for value in (valid, invalid)] == [True, False]
