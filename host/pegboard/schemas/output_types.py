"""The type of a function's result: its JSON Schema, and the validation of values.

Most results are JSON-ready. A strict validator checks them. Any other value is converted by pydantic, which compiles
the type when it is first needed.
"""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from operator import itemgetter
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic_core import PydanticSerializationError, SchemaError, SchemaValidator, ValidationError

from pegboard.schemas import plain_types
from pegboard.schemas.functions import MISSING
from pegboard.schemas.plain_types import NotPlainError
from pegboard.types.calls import MEDIA_TYPES, ToolResult
from pegboard.wire.codec import encode_finite, finite_json

_CONTENT = "pegboard.types.content"
"""The module of the content types. It is imported only when a tool returns content."""
_TEXT = (str, type(None), Any, object, bytes, typing.Never, typing.NoReturn, MISSING)
"""The types of results without a schema."""
_NONE = (None, type(None), Any, object, typing.Never, typing.NoReturn, MISSING)
"""The types of results that include None."""
_LISTS = (list, tuple, Sequence)
"""The types of results that are lists."""
_AWAITED = (Awaitable, Coroutine)


class Conversion(NamedTuple):
    """The validator and the serializer of results of any type.

    Attributes:
        validator: pydantic's validator.
        serializer: pydantic's serializer.
        check: returns the check of JSON against the schema of the type.
    """

    validator: Any
    serializer: Any
    check: Callable[[], Callable[[Any], Any]]

    def encoded(self, value: Any) -> bytes:
        """Validate a result and return it as JSON. See `Output.encoded`."""
        checked = self.validator.validate_python(value)
        try:
            return finite_json(self.serializer.to_json(checked, by_alias=True, warnings="error"))
        except PydanticSerializationError:  # lone surrogates, or an object with a member of another type
            return encode_finite(self._data(checked))

    def _data(self, checked: Any) -> Any:
        write = partial(self.serializer.to_python, checked, mode="json", by_alias=True)
        try:
            return write(warnings="error")
        except PydanticSerializationError:  # pydantic does not validate the members of objects
            return self.check()(write(warnings=False))


class Output(NamedTuple):
    """The validation of a result.

    Attributes:
        plain: the strict validator of JSON-ready values; None if the type has none.
        conversion: returns the conversion of all other values.
        sound: values of exactly this type are valid without validation.
        fits: returns True for JSON-ready values that are surely valid; None if `plain` decides. See `surely_fits`.
    """

    plain: SchemaValidator | None
    conversion: Callable[[], Conversion]
    sound: type | None = None
    fits: Callable[[Any], bool] | None = None

    def encoded(self, value: Any, is_json: bool) -> bytes:
        """Validate a result and return it as JSON.

        Args:
            value: the result.
            is_json: True if the value is known to be JSON-ready.

        Raises:
            ValidationError, ValueError: the result is invalid.
        """
        if is_json and self.plain is not None:
            if self.fits is not None and self.fits(value):
                return encode_finite(value)
            try:
                return encode_finite(self.plain.validate_python(value, strict=True))
            except ValidationError:
                pass
        return self.conversion().encoded(value)


def compile_output(annotation: Any) -> tuple[Output | None, dict[str, Any] | None]:
    """Compile the type of a result. Return its validation and its schema, or None for types without a schema.

    Raises:
        ToolOutputSchemaError: the result has no schema.
    """
    annotation, description = _described(_awaited(annotation))
    if get_origin(annotation) is Annotated and get_args(annotation)[0] in _TEXT:
        return None, None
    if any(annotation is text for text in _TEXT) and not (annotation is str and description):
        return None, None
    if _is_content(annotation) or _is_open_list(annotation):
        return None, None
    plain: SchemaValidator | None = None
    try:
        core, schema = plain_types.plain_result(annotation)
        plain, conversion = SchemaValidator(core), cache(lambda: _compile(annotation)[0])
    except (NotPlainError, SchemaError):
        compiled, core, schema = _compile(annotation)
        conversion = cache(lambda: compiled)
        if _is_plain(core):
            plain = SchemaValidator(core)
    sound = annotation if annotation is int or annotation is bool else None
    fits = partial(surely_fits, core) if plain and core["type"] == "list" else None
    output = Output(plain, conversion, sound, fits)
    return output, schema if description is None else {**schema, "description": description}


def accepts_none(annotation: Any) -> bool:
    """Return True if None fits the declared type of a result."""
    annotation = _awaited(annotation)
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        return any(accepts_none(part) for part in get_args(annotation))
    return any(annotation is form for form in _NONE)


def _awaited(annotation: Any) -> Any:
    """Return the type of the awaited result of a function that returns an awaitable without being async."""
    is_awaited = (get_origin(annotation) or annotation) in _AWAITED
    return (get_args(annotation) or (Any,))[-1] if is_awaited else annotation


def _compile(annotation: Any) -> tuple[Conversion, Any, dict[str, Any]]:
    """Return the conversion of results of any type, the core schema of the type, and its schema for clients."""
    from pegboard.schemas import pydantic_types

    adapter, schema = pydantic_types.pydantic_result(annotation)

    @cache  # compiled at the first use, which few results need
    def check() -> Callable[[Any], Any]:
        from pegboard.schemas.authored_schemas import compile_result

        return compile_result(schema)[0]

    serializer = pydantic_types.result_serializer(adapter.core_schema, schema)
    return Conversion(adapter.validator, serializer, check), adapter.core_schema, schema


def _is_plain(core: Any) -> bool:
    """Return True if JSON-ready values that a core schema accepts have the JSON that pydantic writes for them."""
    kind = core["type"]
    if kind not in _PLAIN or any(core.get(name) for name in _WRITTEN) or core.get("config", {}).keys() - {"title"}:
        return False
    if kind == "literal":
        return all(type(choice) is str for choice in core["expected"])
    inner = [core[name] for name in _INNER if name in core]
    return all(map(_is_plain, [*inner, *core.get("fields", {}).values(), *core.get("definitions", ())]))


def _described(annotation: Any) -> tuple[Any, str | None]:
    """Return the type of a result, and its description: the string in Annotated."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    inner, *extras = get_args(annotation)
    texts = [extra for extra in extras if isinstance(extra, str)]
    for extra in extras:
        if not isinstance(extra, str):
            inner = Annotated[inner, extra]
    return inner, texts[-1] if texts else None


def _is_content(annotation: Any) -> bool:
    """Return True if the declared type of a result is content: a block, several blocks, or an MCP result."""
    if get_origin(annotation) in (Annotated, Union, UnionType, list, tuple, Sequence):
        return any(_is_content(part) for part in get_args(annotation))
    if isinstance(annotation, type) and annotation in MEDIA_TYPES:
        return True
    return annotation is ToolResult or getattr(annotation, "__module__", "") == _CONTENT


def _is_open_list(annotation: Any) -> bool:
    """Return True for lists with items of any type. Such a list may hold content, so its tool has no output schema."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    items = get_args(annotation)
    return (get_origin(annotation) or annotation) in _LISTS and all(item in (Any, object, ...) for item in items)


def is_open_object(promised: Mapping[str, Any]) -> bool:
    """Return True for the schema of a result that may be content or an MCP result."""
    names = promised.get("additionalProperties", True)
    return names is True and not (promised.get("properties") or promised.get("items") or "$ref" in promised)


_PLAIN = frozenset(
    (
        *("str", "int", "float", "bool", "none", "literal", "any", "list", "dict", "nullable"),
        *("typed-dict", "typed-dict-field", "definitions", "definition-ref"),
    )
)
"""The core schemas of JSON-ready values."""
_WRITTEN = ("serialization", "serialization_alias", "serialization_exclude", "computed_fields", "extras_schema")
"""The members of core schemas by which pydantic writes a value in another way."""
_INNER = ("items_schema", "keys_schema", "values_schema", "schema")
"""The members of core schemas that are core schemas."""
MANY = 100
"""The number of items from which the check saves time."""
_SCALARS: Mapping[str, frozenset[type[Any]]] = {
    "str": frozenset((str,)),
    "int": frozenset((int,)),
    "float": frozenset((float,)),  # an int would be written as a float
    "bool": frozenset((bool,)),
    "none": frozenset((type(None),)),
}
"""The types of values that fit a core schema without a conversion."""
_LIMITLESS = frozenset(("type", "items_schema", "allow_inf_nan"))


def surely_fits(core: Any, value: Any) -> bool:
    """Return True for a list of many items that is valid, and whose validated copy would have the same JSON.

    False means unknown. Numbers may be NaN or infinite.

    Args:
        core: the core schema of the list, from `plain_result`.
        value: a JSON-ready value.
    """
    return type(value) is list and len(value) >= MANY and _fit(core, [value])


def _fit(core: Any, values: list[Any]) -> bool:
    """Return True if all values of a column surely fit a core schema."""
    kind = core["type"]
    if kind == "nullable":
        return _fit(core["schema"], [value for value in values if value is not None])
    if kind == "literal":
        return set(map(type, values)) <= {str} and set(core["expected"]).issuperset(values)
    if kind == "typed-dict":
        return _objects_fit(core["fields"], values)
    if kind == "dict":
        return _dicts_fit(core["values_schema"], values)
    if not core.keys() <= _LIMITLESS:  # another keyword may be a limit
        return False
    if kind == "list":
        return set(map(type, values)) <= {list} and _fit(core["items_schema"], [*chain.from_iterable(values)])
    return set(map(type, values)) <= _SCALARS.get(kind, frozenset())


def _dicts_fit(core: Any, values: list[Any]) -> bool:
    if not (set(map(type, values)) <= {dict} and set(map(type, set().union(*values))) <= {str}):
        return False
    return core["type"] == "any" or _fit(core, [*chain.from_iterable(map(dict.values, values))])


def _objects_fit(fields: Mapping[str, Any], values: list[Any]) -> bool:
    """Return True if all values are objects that have all declared members in the declared order, and no other."""
    if not (set(map(type, values)) <= {dict} and [*chain.from_iterable(values)] == [*fields] * len(values)):
        return False
    return all(_fit(field["schema"], list(map(itemgetter(name), values))) for name, field in fields.items())
