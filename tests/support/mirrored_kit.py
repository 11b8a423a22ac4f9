"""Tools whose arguments HTTP clients repeat in headers, and tools with JSON Schemas of their author's own.

It is copied into a distribution, so it imports nothing but `pegboard`'s public names and pydantic.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pegboard import Toolkit

kit = Toolkit("mirrored")

SQL = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "limit"},
        "dry": {"type": "boolean", "x-mcp-header": "X-Dry.Run"},
        "where": {"type": "object", "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}}},
        "query": {"type": "string"},
    },
}

DRAFT_07 = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "definitions": {"pair": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}},
    "properties": {"pair": {"$ref": "#/definitions/pair"}},
    "dependencies": {"pair": ["why"]},
    "x-own": {"kept": [1, 2.5, None]},
}


@kit.tool(input_schema=SQL)
def sql(**arguments: Any) -> dict[str, Any]:
    """Give the arguments back."""
    return arguments


@kit.tool
def typed(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none") -> str:
    """Give the region back."""
    return region


@kit.tool(scopes=["mirrored"])
def secret(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Not for everybody."""
    return region


@kit.tool
def plain(region: str) -> str:
    """Mirror nothing."""
    return region


@kit.tool(input_schema=DRAFT_07, output_schema={"type": "array", "items": {"type": "integer"}})
def old(arguments: dict[str, Any]) -> Any:
    """Return the list `pair`, which may break the schema."""
    return arguments.get("pair", [1])


@kit.tool(input_schema={"type": "object", "properties": {"r": {"type": "number", "x-mcp-header": "R"}}})
def wrong(r: float = 0) -> float:
    """It is not served: headers carry no numbers that are not whole."""
    return r
