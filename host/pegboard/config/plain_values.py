"""Values of settings that need no pydantic model: booleans, numbers, strings and lists of strings.

Building a model takes a quarter of the start of a host.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pegboard.config.deferred_models import DeferredField, DeferredModel, deferred
from pegboard.config.lazy_pydantic import DeferredCall
from pegboard.config.models import FromEnvironment, PluginConfig, WidensAccess
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

_COMPARISONS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt}


class NotPlainError(ValueError):
    """The model must validate the value."""


class Info(NamedTuple):
    """The part of pydantic's `ValidationInfo` that validators of fields read."""

    context: Mapping[str, Any]
    field_name: str
    data: Mapping[str, Any]
    mode: str = "python"
    config: None = None


def plain_values(model: type[BaseModel], data: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return data as values of a class of settings.

    Raises:
        ValueError, AssertionError: the model must validate the data, or would reject it.
    """
    if not data:
        return {}
    if (found := deferred(model)) is not None:
        return _checked_values(found, data, context)
    if model.model_config != PluginConfig.model_config:
        raise NotPlainError
    checked = {name for one in model.__pydantic_decorators__.field_validators.values() for name in one.info.fields}
    if checked & {*data, "*"}:
        raise NotPlainError
    return {key: _plain(model.model_fields.get(key), value) for key, value in data.items()}


def _checked_values(found: DeferredModel, data: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values after the limits and validators of their fields, in the order of the fields."""
    if not data.keys() <= found.texts.keys():
        raise NotPlainError
    values: dict[str, Any] = {}
    before: dict[str, Any] = {}
    for name in found.texts:
        if name in data:
            value = _plain(found.field(name), data[name])
            _check_limits(value, found.options(name))
            for call in found.validators(name):
                value = _validated(found, call, value, Info(context, name, before))
            values[name] = value
        before[name] = values.get(name, found.default(name))
    return values


def _plain(field: FieldInfo | DeferredField | None, value: Any) -> Any:
    """Return a value that has exactly a simple type of its field."""
    if field is None or field.alias or not _are_marks(field.metadata):
        raise NotPlainError
    annotation = field.annotation
    types = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    if type(value) in types and type(value) in (bool, int, float, str):
        return value
    if tuple[str, ...] in types and type(value) is list and all(type(item) is str for item in value):
        return tuple(value)
    raise NotPlainError


def _are_marks(metadata: Sequence[Any]) -> bool:
    """Return True if only calls of `Field` constrain the value of a field."""
    return all(isinstance(one, WidensAccess | FromEnvironment | DeferredCall) for one in metadata)


def _check_limits(value: Any, options: Iterable[tuple[str, Any]]) -> None:
    for name, limit in options:
        if name in _COMPARISONS and type(value) in (int, float):
            kept = _COMPARISONS[name](value, limit)
        elif name in ("min_length", "max_length") and isinstance(value, str | tuple):
            kept = len(value) >= limit if name == "min_length" else len(value) <= limit
        else:
            kept = name == "description"
        if not kept:
            raise NotPlainError


def _validated(found: DeferredModel, call: DeferredCall, value: Any, info: Info) -> Any:
    if not isinstance(call.method, classmethod) or call.options.get("mode", "after") != "after":
        raise NotPlainError
    method = call.method.__get__(None, found)
    return method(value, info) if len(inspect.signature(method).parameters) > 1 else method(value)
