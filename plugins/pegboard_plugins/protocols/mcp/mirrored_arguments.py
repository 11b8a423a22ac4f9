"""The arguments of a tool that HTTP clients repeat in headers: `x-mcp-header` in the input schema (SEP-2243).

The headers `Mcp-Param-*` are compared with the arguments before a call runs (2026-07-28).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from hmac import compare_digest
from typing import Any, NamedTuple

from pegboard import ToolDefinitionError
from pegboard.plugin import encode
from pegboard.types import Call, Caller, Headers, Tool
from pegboard_plugins.protocols.mcp.headers import decode_header_value, header_mismatch, header_value
from pegboard_plugins.protocols.mcp.subschemas import Path, subschemas

HEADER_KEYWORD = "x-mcp-header"
MAX_EXACT_INTEGER = 2**53 - 1
"""The largest integer that every JSON implementation reads exactly."""

PARAMETER_HEADER_PREFIX = "Mcp-Param-"

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_MAX_NUMBER_CHARACTERS = 64
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
    """The mirrored arguments of tools. Each schema is read once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Mapping[str, Any], tuple[MirroredArgument, ...]]] = {}

    def check(self, headers: Headers, call: Call, find: Callable[[str, Caller], Tool | None]) -> None:
        """Reject a call whose headers differ from its arguments: an intermediary may have acted on the headers.

        Raises:
            ProtocolError: -32020, naming the header.
        """
        name = call.params.get("name")
        if call.method != "tools/call" or type(name) is not str:
            return
        tool = find(name, call.caller)
        expected = () if tool is None else self._of(tool)
        arguments = call.params.get("arguments")
        for argument in expected:
            _check(headers, PARAMETER_HEADER_PREFIX + argument.header, _at(arguments, argument.path))

    def _of(self, tool: Tool) -> tuple[MirroredArgument, ...]:
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


# --- The headers of a call


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = (value if isinstance(value, Mapping) else {}).get(name)
    return value


def _check(headers: Headers, header: str, value: Any) -> None:
    field = header_value(headers, header)
    if value is None:
        if field is not None:
            raise header_mismatch(f"{header} is present, but its argument is missing")
        return
    if field is None:
        raise header_mismatch(f"{header} is missing")
    if type(value) in (int, float) and abs(value) > MAX_EXACT_INTEGER:
        raise header_mismatch(f"the argument of {header} is beyond 2^53 - 1")
    if not _equal(decode_header_value(field), value):
        raise header_mismatch(f"the value of {header} differs from the body")


def _equal(text: str, value: Any) -> bool:
    if type(value) in (int, float):
        return len(text) <= _MAX_NUMBER_CHARACTERS and bool(_NUMBER.fullmatch(text)) and Decimal(text) == Decimal(value)
    if type(value) is bool:
        value = "true" if value else "false"
    return type(value) is str and compare_digest(text.encode(), value.encode("utf-8", "surrogatepass"))
