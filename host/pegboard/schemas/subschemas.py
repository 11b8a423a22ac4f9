"""The subschemas of a JSON Schema, their replacement, and the work that the schema can cause for a validator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from pegboard.messages.error_words import FieldPath

_NAMED = frozenset(("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"))
"""Keywords whose value is an object with a schema for each name."""
_DATA = frozenset(("$vocabulary", "const", "default", "dependentRequired", "enum", "examples", "required"))
"""Keywords that never contain schemas."""
_IN_PLACE = ("allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then")
_REFERENCES = ("$dynamicRef", "$recursiveRef", "$ref")
_EACH = ("contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "patternProperties")
"""Keywords that apply to a member or item in addition to other keywords."""
_EITHER = (("additionalProperties", "properties"), ("additionalItems", "items", "prefixItems"))
"""Alternative keywords: only one of them applies to each member or item."""
_MAX_REFERENCE_DEPTH = 200


class Subschema(NamedTuple):
    """A schema inside a schema, or the root.

    Attributes:
        path: its path from the root.
        schema: the schema.
        base: the base URI of its references.
    """

    path: FieldPath
    schema: dict[str, Any]
    base: str = ""


class Effort(NamedTuple):
    """The work of validating a value.

    Attributes:
        visits: the number of subschemas that one part of a value is compared with.
        returns: the number of references from a recursive schema to itself that apply to one part of a value.
    """

    visits: int
    returns: int


def subschemas(schema: dict[str, Any]) -> Iterator[Subschema]:
    """Yield the schema and every subschema, including those of unknown keywords."""
    waiting = [Subschema((), schema)]
    while waiting:
        subschema = waiting.pop()
        if has_own_base(subschema.schema):
            subschema = subschema._replace(base=urldefrag(urljoin(subschema.base, subschema.schema["$id"])).url)
        yield subschema
        for keyword, value in subschema.schema.items():
            if keyword not in _DATA:
                waiting.extend(
                    Subschema((*subschema.path, keyword, *more), inner, subschema.base)
                    for more, inner in _inside(keyword, value)
                )


def _inside(keyword: str, value: Any) -> Iterator[tuple[FieldPath, dict[str, Any]]]:
    if isinstance(value, dict):
        if keyword not in _NAMED:
            yield (), value
            return
        members: Any = value.items()
    else:
        members = enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        if isinstance(inner, dict):
            yield (name,), inner


def map_subschemas(schema: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Mapping[str, Any]:
    """Return a schema in which the results of `change` replace the subschemas, innermost first, and then the root.

    A schema with its own base URI is left as it is, because its references have another meaning.
    """
    if has_own_base(schema):
        return schema
    return change({keyword: _mapped(keyword, value, change) for keyword, value in schema.items()})


def _mapped(keyword: str, value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if keyword in _DATA:
        return value
    if isinstance(value, list):
        return [map_subschemas(item, change) if isinstance(item, dict) else item for item in value]
    if not isinstance(value, dict):
        return value
    if keyword not in _NAMED:
        return map_subschemas(value, change)
    return {
        name: map_subschemas(member, change) if isinstance(member, dict) else member for name, member in value.items()
    }


def has_own_base(schema: Mapping[str, Any]) -> bool:
    """Return True if a schema has an `$id` that is a base URI. In draft-07, `$id` may also be an anchor."""
    identifier = schema.get("$id")
    return isinstance(identifier, str) and not identifier.startswith("#")


def effort(schema: dict[str, Any]) -> Effort:
    """Return the work that a schema can cause, including references. The schema must be valid.

    Raises:
        ValueError: the chain of references is too long.
    """
    return _Measure(schema).of(schema, 0)


class _Measure:
    """The work of validating against one schema.

    References to a dialect count as recursive, because dialect schemas are recursive.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._bases: dict[int, str] = {}
        self._targets: dict[str, Any] = {}
        self._known: dict[int, Effort] = {}
        self._entered: set[int] = set()
        for subschema in subschemas(schema):
            self._bases[id(subschema.schema)] = subschema.base
            if not subschema.path or isinstance(subschema.schema.get("$id"), str):
                self._targets.setdefault(subschema.base, subschema.schema)
            for anchor in ("$anchor", "$dynamicAnchor"):
                self._targets.setdefault(f"{subschema.base}#{subschema.schema.get(anchor)}", subschema.schema)
            if str(subschema.schema.get("$id")).startswith("#"):  # the anchors of draft-07
                self._targets.setdefault(subschema.base + subschema.schema["$id"], subschema.schema)

    def of(self, schema: Any, depth: int) -> Effort:
        if not isinstance(schema, dict):
            return Effort(1, 0)
        key = id(schema)
        if key in self._entered:
            return Effort(0, 1)
        if key not in self._known:
            if depth > _MAX_REFERENCE_DEPTH:
                raise ValueError("its chain of references is too long")
            self._entered.add(key)
            self._known[key] = self._measured(schema, depth + 1)
            self._entered.discard(key)
        return self._known[key]

    def _measured(self, schema: dict[str, Any], depth: int) -> Effort:
        together = [self.of(inner, depth) for key in (*_IN_PLACE, *_EACH) for inner in _held(schema, key)]
        for key in _REFERENCES:
            if isinstance(schema.get(key), str):
                target = self._target(self._bases.get(id(schema), ""), schema[key])
                together.append(Effort(1, 2) if target is None else self.of(target, depth))
        for keys in _EITHER:
            parts = [self.of(inner, depth) for key in keys for inner in _held(schema, key)]
            together.append(
                Effort(
                    max((part.visits for part in parts), default=0), max((part.returns for part in parts), default=0)
                )
            )
        return Effort(1 + sum(part.visits for part in together), sum(part.returns for part in together))

    def _target(self, base: str, reference: str) -> Any:
        url, fragment = urldefrag(urljoin(base, reference))
        if fragment and not fragment.startswith("/"):
            return self._targets.get(f"{url}#{fragment}")
        target = self._targets.get(url)
        for part in unquote(fragment).split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list):
                target = target[int(part)] if part.isdecimal() and int(part) < len(target) else None
            else:
                target = target.get(part) if isinstance(target, dict) else None
        return target


def _held(schema: dict[str, Any], keyword: str) -> list[Any]:
    """Return the schemas in the value of a keyword. The values true and false are schemas, too."""
    value = schema.get(keyword)
    if isinstance(value, dict):
        return (
            [member for member in value.values() if isinstance(member, dict | bool)] if keyword in _NAMED else [value]
        )
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict | bool)]
    return [] if value is None else [value]
