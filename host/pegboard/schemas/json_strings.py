"""Arguments that are JSON in a string, such as "[1, 2]" for a list. Models often send such strings.

Only arguments that did not fit are decoded, so valid calls take no time here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import ValidationError

from pegboard.messages.error_words import FieldPath
from pegboard.messages.hints import subschemas_at
from pegboard.wire.codec import decode

_DECODED: Mapping[type[Any], str] = {dict: "object", list: "array"}
"""The JSON Schema types of values that are decoded."""


def decoded_strings(
    error: ValidationError, arguments: Mapping[str, Any], schema: Mapping[str, Any], exact: Collection[str]
) -> dict[str, Any] | None:
    """Return the arguments with decoded strings, or None if no string can be decoded.

    An argument is decoded if it does not fit, and if its type accepts the decoded object or list but no string.

    Args:
        error: the error of pydantic for the arguments.
        arguments: the arguments of the call.
        schema: their JSON Schema.
        exact: the names of arguments that are not converted.
    """
    details = error.errors(include_url=False, include_context=False, include_input=False)
    wrong = {str(detail["loc"][0]) for detail in details if detail["loc"]}
    decoded: dict[str, Any] = {}
    for name in (arguments.keys() & wrong).difference(exact):
        text = arguments[name]
        if isinstance(text, str) and text.lstrip().startswith(("{", "[")):
            value, kinds = _decoded(text), _types((name,), schema)
            if _DECODED.get(type(value), "") in kinds and "string" not in kinds:
                decoded[name] = value
    return {**arguments, **decoded} if decoded else None


def _types(path: FieldPath, schema: Mapping[str, Any]) -> set[str]:
    """Return the JSON types that a schema accepts at a path."""
    types: set[str] = set()
    for subschema in subschemas_at(path, schema):
        kind = subschema.get("type", ())
        types.update((kind,) if isinstance(kind, str) else kind)
    return types


def _decoded(text: str) -> Any:
    try:
        return decode(text.encode())
    except ValueError:
        return None
