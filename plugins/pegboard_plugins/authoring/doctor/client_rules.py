"""Names and schemas that clients reject although MCP allows them, each with its documentation or report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.types import Tool

SERVER_NAME = "pegboard"
"""The name that `pegboard configure` gives the server in a client, unless `--name` gives another."""
_COMBINATIONS = ("oneOf", "anyOf", "allOf")


class ClientRule(NamedTuple):
    """A rule of a client.

    Attributes:
        clients: the clients that have the rule.
        source: the documentation or the report of the rule.
        fix: what the author of the tool can do.
        broken: returns the problem of a tool, or None if the tool obeys the rule.
    """

    clients: str
    source: str
    fix: str
    broken: Callable[[Tool], str | None]


class ClientLimit(NamedTuple):
    """The number of tools that a client accepts from all servers together."""

    client: str
    max_tools: int
    source: str


def _too_long(prefix: str, most: int) -> Callable[[Tool], str | None]:
    def broken(tool: Tool) -> str | None:
        length = len(prefix) + len(tool.name)
        return f"its name has {length} characters with {prefix!r}; the limit is {most}" if length > most else None

    return broken


def _root_combination(tool: Tool) -> str | None:
    keywords = [name for name in _COMBINATIONS if name in tool.input_schema]
    return f"its input schema has {', '.join(keywords)} at the top level" if keywords else None


def _array_without_items(tool: Tool) -> str | None:
    ways = [way for way, schema in _subschemas(tool.input_schema, ()) if _lacks_items(schema)]
    places = [".".join(way) or "the input" for way in ways]
    return f"its schema has an array without `items`: {', '.join(places)}" if places else None


def _lacks_items(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type")
    return "array" in ([types] if isinstance(types, str) else types or ()) and "items" not in schema


def _subschemas(schema: Any, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield each schema in a schema, with the names of the properties on the way to it."""
    if not isinstance(schema, Mapping):
        return
    yield way, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from _subschemas(inner, (*way, name))
    for key in ("items", "additionalProperties"):
        yield from _subschemas(schema.get(key), way)
    for key in _COMBINATIONS:
        for inner in schema.get(key) or ():
            yield from _subschemas(inner, way)


RULES = (
    ClientRule(
        "Claude Code",
        "https://github.com/anthropics/claude-code/issues/2326",
        "shorten the name of the tool, or the name of the server with `pegboard configure claude-code --name`",
        _too_long(f"mcp__{SERVER_NAME}__", 64),
    ),
    ClientRule(
        "Cursor",
        "https://github.com/sparfenyuk/mcp-proxy/issues/45",
        "shorten the name of the tool, or the name of the server with `pegboard configure cursor --name`",
        _too_long(f"{SERVER_NAME}:", 60),
    ),
    ClientRule(
        "clients of models of Anthropic and OpenAI",
        "https://github.com/anthropics/claude-code/issues/40075",
        "declare each alternative as a separate parameter",
        _root_combination,
    ),
    ClientRule(
        "Visual Studio Code",
        "https://github.com/microsoft/vscode/issues/246119",
        "annotate the items of the list, as in list[str]",
        _array_without_items,
    ),
)
LIMITS = (
    ClientLimit("Windsurf", 100, "https://docs.windsurf.com/windsurf/cascade/mcp"),
    ClientLimit("Visual Studio Code", 128, "https://github.com/microsoft/vscode/issues/290356"),
)
