"""The arguments of a tool that HTTP clients repeat in headers: `x-mcp-header` in the input schema (SEP-2243)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard import ToolDefinitionError
from pegboard.plugin import encode
from pegboard.types import Tool
from pegboard_plugins.protocols.mcp.subschemas import Path, subschemas

HEADER_KEYWORD = "x-mcp-header"
MAX_EXACT_INTEGER = 2**53 - 1
"""The largest integer that every JSON implementation reads exactly."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES = ("string", "integer", "boolean")
_BOUNDS = ("const", "default", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum")


class MirroredArgument(NamedTuple):
    """An argument that HTTP clients repeat in a header.

    Attributes:
        header: the part of the header's name that follows `Mcp-Param-`.
        path: the property names that lead to the argument.
    """

    header: str
    path: tuple[str, ...]


class MirroredArguments:
    """A cache of the mirrored arguments of tools. Each schema is read once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Mapping[str, Any], tuple[MirroredArgument, ...]]] = {}

    def of(self, tool: Tool) -> tuple[MirroredArgument, ...]:
        """Return the mirrored arguments of a tool."""
        read = self._read.get(tool.name)
        if read is None or read[0] is not tool.input_schema:
            read = self._read[tool.name] = (tool.input_schema, mirrored_arguments(tool.input_schema))
        return read[1]


def mirrored_arguments(schema: Mapping[str, Any]) -> tuple[MirroredArgument, ...]:
    """Return the arguments of a schema that headers mirror, sorted by header name.

    Raises:
        ToolDefinitionError: an annotation breaks a rule. Clients would ignore the whole tool.
    """
    if b'"x-mcp-header"' not in encode(schema):
        return ()
    mirrors: dict[str, MirroredArgument] = {}
    for path, subschema in subschemas(dict(schema)):
        if HEADER_KEYWORD not in subschema:
            continue
        mirror = _checked(path, subschema)
        header = mirror.header.lower()
        if header in mirrors:
            raise _refused(
                path, f"{mirror.header!r} appears twice (header names are case-insensitive): use each name once"
            )
        mirrors[header] = mirror
    return tuple(mirrors[header] for header in sorted(mirrors))


def _checked(path: Path, schema: Mapping[str, Any]) -> MirroredArgument:
    name = schema[HEADER_KEYWORD]
    if not path or len(path) % 2 or any(keyword != "properties" for keyword in path[::2]):
        raise _refused(
            path,
            "only a property of an object can be mirrored: move the keyword to a schema in `properties`",
        )
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise _refused(path, f"{name!r} cannot be part of a header's name: use only token characters (RFC 9110)")
    kind = schema.get("type")
    if kind not in _TYPES:
        actual = "missing" if kind is None else repr(kind)
        raise _refused(path, f"the property's type must be one of {', '.join(_TYPES)}, not {actual}")
    values = [*[schema.get(bound) for bound in _BOUNDS], *schema.get("enum", ())]
    if kind == "integer" and any(isinstance(value, int | float) and abs(value) > MAX_EXACT_INTEGER for value in values):
        raise _refused(path, "the property allows integers beyond 2^53 - 1: set minimum and maximum")
    return MirroredArgument(name, tuple(str(part) for part in path[1::2]))


def _refused(path: Path, why: str) -> ToolDefinitionError:
    place = ".".join(map(str, path)) or "the root"
    return ToolDefinitionError(f"{HEADER_KEYWORD} at {place}: {why}")
