"""JSON Schemas and core schemas of plain types. The schemas equal pydantic's, but are created ten times faster.

Plain types are str, int, float, bool, None, Any, literals of strings, and lists, dicts and tuples of plain types, also
with `| None`, limits and descriptions. Most types are plain, and most of the start-up time of a tool is spent on
compiling types. pydantic compiles all other types.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from pegboard.types.callers import EMPTY

JsonObject = dict[str, Any]

_ATOMS: Mapping[Any, tuple[CoreSchema, str]] = {
    str: (core_schema.str_schema(), "string"),
    int: (core_schema.int_schema(), "integer"),
    float: (core_schema.float_schema(allow_inf_nan=False), "number"),
    bool: (core_schema.bool_schema(), "boolean"),
    None: (core_schema.none_schema(), "null"),
    types.NoneType: (core_schema.none_schema(), "null"),
}
_NUMBERS = {
    "Ge": ("ge", "minimum"),
    "Gt": ("gt", "exclusiveMinimum"),
    "Le": ("le", "maximum"),
    "Lt": ("lt", "exclusiveMaximum"),
}
_LIMITS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "int": _NUMBERS,
    "float": _NUMBERS,
    "str": {"MinLen": ("min_length", "minLength"), "MaxLen": ("max_length", "maxLength")},
    "list": {"MinLen": ("min_length", "minItems"), "MaxLen": ("max_length", "maxItems")},
}
"""The limits by the type of the core schema: classes of `annotated_types`, each with its names in both schemas."""
_DEFAULTS = (bool, int, float, str, types.NoneType)
_NAME = "json"
_PLAIN_JSON: CoreSchema = core_schema.definition_reference_schema(_NAME)
"""The core schema of any JSON value. It rejects subclasses, bytes and iterators."""
_ANY = core_schema.any_schema()


class NotPlainError(Exception):
    """A type is not plain."""


class Plain(NamedTuple):
    """The core schema and the JSON Schema of a type."""

    core: CoreSchema
    json: JsonObject


class Parameter(NamedTuple):
    """A parameter of a function.

    Attributes:
        name: the name of the argument.
        type: the type without Annotated.
        extras: the metadata of Annotated, without strings.
        description: the description for clients, or None if `extras` may contain a description.
        default: the default, or `inspect.Parameter.empty` for a required parameter.
    """

    name: str
    type: Any
    extras: Sequence[Any]
    description: str | None
    default: Any


def plain_arguments(parameters: Iterable[Parameter]) -> Plain:
    """Return the schemas of the arguments of a function.

    Raises:
        NotPlainError: the type of a parameter is not plain.
    """
    fields: dict[str, core_schema.TypedDictField] = {}
    properties: dict[str, JsonObject] = {}
    required: list[str] = []
    for name, annotation, extras, description, default in parameters:
        core, json = _described(_plain(annotation, _PLAIN_JSON), extras, description)
        if default is inspect.Parameter.empty:
            required.append(name)
        else:
            is_empty = type(default) in (list, dict) and not default
            if type(default) not in _DEFAULTS and not is_empty:
                raise NotPlainError
            core = core_schema.with_default_schema(core, default=default)
            if is_shown_default(default, json) and (type(default) is not float or isfinite(default)):
                json = _sorted(json, default=default)
        fields[name] = core_schema.typed_dict_field(core, required=name in required)
        properties[name] = json
    config = core_schema.CoreConfig(title="arguments", hide_input_in_errors=True, allow_inf_nan=False)
    core = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=config)
    json = {"additionalProperties": False, "properties": properties}
    if required:
        json["required"] = required
    return Plain(core_schema.definitions_schema(core, [_plain_json()]), {**json, "type": "object"})


def is_shown_default(default: object, json: JsonObject, definitions: Mapping[str, JsonObject] = EMPTY) -> bool:
    """Return True if the schema contains a default. The default None is omitted unless the type accepts None."""
    return default is not None or _accepts_null(json, definitions)


def _accepts_null(json: JsonObject, definitions: Mapping[str, JsonObject]) -> bool:
    if reference := json.get("$ref"):
        return _accepts_null(definitions.get(reference.rpartition("/")[2], {}), definitions)
    if forms := json.get("anyOf") or json.get("oneOf"):
        return any(_accepts_null(form, definitions) for form in forms)
    return None in json.get("enum", (None,)) and "null" in json.get("type", "null")


def strict_names(parameters: Mapping[str, Parameter]) -> list[str]:
    """Return the argument names of the parameters with `Field(strict=True)`."""
    names = []
    for name, parameter in parameters.items():
        fields = [extra for extra in (*parameter.extras, parameter.default) if isinstance(extra, FieldInfo)]
        extras = (*parameter.extras, *(extra for field in fields for extra in field.metadata))
        if any(getattr(extra, "strict", False) is True for extra in extras):
            names += [name, *(field.validation_alias for field in fields if isinstance(field.validation_alias, str))]
    return names


def plain_result(annotation: Any) -> Plain:
    """Return the schemas of the result of a function. The core schema is for strict validation of JSON-ready values.

    Raises:
        NotPlainError: the type is not plain.
    """
    return _plain(annotation, _ANY)


def _plain(annotation: Any, anything: CoreSchema) -> Plain:
    """Return the schemas of a type. In arguments, `Any` is `_PLAIN_JSON`, which copies; results are encoded at once."""
    atom = _ATOMS.get(annotation) if annotation is None or isinstance(annotation, type) else None
    if atom:
        return Plain(atom[0], {"type": atom[1]})
    if annotation is Any:
        return Plain(anything, {})
    origin, parts = get_origin(annotation) or annotation, get_args(annotation)
    if not parts and (origin is dict or origin is list):  # also typing.Dict and typing.List
        parts = (str, Any) if origin is dict else (Any,)
    if origin is Literal and all(type(part) is str for part in parts):
        choices: JsonObject = {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
        return Plain(core_schema.literal_schema(list(parts)), {**choices, "type": "string"})
    if origin in (Union, types.UnionType) and len(parts) == 2 and types.NoneType in parts:
        return _nullable(_plain(parts[0] if parts[1] is types.NoneType else parts[1], anything))
    if (origin is list and len(parts) == 1) or (origin is tuple and parts[1:] == (...,)):
        core, json = _plain(parts[0], anything)
        if origin is tuple and anything is _PLAIN_JSON:  # in results, tuples are lists, as in JSON
            core = core_schema.tuple_schema([core], variadic_item_index=0)
        else:
            core = core_schema.list_schema(core)
        return Plain(core, {"items": json, "type": "array"})
    if origin is dict and len(parts) == 2 and parts[0] is str:
        core, json = _plain(parts[1], anything)
        core = core_schema.dict_schema(core_schema.str_schema(), core)
        return Plain(core, {"additionalProperties": json or True, "type": "object"})
    raise NotPlainError


def _nullable(plain: Plain) -> Plain:
    return Plain(core_schema.nullable_schema(plain.core), {"anyOf": [plain.json, {"type": "null"}]})


def _described(plain: Plain, extras: Sequence[Any], description: str | None) -> Plain:
    """Add the limits and the description from Annotated."""
    limits = []
    text = None
    for extra in extras:
        if not isinstance(extra, FieldInfo):
            limits.append(extra)
            continue
        usual = Field(description=extra.description)
        if extra.asdict()["attributes"] != usual.asdict()["attributes"]:
            raise NotPlainError
        limits += extra.metadata
        text = text if extra.description is None else extra.description
    core, json = _limited(plain, limits) if limits else plain
    text = text if description is None else description
    return Plain(core, json if text is None else _sorted(json, description=text))


def _limited(plain: Plain, limits: Sequence[Any]) -> Plain:
    core: Any = dict(plain.core)
    if core["type"] == "nullable":
        return _nullable(_limited(Plain(core["schema"], plain.json["anyOf"][0]), limits))
    json = dict(plain.json)
    for limit in limits:
        kind = type(limit)
        names = _LIMITS.get(core["type"], {}).get(kind.__name__)
        if names is None or names[0] in core or kind.__module__ != "annotated_types":
            raise NotPlainError
        core[names[0]] = json[names[1]] = getattr(limit, names[0])
    return Plain(core, _sorted(json))


def _sorted(json: JsonObject, **more: Any) -> JsonObject:
    return dict(sorted((json | more).items()))


# --- Values that consist only of the types that JSON has. pydantic_core checks and copies them in one pass.


@cache
def _plain_json() -> CoreSchema:
    """Return the definition of `_PLAIN_JSON`. Creating it takes longer than creating most schemas."""
    parts: dict[Any, CoreSchema] = {
        str: core_schema.str_schema(strict=True),
        int: core_schema.int_schema(strict=True),
        float: core_schema.float_schema(strict=True, allow_inf_nan=False),
        bool: core_schema.bool_schema(strict=True),
        type(None): core_schema.none_schema(),
        dict: core_schema.dict_schema(core_schema.str_schema(strict=True), _PLAIN_JSON, strict=True),
        list: core_schema.list_schema(_PLAIN_JSON, strict=True),
    }
    return core_schema.tagged_union_schema(parts, discriminator=type, ref=_NAME)
