"""Hints for messages about invalid values.

A hint names the kind of the value, the most similar known name, or the values to omit.

A hint never repeats a value. It may name values of the schema, because the schema is public.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from pegboard.messages.error_words import KINDS, NOT_ALLOWED, UNKNOWN, FieldPath
from pegboard.names import nearest

MAX_NAME_CHARACTERS = 80
"""The length above which a name in a message is cut off."""
MAX_COMPARED_NAMES = 300
"""The number of known names that are compared with an unknown name."""
SAME_START_CHARACTERS = 3
"""The number of characters at the start of an unknown name that select the compared names, if there are too many."""

SUGGESTION = "; did you mean "
_GOT_NULL = ", got null"


def got(value: Any) -> str:
    """Return the kind of a JSON value, such as ", got a string". Return "" for values that are not JSON."""
    kind = KINDS.get(type(value))
    return f", got {kind}" if kind else ""


def closest(name: str, names: Collection[str]) -> str:
    """Return a suggestion such as "; did you mean 'city'?" with the most similar known name, or ""."""
    name = name[:MAX_NAME_CHARACTERS].translate({ord(wildcard): None for wildcard in "*?["})
    if len(names) > MAX_COMPARED_NAMES:
        names = [candidate for candidate in names if candidate[:SAME_START_CHARACTERS] == name[:SAME_START_CHARACTERS]]
    close = nearest(name, islice(names, MAX_COMPARED_NAMES))
    return "" if close in (None, name) else f"{SUGGESTION}{shown(close)!r}?"


def shown(part: int | str | None) -> str:
    """Return a name without control characters, cut off."""
    text = str(part)
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:MAX_NAME_CHARACTERS])
    return text + "..." if len(str(part)) > MAX_NAME_CHARACTERS else text


def with_hint(path: FieldPath, text: str, schema: Mapping[str, Any]) -> str:
    """Return a problem with the closest name for an unknown name, and "omit it" for a null that is not required."""
    if text not in (UNKNOWN, NOT_ALLOWED) and not (path and text.endswith(_GOT_NULL)):
        return text
    parents = list(subschemas_at(path[:-1], schema))
    if text.endswith(_GOT_NULL):
        optional = any(
            path[-1] in parent.get("properties", ()) and path[-1] not in parent.get("required", ())
            for parent in parents
        )
        return f"{text}; omit it" if optional else text
    names = dict.fromkeys(name for parent in parents for name in parent.get("properties", ()))
    return text + (closest(str(path[-1]), names) if names else "")


def choices(path: FieldPath, schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema allows at a path."""
    subschemas = subschemas_at(path, schema)
    return [
        value
        for subschema in subschemas
        for value in subschema.get("enum", [subschema["const"]] if "const" in subschema else ())
    ]


def choice_hint(value: Any, allowed: Collection[Any]) -> str:
    """Return the closest choice for a string, or the kind of a value if no choice has this kind."""
    if type(value) not in set(map(type, allowed)):
        return got(value) if allowed else ""
    return closest(value, [choice for choice in allowed if isinstance(choice, str)]) if isinstance(value, str) else ""


def common_hint(hints: Iterable[str]) -> str | None:
    """Return the hint for all forms of a union: a suggestion, or the hint that all forms share, or None."""
    distinct = [hint for hint in dict.fromkeys(hints) if hint]
    suggestions = [hint for hint in distinct if hint.startswith(SUGGESTION)]
    return (suggestions or distinct or [""])[0] if suggestions or len(distinct) < 2 else None


def subschemas_at(path: FieldPath, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the subschemas for a path. References are resolved. A union yields its forms, then itself."""
    return _below(schema, path, schema, ())


def _below(schema: Any, path: FieldPath, root: Mapping[str, Any], seen: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping):
        return
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        if name not in seen:
            yield from _below(root.get("$defs", {}).get(name), path, root, (*seen, name))
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        for form in schema.get(keyword, ()):
            yield from _below(form, path, root, seen)
    if not path:
        yield schema
        return
    first = path[0]
    if isinstance(first, int):
        before = schema.get("prefixItems", ())
        inner = before[first] if first < len(before) else schema.get("items")
    else:
        inner = schema.get("properties", {}).get(first, schema.get("additionalProperties"))
    yield from _below(inner, path[1:], root, ())
