"""Schemas and validators that pydantic compiles from types. `plain_types` compiles simple types faster.

The arguments of a function are compiled as one TypedDict. Parameters may therefore have any name, and the function
applies its own defaults to missing arguments.
"""

from __future__ import annotations

import binascii
import decimal
import enum
import inspect
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, ClassVar, NotRequired, Union, get_args, get_origin

from pydantic import ConfigDict, EncodedBytes, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import (
    CoreConfig,
    CoreSchema,
    PydanticKnownError,
    PydanticSerializationError,
    PydanticSerializationUnexpectedValue,
    SchemaSerializer,
    SchemaValidator,
    core_schema,
    to_json,
    to_jsonable_python,
)
from typing_extensions import TypedDict

from pegboard.errors import ToolInputSchemaError, ToolOutputSchemaError
from pegboard.messages.error_words import FieldPath
from pegboard.schemas.plain_types import JsonObject, Parameter, is_shown_default
from pegboard.schemas.subschemas import subschemas
from pegboard.wire.codec import is_finite, with_base64

_ADVICE = "use plain data, a TypedDict, a dataclass or a pydantic model"
_BUILDING = re.compile(r'^(?:(?:Error building "\S+" validator|Field "[^"]*"):\s+(?:\w+Error: )?)+')
"""The beginning of pydantic's message about an invalid limit."""
_SIZES: Any = tuple(FieldInfo.metadata_lookup[limit] for limit in ("min_length", "max_length"))
_SIZELESS = (int, float, bool, decimal.Decimal, complex)
_PLAIN = (str, int, float, bool, type(None))


class _RefusedError(Exception):
    """A type that has a schema but cannot be served."""


class _Schemas(GenerateJsonSchema):
    """JSON Schemas without the titles that pydantic derives from names. Titles cost tokens."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - the base class's own form

    def encode_default(self, dft: Any) -> Any:
        # pydantic builds an adapter for each default, which takes a third of the time of a signature
        if dft is None or type(dft) in (bool, int, str):
            return dft
        dft = with_base64(dft)
        encoded = super().encode_default(dft)
        if not is_finite(encoded):
            raise PydanticSerializationError("JSON cannot express NaN and infinities")
        return encoded

    def bytes_schema(self, schema: Any) -> JsonObject:
        limits = {"minLength": schema.get("min_length"), "maxLength": schema.get("max_length")}
        lengths = {name: (limit + 2) // 3 * 4 for name, limit in limits.items() if limit is not None}
        return {"type": "string", "contentEncoding": "base64", **lengths}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_present(self, field: Any) -> bool:
        # arguments have no members that a dataclass sets itself, and results have none of its InitVar members
        is_hidden = field.get("init_only") if self.mode == "serialization" else field.get("init") is False
        return not is_hidden and super().field_is_present(field)

    def generator_schema(self, schema: Any) -> JsonObject:
        raise _RefusedError(
            "its items would not be validated. Use list[...], or Sequence[...] for a list that must not change"
        )

    def is_subclass_schema(self, schema: Any) -> JsonObject:
        raise _RefusedError("JSON cannot express classes")

    def literal_schema(self, schema: Any) -> JsonObject:
        for value in schema["expected"]:
            self._check_choice(value, isinstance(value, _PLAIN))
        return super().literal_schema(schema)

    def enum_schema(self, schema: Any) -> JsonObject:
        result = super().enum_schema(schema)
        if not issubclass(schema["cls"], enum.Flag):
            for member in schema["members"]:
                self._check_choice(member, isinstance(member.value, _PLAIN))
            return result
        # flags are combined as the sum of their values; some accept bits without a name as well
        del result["enum"]
        if schema["cls"]._boundary_ is enum.KEEP:
            return result
        total = reduce(or_, (member.value for member in schema["members"]), 0)
        return {**result, "maximum": total, "minimum": 0}

    def tagged_union_schema(self, schema: Any) -> JsonObject:
        result = super().tagged_union_schema(schema)
        # each member has its tag; the mapping consists of references, which not every client resolves
        result.get("discriminator", {}).pop("mapping", None)
        return result

    def dict_schema(self, schema: Any) -> JsonObject:
        result = super().dict_schema(schema)
        names = self.resolve_ref_schema(result.get("propertyNames", {}))
        choices = names.get("enum", [names["const"]] if "const" in names else [])
        if any(type(choice) is not str for choice in choices):  # names of members are strings in JSON
            result["propertyNames"] = {"enum": list(to_jsonable_python(dict.fromkeys(choices)))}
        return result

    def _check_choice(self, value: Any, is_plain: bool) -> None:
        if not is_plain and self.mode == "validation":
            raise _RefusedError(f"no JSON value can be converted to {value!r}: use strings or numbers as choices")


def pydantic_arguments(parameters: Mapping[str, Parameter]) -> tuple[Any, CoreSchema, JsonObject]:
    """Return the validator of a function's arguments, its core schema, and the schema for clients.

    Raises:
        ToolInputSchemaError: an argument has no schema.
    """
    _check_aliases(parameters)
    try:
        adapter, schema = _adapted(parameters)
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolInputSchemaError(_culprit(parameters) or _in_one_line(error)) from None
    _check_unions(schema)
    schema.pop("title", None)
    for member in schema.setdefault("properties", {}).values():
        if not is_shown_default(member.get("default", ...), member, schema.get("$defs", {})):
            del member["default"]
    core = adapter.core_schema
    if not _has_bytes(schema):
        return adapter.validator, core, schema
    # a prebuilt validator of a model would read UTF-8
    return SchemaValidator(with_base64_bytes(core), _use_prebuilt=False), core, schema


def pydantic_result(annotation: Any) -> tuple[TypeAdapter[Any], JsonObject]:
    """Return pydantic's adapter of a result, and its schema.

    Raises:
        ToolOutputSchemaError: the result has no schema.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(schema_generator=_Schemas, mode="serialization")
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolOutputSchemaError(f"the result: {_why(annotation, error)}") from None
    return adapter, schema


def _adapted(parameters: Mapping[str, Parameter]) -> tuple[TypeAdapter[dict[str, Any]], JsonObject]:
    """Return pydantic's adapter of a function's arguments, and their schema."""
    fields = {name: _field(parameter) for name, parameter in parameters.items()}
    make: Any = TypedDict  # dynamic, so that type checkers cannot follow
    kind = make("arguments", fields)
    kind.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)
    for parameter in parameters.values():
        _check_limits(parameter.type, (*parameter.extras, parameter.default))
    adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(kind)
    return adapter, adapter.json_schema(schema_generator=_Schemas)


def _has_bytes(schema: JsonObject) -> bool:
    return b'"contentEncoding"' in to_json(schema)


def _check_aliases(parameters: Mapping[str, Parameter]) -> None:
    """Raise an error if two parameters have the same argument name."""
    owners: dict[str, str] = {}
    for name, parameter in parameters.items():
        aliases = [
            extra.validation_alias for extra in (*parameter.extras, parameter.default) if isinstance(extra, FieldInfo)
        ]
        shown = next((alias for alias in reversed(aliases) if isinstance(alias, str)), name)
        if other := owners.get(shown):
            raise ToolInputSchemaError(
                f"parameters {other!r} and {name!r} have the same argument name {shown!r}: rename one argument"
            )
        owners[shown] = name


def _check_limits(kind: Any, extras: Iterable[Any] = ()) -> None:
    """Reject length limits on types without a length. pydantic would detect such limits only during a call."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    sizeless = [part for part in kinds if part in _SIZELESS]
    for extra in extras:
        for limit in extra.metadata if isinstance(extra, FieldInfo) else (extra,):
            if isinstance(limit, _SIZES) and sizeless:
                name = sizeless[0].__name__
                raise _RefusedError(f"{name} has no length to limit: limit values with ge and le ({limit})")
    inner = get_args(kind)
    if get_origin(kind) is Annotated:
        return _check_limits(inner[0], inner[1:])
    for part in inner:
        _check_limits(part)
    return None


def _field(parameter: Parameter) -> Any:
    """Return the TypedDict field of a parameter."""
    extras = list(parameter.extras)
    if parameter.description is not None:
        extras.append(Field(description=parameter.description))
    required = parameter.default is inspect.Parameter.empty
    if isinstance(parameter.default, FieldInfo):
        extras.append(parameter.default)
        required = parameter.default.is_required()
    elif not required:
        extras.append(Field(default=parameter.default))
    annotation = Annotated[(parameter.type, *extras)] if extras else parameter.type
    return annotation if required else NotRequired[annotation]


def _check_unions(schema: JsonObject) -> None:
    """Raise an error for a union of two objects with the same members, because the choice would be arbitrary."""
    definitions = schema.get("$defs", {})
    for subschema in subschemas(schema):
        forms = subschema.schema.get("anyOf", ())
        earlier: list[tuple[str, JsonObject]] = []
        for form in forms:
            name = form.get("$ref", "").rpartition("/")[2]
            members = _members(definitions.get(name, form))
            if same := [other for other, its in earlier if members and its == members]:
                raise ToolInputSchemaError(
                    f"{_owner(subschema.path)}: {same[0]} and {name} have the same members, so their values "
                    "cannot be distinguished. Add a field with its own Literal to each, and "
                    'Field(discriminator="that field") to the union'
                )
            earlier.append((name, members))


def _owner(path: FieldPath) -> str:
    return f"parameter {path[1]!r}" if path[0] == "properties" else f"the type {path[1]}"


def _members(form: JsonObject) -> JsonObject:
    """Return the rules of an object, without descriptions."""
    if not form.get("properties"):
        return {}
    bare = {
        name: {key: value for key, value in about.items() if key not in ("title", "description", "examples")}
        for name, about in form["properties"].items()
    }
    return {"properties": bare, "required": form.get("required"), "others": form.get("additionalProperties")}


def _culprit(parameters: Mapping[str, Parameter]) -> str | None:
    """Return the problem of the first parameter without a schema."""
    for name, parameter in parameters.items():
        try:
            _adapted({name: parameter})
        except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
            return f"parameter {name!r}: {_why(parameter.type, error)}"
    return None


def _why(annotation: Any, error: Exception) -> str:
    is_form = isinstance(annotation, type(ClassVar))  # such as Optional without the type in brackets
    if is_form or isinstance(error, (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)):
        return f"the type {inspect.formatannotation(annotation)} has no JSON Schema: {_ADVICE}"
    if isinstance(error, _RefusedError):
        return f"the type {inspect.formatannotation(annotation)} cannot be served: {error}"
    return _in_one_line(error)


def _in_one_line(error: Exception) -> str:
    text = _BUILDING.sub("", str(error)).split("For further information")[0]
    return " ".join(text.split())[:300].rstrip(": ") or type(error).__name__


# --- `bytes` as base64 (RFC 4648 section 4) in arguments and results. pydantic uses UTF-8, or the base64 of URLs.
# Serializers of results also write NaN and infinities as such, so that the host detects them in the JSON.


NO_SCHEMAS = frozenset(("metadata", "default", "expected", "config", "members"))
"""The members of a core schema that hold no core schemas."""


def with_base64_bytes(schema: Any) -> Any:
    """Return a core schema with base64 in place of `bytes`, or the schema itself if it contains none."""
    if isinstance(schema, list | tuple):
        items = [with_base64_bytes(item) for item in schema]
        return items if any(new is not old for new, old in zip(items, schema, strict=True)) else schema
    if not isinstance(schema, dict) or _is_encoded(schema):
        return schema
    if schema.get("type") == "bytes":
        return _bytes(schema)
    replaced = {name: value if name in NO_SCHEMAS else with_base64_bytes(value) for name, value in schema.items()}
    return replaced if any(replaced[name] is not value for name, value in schema.items()) else schema


def _is_encoded(schema: Mapping[str, Any]) -> bool:
    """Return True for `Base64Bytes` and similar types, which convert the string themselves."""
    function = schema.get("function")
    call = function.get("function") if isinstance(function, dict) else None
    return isinstance(getattr(call, "__self__", None), EncodedBytes)


def _bytes(schema: Mapping[str, Any]) -> CoreSchema:
    plain: Any = {name: value for name, value in schema.items() if name not in ("serialization", "ref")}
    decode = core_schema.no_info_plain_validator_function(_decoded)
    written = core_schema.plain_serializer_function_ser_schema(_encoded, when_used="json")
    return core_schema.json_or_python_schema(
        json_schema=core_schema.chain_schema([core_schema.str_schema(strict=True), decode, plain]),
        python_schema=plain,
        ref=schema.get("ref"),
        serialization=schema.get("serialization", written),
    )


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise PydanticKnownError("bytes_invalid_encoding", {"encoding": "base64", "encoding_error": ""}) from None


def _encoded(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise PydanticSerializationUnexpectedValue("not bytes")  # another member of a union fits
    return b64encode(value).decode()


_CONFIGURED = ("model", "dataclass", "typed-dict")
"""The core schemas with a configuration of their own."""


def result_serializer(core: CoreSchema, schema: JsonObject) -> SchemaSerializer:
    """Return the serializer of results of the type with a core schema and a JSON Schema."""
    own = _prepared(with_base64_bytes(core) if _has_bytes(schema) else core)
    # the prebuilt serializer of a model would write NaN as null
    return SchemaSerializer(own, CoreConfig(ser_json_inf_nan="constants"), _use_prebuilt=False)


def _prepared(core: Any) -> Any:
    """Return a core schema whose classes write NaN and infinities as such, unless their author decides otherwise.

    Values of type `Any` write `bytes` as base64.
    """
    if isinstance(core, list | tuple):
        return [_prepared(item) for item in core]
    if not isinstance(core, dict):
        return core
    prepared = {name: value if name in NO_SCHEMAS else _prepared(value) for name, value in core.items()}
    if core.get("type") in _CONFIGURED:
        prepared["config"] = {"ser_json_inf_nan": "constants", **core.get("config", {})}
    elif core.get("type") == "any":
        written = core_schema.wrap_serializer_function_ser_schema(
            lambda value, write: write(with_base64(value)), when_used="json"
        )
        prepared.setdefault("serialization", written)
    return prepared
