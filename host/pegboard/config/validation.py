"""Validation of data with pydantic models. `explain.py` is imported only if data is invalid."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin

from pydantic_core import ValidationError

from pegboard.config.deferred_models import DeferredCall, constructed, deferred, field_of, model_of
from pegboard.config.models import FromEnvironment, PluginConfig, WidensAccess
from pegboard.config.problems import ConfigProblem, KeyPath
from pegboard.config.sources import Source, Sources

if TYPE_CHECKING:
    from pydantic import BaseModel

_M = TypeVar("_M", bound="BaseModel")

_NOT_TEXT = {"string_type", "path_type", "url_type", "literal_error", "enum", "bytes_type"}
"""The pydantic errors of values that must be strings."""


def validate(
    model: type[_M],
    data: dict[str, Any],
    sources: Sources,
    path: KeyPath,
    context: Mapping[str, Any],
    hidden: Container[KeyPath] = (),
) -> _M | list[ConfigProblem]:
    """Validate data. Return an object of the model, or the problems.

    If the model requires a string, the original string of a variable is used, even if it could be parsed as a number.
    """
    if _has_plain_defaults(model) and (values := _plain_values(model, data)) is not None:
        with suppress(ValueError, AssertionError):  # the model reports it as a problem
            return constructed(model, values)
    model = model_of(model)
    try:
        checked = model.model_validate(data, context=context)
    except ValidationError as error:
        again = _with_raw_text(data, error, sources, path)
        if again is not None:
            return validate(model, again, sources, path, context, hidden)
        from pegboard.config.explain import explain

        return explain(error, model, data, sources, path, hidden)
    texts = ((*path, *way) for way in _texts_for_booleans(checked, data))
    wrong = [place for place in texts if place not in hidden and not _is_variable(sources.source(place))]
    return [sources.problem("expected true or false, without quotes", place) for place in wrong] or checked


def _texts_for_booleans(checked: Any, data: Any, way: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the paths of strings that the model accepted as booleans, such as "no"."""
    if isinstance(data, str) and isinstance(checked, bool):
        yield way
    elif isinstance(data, Mapping):
        for key, item in data.items():
            if isinstance(item, str | Mapping):
                below = checked.get(key) if isinstance(checked, Mapping) else getattr(checked, str(key), None)
                yield from _texts_for_booleans(below, item, (*way, key))


def _is_variable(source: Source) -> bool:
    """Return True for text without types: variables and the command line."""
    return source.kind in ("environment", "command line")


def _has_plain_defaults(model: type[BaseModel]) -> bool:
    """Return True if empty data results in the defaults. Skipping the validator then saves milliseconds."""
    if (found := deferred(model)) is not None:
        return all(found.default(name) is not ... for name in found.texts)
    decorators = model.__pydantic_decorators__
    return not (
        decorators.model_validators
        or decorators.root_validators
        or model.__pydantic_custom_init__
        or model.model_config.get("validate_default")
        or any(field.is_required() or field.validate_default for field in model.model_fields.values())
    )


def _plain_values(model: type[BaseModel], data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return data as values of the model if only types have to be checked, or None if the validator must run.

    Building a validator takes a quarter of the start of a host.
    """
    if not data:
        return {}
    if deferred(model) is None and model.model_config != PluginConfig.model_config:
        return None
    values = {}
    for key, value in data.items():
        field = None if _is_checked(model, key) else field_of(model, key)
        if field is None or field.alias or not _are_marks(field.metadata):
            return None
        annotation = field.annotation
        types = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
        if type(value) in types and type(value) in (bool, str):
            values[key] = value
        elif tuple[str, ...] in types and type(value) is list and all(type(item) is str for item in value):
            values[key] = tuple(value)
        else:
            return None
    return values


def _is_checked(model: type[BaseModel], key: str) -> bool:
    """Return True if a field has a validator or, in a class that is not a model yet, limits."""
    if (found := deferred(model)) is not None:
        return found.is_checked(key)
    validators = model.__pydantic_decorators__.field_validators.values()
    return any({key, "*"} & {*one.info.fields} for one in validators)


def _are_marks(metadata: Sequence[Any]) -> bool:
    """Return True if no metadata of a field constrains its value."""
    return all(
        one.only_describes if isinstance(one, DeferredCall) else isinstance(one, WidensAccess | FromEnvironment)
        for one in metadata
    )


def _with_raw_text(
    data: dict[str, Any], error: ValidationError, sources: Sources, path: KeyPath
) -> dict[str, Any] | None:
    """Return the data with the original strings of variables that must be strings, or None if nothing changes."""
    changed = None
    for one in error.errors(include_url=False):
        loc = one["loc"]
        if one["type"] in _NOT_TEXT and not isinstance(one["input"], str):
            ways = (loc[:end] for end in range(len(loc), 0, -1))  # its end may name a branch of a union
            if way := next((way for way in ways if sources.raw((*path, *way)) is not None), None):
                changed = _replace(changed or data, way, sources.raw((*path, *way)))
    return changed


def _replace(value: Any, path: KeyPath, new: Any) -> Any:
    """Return a copy of nested dicts in which one value is replaced."""
    if not path:
        return new
    return {**value, path[0]: _replace(value.get(path[0]), path[1:], new)}
