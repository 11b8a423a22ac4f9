"""Validators of arguments that need no conversion. They validate decoded JSON, so that it is not encoded again.

They exist for types that read a JSON value and the equal Python value alike: models and TypedDicts of strings, numbers,
booleans, lists and dicts, and of dates, UUIDs and enums that are sent as strings. Strings, numbers and booleans must
have exactly the declared type. Arguments that such a validator rejects may still be valid: the caller then validates
them as JSON. Those that do not fit then either may be JSON in a string, which `decoded_strings` decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pydantic_core import CoreConfig, CoreSchema, SchemaError, SchemaValidator, ValidationError, core_schema

from pegboard.messages.error_words import FieldPath
from pegboard.messages.hints import subschemas_at
from pegboard.wire.codec import decode

_ATOMS = frozenset(("str", "int", "float", "bool"))
_TEXTS = frozenset(("date", "datetime", "time", "timedelta", "uuid", "enum"))
"""The types that read a string alike in JSON and Python, except in strict mode."""
_UNCHANGED = frozenset(("none", "definition-ref"))
_INNER: Mapping[str, AbstractSet[str]] = {
    "list": {"items_schema"},
    "dict": {"keys_schema", "values_schema"},
    "nullable": {"schema"},
    "default": {"schema"},
    "model": {"schema"},
    "definitions": {"schema"},
}
"""The core schemas inside of each type of core schema."""
_CONTAINERS = ("list", "dict")
_FIELDS = frozenset(("typed-dict", "model-fields"))
_UNUSUAL = frozenset(("custom_init", "root_model", "extras_schema", "extras_keys_schema", "on_error"))


class _ConvertedError(Exception):
    """A type may read JSON differently from Python values."""


def exact_validator(core: CoreSchema, *, strict: bool = False) -> Callable[[Any], dict[str, Any]] | None:
    """Return a validator of arguments that need no conversion, or None if a type may need one.

    Args:
        core: the core schema of the arguments.
        strict: True if the arguments are validated strictly.
    """
    try:
        # the prebuilt validator of a model would convert
        return SchemaValidator(_exact(core, strict), _use_prebuilt=False).validate_python
    except (_ConvertedError, SchemaError):
        return None


def _exact(core: Any, strict: bool) -> Any:
    kind = core["type"]
    if kind in _ATOMS:
        return {**core, "strict": True}
    if kind in _UNCHANGED or (kind == "literal" and all(type(choice) is str for choice in core["expected"])):
        return core
    if kind in _TEXTS and not strict and not core.get("strict"):
        return _after(core_schema.str_schema(strict=True), core)
    config: CoreConfig = core.get("config", {})
    extra = core.get("extra_behavior", config.get("extra_fields_behavior"))
    if _UNUSUAL.intersection(name for name in core if core[name]) or extra == "allow" or config.get("strict"):
        raise _ConvertedError
    if kind in _FIELDS:
        fields = {name: {**field, "schema": _exact(field["schema"], strict)} for name, field in core["fields"].items()}
        return {**core, "fields": fields}
    inner = _INNER.get(kind)
    if inner is None or not inner <= core.keys() or (kind == "dict" and core["keys_schema"]["type"] != "str"):
        raise _ConvertedError
    exact = {**core, **{name: _exact(core[name], strict) for name in inner}}
    if kind in _CONTAINERS:
        exact["strict"] = True
    if kind == "definitions":
        exact["definitions"] = [_exact(definition, strict) for definition in core["definitions"]]
    # an instance of a model is not JSON
    return _after(core_schema.is_instance_schema(dict), exact) if kind == "model" else exact


def _after(first: CoreSchema, core: Any) -> CoreSchema:
    """Return a core schema that checks a value before another schema reads the value."""
    own = {name: value for name, value in core.items() if name != "ref"}
    return core_schema.chain_schema([first, own], ref=core.get("ref"))


# --- Arguments that are JSON in a string, such as "[1, 2]" for a list. Models often send such strings.

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
