"""What a JSON Schema finds wrong with a value, in words that a model can act on.

It takes the errors of jsonschema-rs apart and does not import it. Nothing of the value is repeated but the names of its
members; what the schema says may be, it is no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

if TYPE_CHECKING:
    from pegboard.schemas.subschemas import Path

REQUIRED = "is required"
UNKNOWN = "is not a parameter of this tool"
NOT_ALLOWED = "is not allowed"
MOST_FORMS = 5
"""How many of several allowed forms are described."""
MOST_CHARACTERS = 100
"""Of a value that the schema names."""

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _json(value: Any) -> str:
    text = to_json(value).decode()
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "..."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number != 1 else f"1 {what.removesuffix('s')}"


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "AdditionalItems": lambda kind: f"must have at most {_count(kind.limit, 'items')}",
    "BacktrackLimitExceeded": lambda kind: "cannot be checked against its pattern",
    "Constant": lambda kind: f"must be {_json(kind.expected_value)}",
    "Contains": lambda kind: "lacks an item that it must hold",
    "Enum": lambda kind: "must be one of " + _some([_json(option) for option in kind.options]),
    "ExclusiveMaximum": lambda kind: f"must be less than {kind.limit}",
    "ExclusiveMinimum": lambda kind: f"must be greater than {kind.limit}",
    "FalseSchema": lambda kind: NOT_ALLOWED,
    "MaxItems": lambda kind: f"must have at most {_count(kind.limit, 'items')}",
    "MaxLength": lambda kind: f"must have at most {_count(kind.limit, 'characters')}",
    "MaxProperties": lambda kind: f"must have at most {_count(kind.limit, 'members')}",
    "Maximum": lambda kind: f"must be at most {kind.limit}",
    "MinItems": lambda kind: f"must have at least {_count(kind.limit, 'items')}",
    "MinLength": lambda kind: f"must have at least {_count(kind.limit, 'characters')}",
    "MinProperties": lambda kind: f"must have at least {_count(kind.limit, 'members')}",
    "Minimum": lambda kind: f"must be at least {kind.limit}",
    "MultipleOf": lambda kind: f"must be a multiple of {kind.multiple_of}",
    "Not": lambda kind: "is of a form that is excluded",
    "OneOfMultipleValid": lambda kind: "fits more than one of the forms of which it must fit one",
    "Pattern": lambda kind: f"must match the regular expression {kind.pattern[:MOST_CHARACTERS]}",
    "Type": lambda kind: "must be " + " or ".join(_TYPES.get(name, name) for name in kind.types),
    "UnevaluatedItems": lambda kind: "has items that are not allowed",
    "UniqueItems": lambda kind: "must not hold the same item twice",
}
"""By the kind of the error."""


def _some(options: list[str]) -> str:
    more = f" and {len(options) - 20} more" if len(options) > 20 else ""
    return ", ".join(options[:20]) + more


def problems(error: Any, value: Any) -> Iterator[tuple[Path, str]]:
    """What one error says: where, and what is wrong there.

    Args:
        error: a `jsonschema_rs.ValidationError`.
        value: what does not fit.
    """
    path, kind = tuple(error.instance_path), error.kind
    name = type(kind).__name__
    if name == "Required":
        yield (*path, kind.property), REQUIRED
    elif name in ("AdditionalProperties", "UnevaluatedProperties"):
        for unexpected in kind.unexpected:
            yield (*path, unexpected), NOT_ALLOWED if path else UNKNOWN
    elif name == "FalseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        # it does not say which: without `properties` beside it, all of them
        for unexpected in _at(value, path) or ():
            yield (*path, unexpected), NOT_ALLOWED if path else UNKNOWN
    elif name == "PropertyNames":
        for _, text in problems(kind.error, value):
            yield path, f"has a member whose name is not allowed: it {text}"
    elif name in ("AnyOf", "OneOfNotValid"):
        yield path, _forms(kind.context, len(path), value)
    else:
        words = _WORDS.get(name)
        yield path, words(kind) if words else f"does not fit {kind.name}"


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _forms(branches: list[list[Any]], depth: int, value: Any) -> str:
    """What each of the forms that are allowed finds wrong."""
    texts: list[str] = []
    for branch in branches:
        found = [line(path[depth:], text) for error in branch for path, text in problems(error, value)]
        text = " and ".join(sorted(found)[:3])
        if text and text not in texts:
            texts.append(text)
    if not texts:
        return "fits none of the forms that are allowed"
    more = f", or {len(texts) - MOST_FORMS} other forms" if len(texts) > MOST_FORMS else ""
    return ", or: ".join(texts[:MOST_FORMS]) + more


def line(path: Path, text: str) -> str:
    """A problem as one piece of text."""
    where = ".".join(map(str, path))
    if not where:
        return text
    return f"{where} {text}" if text.startswith((REQUIRED, UNKNOWN, NOT_ALLOWED)) else f"{where}: {text}"
