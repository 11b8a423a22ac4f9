"""Forms for elicitation, and the check of their answers.

A form is a flat object of strings, numbers, booleans and choices (MCP 2026-07-28, client/elicitation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Generic, Literal, NamedTuple, TypeGuard, TypeVar

from pegboard.context.progress import is_number
from pegboard.errors import InteractionError
from pegboard.messages.argument_errors import input_error
from pegboard.messages.error_words import WORDS

T = TypeVar("T")

FORMATS = ("email", "uri", "date", "date-time")
_PATTERNS = {
    "email": re.compile(r"[^@\s]+@[^@\s]+"),
    "uri": re.compile(r"[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "date-time": re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
    ),
}

_TEXT = {"type", "title", "description", "default", "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"}
_NUMBER = {"type", "title", "description", "default", "minimum", "maximum"}
_ALLOWED = {
    "string": _TEXT,
    "number": _NUMBER,
    "integer": _NUMBER,
    "boolean": {"type", "title", "description", "default"},
    "array": {"type", "title", "description", "default", "minItems", "maxItems", "items"},
}
_INTEGERS = ("minLength", "maxLength", "minItems", "maxItems")
_DROPPED = {"examples", "deprecated", "readOnly", "writeOnly", "uniqueItems"}
"""Keywords in pydantic's schemas that are removed, because forms do not support them."""


class Elicited(NamedTuple, Generic[T]):
    """The answer of a user.

    Attributes:
        action: "accept", "decline" (an explicit no) or "cancel" (dismissed without a choice).
        content: the content of the form, converted to the type of the schema; None unless accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    content: T | None = None

    @property
    def accepted(self) -> bool:
        """True if the user agreed."""
        return self.action == "accept"


class Form(NamedTuple):
    """A form with the conversion of its content.

    Attributes:
        schema: the flat JSON Schema that is sent.
        convert: converts valid content to the type of the schema. Raises ValueError if a validator rejects it.
    """

    schema: Mapping[str, Any]
    convert: Callable[[dict[str, Any]], Any]


def form_of(schema: Any) -> Form:
    """Return the form that a schema describes.

    Args:
        schema: a JSON Schema, a pydantic model, dataclass or TypedDict, or a plain type for a form with one field.

    Raises:
        InteractionError: the schema cannot be a form; the developer message names the field and the reason.
    """
    if isinstance(schema, Mapping):
        _check_form(schema)
        return Form(schema, dict)
    if isinstance(schema, str):  # pydantic would look the name up in this module
        raise _invalid_form(f"{schema!r} is not a type: pass the type itself")
    try:
        hash(schema)
    except TypeError:
        return _typed_form.__wrapped__(schema)
    return _typed_form(schema)


@lru_cache(maxsize=128)
def _typed_form(kind: Any) -> Form:
    from pydantic import PydanticUserError, TypeAdapter, ValidationError, create_model
    from pydantic_core import SchemaError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        schema = adapter.json_schema()
        single = _resolved(schema, schema.get("$defs", {})).get("type") != "object"
        if single:
            model = create_model("Form", value=(kind, ...))
            adapter = TypeAdapter(model)
            schema = adapter.json_schema()
    except (PydanticUserError, SchemaError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise _invalid_form(f"{kind!r} is not a type that JSON Schema can describe: {why}") from None
    flat, nullable = _flattened(schema)
    _check_form(flat)

    def convert(content: dict[str, Any]) -> Any:
        try:
            value = adapter.validate_python({**dict.fromkeys(nullable), **content})
        except ValidationError as error:
            raise ValueError(input_error(error, content).message.removeprefix("Invalid arguments:\n")) from None
        return value.value if single else value

    return Form(flat, convert)


# --- from pydantic's schemas to flat schemas ---


def _flattened(schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return pydantic's schema without references and null types, and the names of required fields that may be null.

    Forms do not support null, so fields that may be null become optional.
    """
    definitions = schema.get("$defs", {})
    root = _resolved(schema, definitions)
    if "properties" not in root or root.get("patternProperties") or isinstance(root.get("additionalProperties"), dict):
        raise _invalid_form('the field names are not fixed: list the fields in "properties"')
    required = root.get("required", [])
    nullable = [name for name in required if _NULL in _resolved(root["properties"][name], definitions).get("anyOf", ())]
    flat: dict[str, Any] = {
        "type": "object",
        "properties": {name: _field(field, definitions) for name, field in root["properties"].items()},
    }
    if needed := [name for name in required if name not in nullable]:
        flat["required"] = needed
    return flat, nullable


_NULL = {"type": "null"}


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return dict(schema)
    target = definitions[reference.removeprefix("#/$defs/")]
    return {**_resolved(target, definitions), **{key: value for key, value in schema.items() if key != "$ref"}}


def _field(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in _resolved(field, definitions).items() if key not in _DROPPED}
    branches = [_resolved(branch, definitions) for branch in flat.pop("anyOf", ()) if branch != _NULL]
    if len(branches) == 1:
        flat = {**{key: value for key, value in branches[0].items() if key not in _DROPPED}, **flat}
    elif titled := _titled(branches):
        flat |= {"type": "string", "oneOf": titled}
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    if flat.get("type") == "integer":
        for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            if exclusive in flat:
                flat[inclusive] = flat.pop(exclusive) + step
    if flat.get("type") == "array" and isinstance(flat.get("items"), Mapping):
        flat["items"] = _items(flat["items"], definitions)
    if "default" in flat and flat["default"] is None:
        del flat["default"]
    return flat


def _titled(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the titled choices of a union of literals, or an empty list for any other union."""
    if not all(isinstance(branch.get("const"), str) for branch in branches):
        return []
    return [{"const": branch["const"], "title": branch.get("title", branch["const"])} for branch in branches]


def _items(items: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    flat = _resolved(items, definitions)
    if titled := _titled([_resolved(branch, definitions) for branch in flat.get("anyOf", ())]):
        return {"anyOf": titled}
    if "const" in flat:
        flat["enum"] = [flat["const"]]
    return {key: flat[key] for key in ("type", "enum") if key in flat}


# --- the rules of a form ---


def _check_form(schema: Mapping[str, Any]) -> None:
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise _invalid_form('its schema is not an object with "properties"')
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in properties for name in required):
        raise _invalid_form('"required" names fields that are not in "properties"')
    for name, field in properties.items():
        if complaint := _complaint(field):
            raise _invalid_form(f"field {name!r}: {complaint}; a form has strings, numbers, booleans and choices")


def _complaint(field: Any) -> str | None:
    if not isinstance(field, Mapping):
        return "it must be an object"
    kind = field.get("type")
    if not isinstance(kind, str) or kind not in _ALLOWED:
        return "it must have one simple type" if kind is None else f"its type is {kind!r}"
    if extra := sorted(set(field) - _ALLOWED[kind]):
        return f"{extra[0]!r} is not possible for a field of type {kind}"
    if complaint := _wrong_value(field) or _wrong_choices(field):
        return complaint
    if "default" in field and (wrong := _value_problem(field, field["default"])):
        return f"its default {wrong}"
    return None


def _wrong_value(field: Mapping[str, Any]) -> str | None:
    """Return the reason why a keyword of a field has an invalid value, or None if all keywords are valid."""
    for key in ("title", "description"):
        if not isinstance(field.get(key, ""), str):
            return f"its {key} must be a string"
    if wrong := [key for key in _INTEGERS if type(field.get(key, 0)) is not int]:
        return f"its {wrong[0]} must be an integer"
    if wrong := [key for key in ("minimum", "maximum") if not is_number(field.get(key, 0))]:
        return f"its {wrong[0]} must be a number"
    if "format" in field and field["format"] not in FORMATS:
        return f"the format {field['format']!r} is unknown: use one of {', '.join(FORMATS)}"
    return None


def _wrong_choices(field: Mapping[str, Any]) -> str | None:
    values = choices(field)
    if field["type"] == "array":
        named = isinstance(field.get("items"), Mapping) and "enum" in field["items"]
        return "its items must be choices" if not values or (named and field["items"].get("type") != "string") else None
    if {"enum", "oneOf"} & set(field) and not values:
        return "its choices must be strings"
    names = field.get("enumNames", values)
    if names != values and not (_are_texts(names) and len(names) == len(values or ())):
        return '"enumNames" and "enum" differ in length'
    return None


def choices(field: Mapping[str, Any]) -> list[str] | None:
    """Return the choices of a field, or None for a field without choices."""
    source = field.get("items", {}) if field.get("type") == "array" else field
    if not isinstance(source, Mapping):
        return None
    values = source.get("enum")
    titled = source.get("anyOf" if field.get("type") == "array" else "oneOf")
    if isinstance(titled, list):
        values = [entry.get("const") if _has_title(entry) else None for entry in titled]
    return values if _are_texts(values) else None


def _has_title(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("title"), str)


def _are_texts(values: Any) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _invalid_form(why: str) -> InteractionError:
    return InteractionError("This tool asks for input in a way that cannot work.", f"this cannot be a form: {why}")


# --- answers ---


def form_problem(schema: Mapping[str, Any], content: Any) -> str | None:
    """Return the reason why content does not fit a form, or None if it fits. Unknown members are ignored."""
    if not isinstance(content, Mapping):
        return "the content must be an object"
    properties = schema["properties"]
    for name in schema.get("required", ()):
        if name not in content:
            return f"{name} is missing"
    for name, field in properties.items():
        if name in content and (wrong := _value_problem(field, content[name])):
            return f"{name} {wrong}"
    return None


def _value_problem(field: Mapping[str, Any], value: Any) -> str | None:
    kind = field["type"]
    if kind == "boolean":
        return None if type(value) is bool else WORDS["bool_type"]
    if kind in ("integer", "number"):
        return _number_problem(field, value)
    if kind == "array":
        return _array_problem(field, value)
    if type(value) is not str:
        return WORDS["string_type"]
    allowed = choices(field)
    if allowed is not None:
        return None if value in allowed else WORDS["Enum"].format(options=", ".join(allowed))
    if not field.get("minLength", 0) <= len(value) <= field.get("maxLength", len(value)):
        return WORDS["answer_length"]
    return None if has_format(field.get("format"), value) else WORDS["answer_format"].format_map(field)


def _number_problem(field: Mapping[str, Any], value: Any) -> str | None:
    if not is_number(value):
        return WORDS["float_type"]
    if field["type"] == "integer" and value != int(value):
        return WORDS["int_type"]
    if not field.get("minimum", value) <= value <= field.get("maximum", value):
        return WORDS["answer_range"]
    return None


def _array_problem(field: Mapping[str, Any], value: Any) -> str | None:
    allowed = choices(field) or []
    if type(value) is not list or any(type(item) is not str or item not in allowed for item in value):
        return WORDS["answer_list"].format(options=", ".join(allowed))
    if not field.get("minItems", 0) <= len(value) <= field.get("maxItems", len(value)):
        return WORDS["answer_count"]
    return None


def has_format(name: str | None, value: str) -> bool:
    """Return True if a string matches one of the formats. Every string matches the format None."""
    if name is None:
        return True
    if _PATTERNS[name].fullmatch(value) is None:
        return False
    try:
        if name == "date":
            date.fromisoformat(value)
        elif name == "date-time":
            datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True
