"""Which arguments of a tool an HTTP client repeats in headers: `x-mcp-header` in the input schema (SEP-2243).

Only the schema is looked at; comparing headers is for who has some.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegboard.errors import ToolInputSchemaError
from pegboard.schemas.subschemas import Path, subschemas
from pegboard.types.catalogue import MirroredArgument

KEYWORD = "x-mcp-header"
GREATEST = 2**53 - 1
"""Integers beyond this are not exact everywhere."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES = ("string", "integer", "boolean")
_BOUNDS = ("const", "default", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum")


def mirrored(schema: Mapping[str, Any]) -> tuple[MirroredArgument, ...]:
    """The arguments that headers mirror, in the order of their headers' names.

    Raises:
        ToolInputSchemaError: an annotation breaks a rule; clients would drop the whole tool for it.
    """
    found: dict[str, MirroredArgument] = {}
    for one in subschemas(dict(schema)):
        if KEYWORD not in one.schema:
            continue
        mirror = _checked(one.path, one.schema)
        header = mirror.header.lower()
        if header in found:
            raise _refused(one.path, f"{mirror.header!r} is given twice; the names of headers have no case")
        found[header] = mirror
    return tuple(found[header] for header in sorted(found))


def _checked(path: Path, schema: Mapping[str, Any]) -> MirroredArgument:
    name = schema[KEYWORD]
    if not path or len(path) % 2 or any(keyword != "properties" for keyword in path[::2]):
        raise _refused(path, "it may stand only at a property that `properties` alone leads to from the root")
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise _refused(path, f"{name!r} cannot be part of a header's name (RFC 9110, token)")
    kind = schema.get("type")
    if kind not in _TYPES:
        found = "none of its own" if kind is None else repr(kind)
        raise _refused(path, f"the property's type has to be one of {', '.join(_TYPES)}; it is {found}")
    values = [*[schema.get(bound) for bound in _BOUNDS], *schema.get("enum", ())]
    if kind == "integer" and any(isinstance(value, int | float) and abs(value) > GREATEST for value in values):
        raise _refused(path, "the property allows integers beyond 2^53 - 1, which are not exact everywhere")
    return MirroredArgument(name, tuple(str(part) for part in path[1::2]))


def _refused(path: Path, why: str) -> ToolInputSchemaError:
    place = ".".join(map(str, path)) or "the root"
    return ToolInputSchemaError(f"{KEYWORD} at {place}: {why}")
