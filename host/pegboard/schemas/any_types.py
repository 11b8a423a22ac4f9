"""Types as pydantic understands them: schemas for clients, validators for calls. Plain ones need not be asked about.

The arguments of a function are one TypedDict, so that parameters may have any name and an absent argument takes the
function's default.
"""

from __future__ import annotations

import decimal
import enum
import inspect
import re
from collections.abc import Mapping
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from pegboard.errors import ToolInputSchemaError, ToolOutputSchemaError
from pegboard.messages.field_lines import FieldPath
from pegboard.schemas.plain_types import JsonObject, Parameter, is_shown_default
from pegboard.schemas.subschemas import subschemas
from pegboard.wire.codec import is_finite

_MEND = "say it with plain data, a TypedDict, a dataclass or a pydantic model"
_BUILDING = re.compile(r'^Error building "\S+" validator:\s+(?:\w+Error: )?')
"""How pydantic begins to say what is wrong with a limit."""
_SIZES: Any = tuple(FieldInfo.metadata_lookup[limit] for limit in ("min_length", "max_length"))
_SIZELESS = (int, float, bool, decimal.Decimal, complex)
_PLAIN = (str, int, float, bool, type(None))


class _RefusedError(Exception):
    """A type that has a schema, and cannot be served."""


class _Schemas(GenerateJsonSchema):
    """Without the titles that pydantic makes of names, which cost tokens and say nothing."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - the base class's own form

    def encode_default(self, dft: Any) -> Any:
        # pydantic builds a whole adapter for each default, a third of the time that a signature takes
        if dft is None or type(dft) in (bool, int, str):
            return dft
        encoded = super().encode_default(dft)
        if not is_finite((encoded,)):
            raise PydanticSerializationError("JSON has no form for NaN and infinities")
        return encoded

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generator_schema(self, schema: Any) -> JsonObject:
        raise _RefusedError(
            "what is iterated over comes unchecked; write list[...], or Sequence[...] where a list must not change"
        )

    def is_subclass_schema(self, schema: Any) -> JsonObject:
        raise _RefusedError("JSON has no form for classes")

    def literal_schema(self, schema: Any) -> JsonObject:
        for value in schema["expected"]:
            self._check_choice(value, isinstance(value, _PLAIN))
        return super().literal_schema(schema)

    def enum_schema(self, schema: Any) -> JsonObject:
        found = super().enum_schema(schema)
        if not issubclass(schema["cls"], enum.Flag):
            for one in schema["members"]:
                self._check_choice(one, isinstance(one.value, _PLAIN))
            return found
        # flags are given together, as the sum of their values; some take bits that have no name as well
        del found["enum"]
        if schema["cls"]._boundary_ is enum.KEEP:
            return found
        total = reduce(or_, (one.value for one in schema["members"]), 0)
        return {**found, "maximum": total, "minimum": 0}

    def dict_schema(self, schema: Any) -> JsonObject:
        found = super().dict_schema(schema)
        names = self.resolve_ref_schema(found.get("propertyNames", {}))
        choices = names.get("enum", [names["const"]] if "const" in names else [])
        if any(type(one) is not str for one in choices):  # the names of JSON's members are texts, whatever they mean
            found["propertyNames"] = {"enum": list(to_jsonable_python(dict.fromkeys(choices)))}
        return found

    def _check_choice(self, value: Any, is_plain: bool) -> None:
        if not is_plain and self.mode == "validation":
            raise _RefusedError(f"no JSON value becomes {value!r}; name choices by texts or numbers")


def pydantic_arguments(given: Mapping[str, Parameter]) -> tuple[Any, JsonObject]:
    """What checks a function's arguments, and their schema.

    Raises:
        ToolInputSchemaError: one of them cannot be described.
    """
    _check_aliases(given)
    fields = {name: _field(one) for name, one in given.items()}
    make: Any = TypedDict  # made of a signature, not written down: no type checker can follow
    kind = make("arguments", fields)
    kind.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)
    try:
        for one in given.values():
            _check_limits(one)
        adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(kind)
        schema = adapter.json_schema(schema_generator=_Schemas)
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolInputSchemaError(_culprit(fields, given) or _in_one_line(error)) from None
    _check_unions(schema)
    schema.pop("title", None)
    for one in schema.setdefault("properties", {}).values():
        if not is_shown_default(one.get("default", ...), one):
            del one["default"]
    return adapter.validator, schema


def pydantic_result(annotation: Any) -> tuple[Any, Any, JsonObject]:
    """What checks a result, what makes JSON of it, and its schema.

    Raises:
        ToolOutputSchemaError: it cannot be described.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(schema_generator=_Schemas, mode="serialization")
    except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
        raise ToolOutputSchemaError(f"the result: {_why(annotation, error)}") from None
    return adapter.validator, adapter.serializer, schema


def _check_aliases(given: Mapping[str, Parameter]) -> None:
    """Refuse aliases that are the names of others: one of the two could never be given."""
    known: dict[str, str] = {}
    for name, one in given.items():
        said = [extra.validation_alias for extra in (*one.extras, one.default) if isinstance(extra, FieldInfo)]
        shown = next((alias for alias in reversed(said) if isinstance(alias, str)), name)
        if other := known.get(shown):
            raise ToolInputSchemaError(f"parameters {other!r} and {name!r} are both called {shown!r} by callers")
        known[shown] = name


def _check_limits(given: Parameter) -> None:
    """Refuse limits of size for what has none, which pydantic finds at the call."""
    is_union = get_origin(given.type) in (Union, UnionType)
    kinds = get_args(given.type) if is_union else (given.type,)
    for extra in (*given.extras, given.default):
        for limit in extra.metadata if isinstance(extra, FieldInfo) else (extra,):
            if isinstance(limit, _SIZES) and any(kind in _SIZELESS for kind in kinds):
                raise _RefusedError(f"it has no length that could be limited; limit values with ge and le ({limit})")


def _field(given: Parameter) -> Any:
    """The TypedDict field of one parameter."""
    extras = list(given.extras)
    if given.description is not None:
        extras.append(Field(description=given.description))
    required = given.default is inspect.Parameter.empty
    if isinstance(given.default, FieldInfo):
        extras.append(given.default)
        required = given.default.is_required()
    elif not required:
        extras.append(Field(default=given.default))
    annotation = Annotated[(given.type, *extras)] if extras else given.type
    return annotation if required else NotRequired[annotation]


def _check_unions(schema: JsonObject) -> None:
    """Refuse unions of which two forms are the same to a model: which of them its value becomes would be chance."""
    definitions = schema.get("$defs", {})
    for one in subschemas(schema):
        forms = one.schema.get("anyOf", ())
        known: list[tuple[str, JsonObject]] = []
        for form in forms:
            name = form.get("$ref", "").rpartition("/")[2]
            members = _members(definitions.get(name, form))
            if same := [other for other, its in known if members and its == members]:
                raise ToolInputSchemaError(
                    f"{_owner(one.path)}: {same[0]} and {name} have the same members, so that nothing tells them "
                    'apart; give each a field of a Literal of its own, and the union Field(discriminator="that field")'
                )
            known.append((name, members))


def _owner(path: FieldPath) -> str:
    return f"parameter {path[1]!r}" if path[0] == "properties" else f"the type {path[1]}"


def _members(form: JsonObject) -> JsonObject:
    """What an object must be, without what is said about it."""
    if not form.get("properties"):
        return {}
    bare = {
        name: {key: value for key, value in about.items() if key not in ("title", "description", "examples")}
        for name, about in form["properties"].items()
    }
    return {"properties": bare, "required": form.get("required"), "others": form.get("additionalProperties")}


def _culprit(fields: Mapping[str, Any], given: Mapping[str, Parameter]) -> str | None:
    """Which parameter it is that cannot be described."""
    for name, field in fields.items():
        inner = get_args(field)[0] if get_origin(field) is NotRequired else field
        try:
            _check_limits(given[name])
            TypeAdapter(inner).json_schema(schema_generator=_Schemas)
        except Exception as error:  # noqa: BLE001 - types are code of the author, and may raise anything
            return f"parameter {name!r}: {_why(given[name].type, error)}"
    return None


def _why(annotation: Any, error: Exception) -> str:
    if isinstance(error, (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)):
        return f"the type {inspect.formatannotation(annotation)} has no JSON Schema; {_MEND}"
    if isinstance(error, _RefusedError):
        return f"the type {inspect.formatannotation(annotation)} cannot be served: {error}"
    return _in_one_line(error)


def _in_one_line(error: Exception) -> str:
    text = _BUILDING.sub("", str(error)).split("For further information")[0]
    return " ".join(text.split())[:300].rstrip(": ") or type(error).__name__
