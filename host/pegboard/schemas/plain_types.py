"""JSON Schemas and core schemas of plain types. The schemas equal pydantic's, but are created ten times faster.

Plain types are str, int, float, bool, None, Any, literals of strings, and lists, dicts and tuples of plain types, also
with `| None`, limits and descriptions. TypedDicts of plain types are plain for results. Most types are plain, and most
of the start-up time of a tool is spent on compiling types. pydantic compiles all other types.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Required, TypeVar, Union, get_args, get_origin

import typing_extensions
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
_BLANK_FIELD: FieldInfo = Field()


def _is_unusual(field: FieldInfo) -> bool:
    """Return True if a field has more than a description and limits."""
    blank = _BLANK_FIELD
    usual = ("annotation", "description", "metadata")
    names = [name for name in type(blank).__slots__ if not name.startswith("_") and name not in usual]
    return any(getattr(field, name) is not getattr(blank, name) for name in names)


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


def plain_arguments(parameters: Iterable[Parameter], title: str) -> Plain:
    """Return the schemas of the arguments of a function.

    Raises:
        NotPlainError: the type of a parameter is not plain.
    """
    fields: dict[str, core_schema.TypedDictField] = {}
    properties: dict[str, JsonObject] = {}
    for parameter in parameters:
        core, json = _described(_plain(parameter.type, _no_class), parameter.extras, parameter.description)
        required = parameter.default is inspect.Parameter.empty
        if not required:
            is_empty = type(parameter.default) in (list, dict) and not parameter.default
            if (
                parameter.default is not None
                and type(parameter.default) not in (bool, int, float, str)
                and not is_empty
            ):
                raise NotPlainError
            core = core_schema.with_default_schema(core, default=parameter.default)
            if is_shown_default(parameter.default, json) and (
                type(parameter.default) is not float or isfinite(parameter.default)
            ):
                json = _sorted(json, default=parameter.default)
        fields[parameter.name] = core_schema.typed_dict_field(core, required=required)
        properties[parameter.name] = json
    config = core_schema.CoreConfig(title=title, hide_input_in_errors=True, allow_inf_nan=False)
    core = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=config)
    return Plain(with_plain_json(core), {"additionalProperties": False, **_object(fields, properties)})


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
    classes = _Classes(annotation)
    core, json = _plain(annotation, classes.plain)
    if "$ref" in json:
        json = classes.schemas.pop(json["$ref"])
    if classes.schemas:
        definitions = {path.rpartition("/")[2]: schema for path, schema in sorted(classes.schemas.items())}
        json = {"$defs": definitions, **json}
    return Plain(core, json)


def _plain(annotation: Any, of_class: Callable[[Any], Plain]) -> Plain:
    atom = _ATOMS.get(annotation) if annotation is None or isinstance(annotation, type) else None
    if atom:
        return Plain(atom[0], {"type": atom[1]})
    if annotation is Any:
        # arguments are copied; results are encoded at once
        return Plain(PLAIN_JSON if of_class is _no_class else core_schema.any_schema(), {})
    origin, parts = get_origin(annotation) or annotation, get_args(annotation)
    if not parts and (origin is dict or origin is list):  # also typing.Dict and typing.List
        parts = (str, Any) if origin is dict else (Any,)
    if origin is Literal and all(type(part) is str for part in parts):
        choices: JsonObject = {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
        return Plain(core_schema.literal_schema(list(parts)), {**choices, "type": "string"})
    if origin in (Union, types.UnionType) and len(parts) == 2 and types.NoneType in parts:
        return _nullable(_plain(parts[0] if parts[1] is types.NoneType else parts[1], of_class))
    if (origin is list and len(parts) == 1) or (origin is tuple and parts[1:] == (...,)):
        core, json = _plain(parts[0], of_class)
        if origin is tuple and of_class is _no_class:  # in results, tuples are lists, as in JSON
            core = core_schema.tuple_schema([core], variadic_item_index=0)
        else:
            core = core_schema.list_schema(core)
        return Plain(core, {"items": json, "type": "array"})
    if origin is dict and len(parts) == 2 and parts[0] is str:
        core, json = _plain(parts[1], of_class)
        core = core_schema.dict_schema(core_schema.str_schema(), core)
        return Plain(core, {"additionalProperties": json or True, "type": "object"})
    return of_class(annotation)


def _no_class(annotation: Any) -> Plain:
    raise NotPlainError


def _nullable(plain: Plain) -> Plain:
    return Plain(core_schema.nullable_schema(plain.core), {"anyOf": [plain.json, {"type": "null"}]})


def _described(plain: Plain, extras: Sequence[Any], description: str | None = None) -> Plain:
    """Add the limits and the description from Annotated."""
    limits = []
    from_extras = None
    for extra in extras:
        if not isinstance(extra, FieldInfo):
            limits.append(extra)
            continue
        if _is_unusual(extra):
            raise NotPlainError
        limits += extra.metadata
        from_extras = from_extras if extra.description is None else extra.description
    core, json = _limited(plain, limits) if limits else plain
    text = from_extras if description is None else description
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


class _Classes:
    """The TypedDicts in the type of one result, by reference."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self.schemas: dict[str, JsonObject] = {}
        self._known: dict[str, tuple[Any, Plain | None]] = {}

    def plain(self, annotation: Any) -> Plain:
        reference = f"#/$defs/{getattr(annotation, '__name__', '')}"
        original, plain = self._known.get(reference, (annotation, None))
        if plain is not None and original is annotation:
            return plain
        if reference in self._known:  # another TypedDict of the same name, or a recursive type
            raise NotPlainError
        self._known[reference] = annotation, None
        core, self.schemas[reference] = self._typed_dict(annotation)
        plain = Plain(core, {"$ref": reference})
        self._known[reference] = annotation, plain
        return plain

    def _typed_dict(self, annotation: Any) -> Plain:
        cls = get_origin(annotation) or annotation
        if not _is_bare(cls) or (cls is not annotation and annotation is not self._root):
            raise NotPlainError  # pydantic invents names for generic classes below the root
        bound = dict(zip(getattr(cls, "__parameters__", ()), get_args(annotation), strict=False))
        fields: dict[str, core_schema.TypedDictField] = {}
        properties: dict[str, JsonObject] = {}
        for name, hint in _hints(cls).items():
            required = name in cls.__required_keys__
            if get_origin(hint) in (Required, NotRequired):
                required = get_origin(hint) is Required
                hint = get_args(hint)[0]
            core, properties[name] = self._field(_substituted(hint, bound))
            fields[name] = core_schema.typed_dict_field(core, required=required)
        config = core_schema.CoreConfig(title=cls.__name__)
        core = core_schema.typed_dict_schema(fields, cls=cls, extra_behavior="ignore", config=config)
        json = {**_object(fields, properties), "title": cls.__name__}
        return Plain(core, _sorted(json, description=inspect.cleandoc(cls.__doc__)) if cls.__doc__ else _sorted(json))

    def _field(self, hint: Any) -> Plain:
        if get_origin(hint) is not Annotated:
            return _plain(hint, self.plain)
        inner, *extras = get_args(hint)
        return _described(_plain(inner, self.plain), [extra for extra in extras if not isinstance(extra, str)])


def _is_bare(cls: Any) -> bool:
    """Return True if a class and its bases are TypedDicts that contain only fields."""
    if not typing_extensions.is_typeddict(cls) or not cls.__name__.isascii():
        return False
    if type(cls).__module__ == "typing" and not hasattr(types, "get_original_bases"):  # pydantic rejects it
        return False
    if any(not name.startswith("__") or "pydantic" in name or name == "__deprecated__" for name in vars(cls)):
        return False
    open_ended = (None, getattr(typing_extensions, "NoExtraItems", None))
    if getattr(cls, "__closed__", None) or getattr(cls, "__extra_items__", None) not in open_ended:
        return False
    bases = (get_origin(base) or base for base in vars(cls).get("__orig_bases__", ()))
    return all(_is_bare(base) for base in bases if typing_extensions.is_typeddict(base))


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:  # noqa: BLE001 - pydantic looks in more places, or reports the problem
        raise NotPlainError from None


def _substituted(hint: Any, bound: Mapping[Any, Any]) -> Any:
    """Replace the type variables of a generic class."""
    try:
        if isinstance(hint, TypeVar):
            return bound[hint]
        parameters = getattr(hint, "__parameters__", ())
        return hint[tuple(bound[parameter] for parameter in parameters)] if parameters else hint
    except (KeyError, TypeError):
        raise NotPlainError from None


def _object(fields: Mapping[str, core_schema.TypedDictField], properties: JsonObject) -> JsonObject:
    required = [name for name, field in fields.items() if field.get("required")]
    return {"properties": properties, **({"required": required} if required else {}), "type": "object"}


def _sorted(json: JsonObject, **more: Any) -> JsonObject:
    return dict(sorted((json | more).items()))


# --- Values that consist only of the types that JSON has. pydantic_core checks and copies them in one pass.


_NAME = "json"

PLAIN_JSON: CoreSchema = core_schema.definition_reference_schema(_NAME)
"""The core schema of any plain JSON value, for use in `with_plain_json`. It rejects subclasses, bytes and iterators."""


def with_plain_json(core: CoreSchema) -> CoreSchema:
    """Return a core schema that may contain `PLAIN_JSON`."""
    return core_schema.definitions_schema(core, [_plain_json()])


@cache
def _plain_json() -> CoreSchema:
    """Return the definition of `PLAIN_JSON`. Creating it takes longer than creating most schemas."""
    parts: dict[Any, CoreSchema] = {
        str: core_schema.str_schema(strict=True),
        int: core_schema.int_schema(strict=True),
        float: core_schema.float_schema(strict=True, allow_inf_nan=False),
        bool: core_schema.bool_schema(strict=True),
        type(None): core_schema.none_schema(),
        dict: core_schema.dict_schema(core_schema.str_schema(strict=True), PLAIN_JSON, strict=True),
        list: core_schema.list_schema(PLAIN_JSON, strict=True),
    }
    return core_schema.tagged_union_schema(parts, discriminator=type, ref=_NAME)
