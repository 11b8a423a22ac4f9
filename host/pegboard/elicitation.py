"""Forms: what a person may be asked for in one go, and whether an answer fits.

A form is a flat object of text, numbers, yes or no, and choices, as MCP allows it (2026-07-28, client/elicitation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pegboard.argument_errors import input_error
from pegboard.errors import InteractionError

T = TypeVar("T")

FORMATS = ("email", "uri", "date", "date-time")

_TEXT = {"type", "title", "description", "default", "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"}
_NUMBER = {"type", "title", "description", "default", "minimum", "maximum"}
_ALLOWED = {
    "string": _TEXT,
    "number": _NUMBER,
    "integer": _NUMBER,
    "boolean": {"type", "title", "description", "default"},
    "array": {"type", "title", "description", "default", "minItems", "maxItems", "items"},
}


class Elicited(NamedTuple, Generic[T]):
    """What a person answered.

    Attributes:
        action: "accept", "decline" (an explicit no) or "cancel" (dismissed without a choice).
        content: what was filled in, as the schema asked for it; None unless accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    content: T | None = None

    @property
    def accepted(self) -> bool:
        """Whether the person agreed."""
        return self.action == "accept"


class Form(NamedTuple):
    """A form and what becomes of its content.

    Attributes:
        schema: the flat JSON Schema that is sent.
        convert: content that fits the schema, as the author asked for it; raises ValueError where validators refuse it.
    """

    schema: Mapping[str, Any]
    convert: Callable[[dict[str, Any]], Any]


def form_of(schema: Any) -> Form:
    """The form that a schema describes.

    Args:
        schema: a JSON Schema, a pydantic model, dataclass or TypedDict, or a plain type for a form of one field.

    Raises:
        InteractionError: it cannot be a form; the developer message says which field, and why.
    """
    if isinstance(schema, Mapping):
        _check_form(schema)
        return Form(schema, dict)
    try:
        return _typed_form(schema)
    except TypeError as error:
        raise _no_form(f"{schema!r} is neither a type nor a JSON Schema") from error


@lru_cache(maxsize=128)
def _typed_form(kind: Any) -> Form:
    from pydantic import PydanticUserError, TypeAdapter, ValidationError, create_model

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        schema = adapter.json_schema()
        single = schema.get("type") != "object" and not _is_object(schema)
        if single:
            model = create_model("Form", value=(kind, ...))
            adapter = TypeAdapter(model)
            schema = adapter.json_schema()
    except (PydanticUserError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise _no_form(f"{kind!r} is no type that JSON Schema can describe: {why}") from None
    flat = flatten(schema)
    _check_form(flat)

    def convert(content: dict[str, Any]) -> Any:
        try:
            value = adapter.validate_python(content)
        except ValidationError as error:
            raise ValueError(input_error(error, content).message) from None
        return value.value if single else value

    return Form(flat, convert)


def _is_object(schema: Mapping[str, Any]) -> bool:
    reference = schema.get("$ref")
    return bool(reference) and _resolved(schema, schema.get("$defs", {})).get("type") == "object"


# --- from pydantic's schemas to flat ones ---


def flatten(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of pydantic's without references, and without null for what may be left out."""
    definitions = schema.get("$defs", {})
    root = _resolved(schema, definitions)
    flat: dict[str, Any] = {key: value for key, value in root.items() if key in ("type", "required")}
    flat["properties"] = {name: _field(field, definitions) for name, field in root.get("properties", {}).items()}
    if root.get("patternProperties") or isinstance(root.get("additionalProperties"), Mapping):
        raise _no_form("it has fields without names")
    return flat


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return dict(schema)
    target = definitions[reference.removeprefix("#/$defs/")]
    return {**_resolved(target, definitions), **{key: value for key, value in schema.items() if key != "$ref"}}


def _field(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    flat = _resolved(field, definitions)
    branches = [branch for branch in flat.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        flat = {**_field(branches[0], definitions), **{key: value for key, value in flat.items() if key != "anyOf"}}
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    if flat.get("type") == "integer":
        for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            if exclusive in flat:
                flat[inclusive] = flat.pop(exclusive) + step
    if flat.get("type") == "array" and isinstance(flat.get("items"), Mapping):
        flat["items"] = _choices(_field(flat["items"], definitions))
        flat.pop("uniqueItems", None)
    if "default" in flat and flat["default"] is None:
        del flat["default"]
    return flat


def _choices(items: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in items.items() if key in ("type", "enum", "anyOf")}


# --- what a form may hold ---


def _check_form(schema: Mapping[str, Any]) -> None:
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise _no_form('its schema is not an object with "properties"')
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(required) <= set(properties):
        raise _no_form('"required" names fields that it does not have')
    for name, field in properties.items():
        if complaint := _complaint(field):
            raise _no_form(f"field {name!r}: {complaint}; a form holds text, numbers, yes or no, and choices")


def _complaint(field: Any) -> str | None:
    if not isinstance(field, Mapping):
        return "it is no object"
    kind = field.get("type")
    if not isinstance(kind, str) or kind not in _ALLOWED:
        return f"its type is {kind!r}"
    if extra := sorted(set(field) - _ALLOWED[kind]):
        return f"{extra[0]!r} is not possible for a {kind}"
    if "format" in field and field["format"] not in FORMATS:
        return f"the format {field['format']!r} is none of {', '.join(FORMATS)}"
    if kind == "array" and choices(field) is None:
        return "its items are no choices"
    if {"enum", "oneOf"} & set(field) and choices(field) is None:
        return "its choices are not texts"
    if len(field.get("enumNames", ())) != len(field.get("enum", ())) and "enumNames" in field:
        return '"enumNames" and "enum" differ in length'
    if "default" in field and (wrong := _misfit(field, field["default"])):
        return f"its default {wrong}"
    return None


def choices(field: Mapping[str, Any]) -> list[str] | None:
    """What a field of choices lets choose from; None when it is none."""
    source = field.get("items", {}) if field.get("type") == "array" else field
    if not isinstance(source, Mapping):
        return None
    found = source.get("enum")
    titled = source.get("anyOf" if field.get("type") == "array" else "oneOf")
    if isinstance(titled, list):
        found = [entry.get("const") if isinstance(entry, Mapping) and "title" in entry else None for entry in titled]
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None


def _no_form(why: str) -> InteractionError:
    return InteractionError("This tool asks for input in a way that cannot work.", f"this cannot be a form: {why}")


# --- answers ---


def misfit(schema: Mapping[str, Any], content: Any) -> str | None:
    """Why content does not fit a form, None when it does. What the form does not ask for is let be."""
    if not isinstance(content, Mapping):
        return "the content is no object"
    properties = schema["properties"]
    for name in schema.get("required", ()):
        if name not in content:
            return f"{name} is missing"
    for name, field in properties.items():
        if name in content and (wrong := _misfit(field, content[name])):
            return f"{name} {wrong}"
    return None


def _misfit(field: Mapping[str, Any], value: Any) -> str | None:
    kind = field["type"]
    if kind == "boolean":
        return None if type(value) is bool else "must be true or false"
    if kind in ("integer", "number"):
        return _number_misfit(field, value)
    if kind == "array":
        return _array_misfit(field, value)
    if type(value) is not str:
        return "must be text"
    allowed = choices(field)
    if allowed is not None:
        return None if value in allowed else f"must be one of {', '.join(allowed)}"
    if not field.get("minLength", 0) <= len(value) <= field.get("maxLength", len(value)):
        return "is too short or too long"
    return None if _has_format(field.get("format"), value) else f"must be a {field['format']}"


def _number_misfit(field: Mapping[str, Any], value: Any) -> str | None:
    if type(value) not in (int, float) or not isfinite(value):
        return "must be a number"
    if field["type"] == "integer" and value != int(value):
        return "must be a whole number"
    if not field.get("minimum", value) <= value <= field.get("maximum", value):
        return "is out of range"
    return None


def _array_misfit(field: Mapping[str, Any], value: Any) -> str | None:
    allowed = choices(field) or []
    if type(value) is not list or any(type(one) is not str or one not in allowed for one in value):
        return f"must be a list of {', '.join(allowed)}"
    if not field.get("minItems", 0) <= len(value) <= field.get("maxItems", len(value)):
        return "has too few or too many entries"
    return None


def _has_format(name: str | None, value: str) -> bool:
    try:
        if name == "email":
            return re.fullmatch(r"[^@\s]+@[^@\s]+", value) is not None
        if name == "uri":
            return bool(urlsplit(value).scheme)
        if name == "date":
            date.fromisoformat(value)
        elif name == "date-time":
            datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
