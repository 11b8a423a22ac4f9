"""Values of settings that need no pydantic model: booleans, numbers, strings and lists of strings.

Building a model takes a quarter of the start of a host.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from copy import deepcopy
from inspect import signature
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_origin

from pegboard.config.class_body import ClassBody, DeferredField
from pegboard.config.deferred_models import deferred_body, deferred_settings, model_of
from pegboard.config.models import FromEnvironment, PluginConfig, WidensAccess
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

_M = TypeVar("_M", bound="BaseModel")
_COMPARISONS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt}
_MARKS = (WidensAccess, FromEnvironment)
"""The classes of metadata that does not constrain values."""
_SIZES = {"min_length": operator.ge, "max_length": operator.le}


class NotPlainError(ValueError):
    """The model must validate the value."""


class Info(NamedTuple):
    """The part of pydantic's `ValidationInfo` that validators of fields read."""

    context: Mapping[str, Any]
    field_name: str
    data: Mapping[str, Any]
    mode: str = "python"
    config: None = None


def plain_settings(model: type[_M], data: Mapping[str, Any], context: Mapping[str, Any]) -> _M:
    """Return settings with plain values, and with the defaults of the other fields.

    Raises:
        ValueError, AssertionError: the model must validate the data, or would reject it.
    """
    if (body := deferred_body(model)) is not None:
        return cast("_M", _deferred_settings(model, body, data, context))
    model = model_of(model)
    if not _has_plain_defaults(model) or (data and _validates(model, data)):
        raise NotPlainError
    fields = model.model_fields
    values = {name: _own(field.default) for name, field in fields.items() if field.default_factory is None}
    values |= {key: _plain(fields.get(key), value) for key, value in data.items()}
    return model.model_construct({*data}, **values)


def _own(default: Any) -> Any:
    """Return a default. Settings share only hashable defaults, as models do."""
    try:
        hash(default)
    except TypeError:
        return deepcopy(default)
    return default


def _has_plain_defaults(model: type[BaseModel]) -> bool:
    """Return True if empty data results in the defaults. Skipping the validator then saves milliseconds."""
    decorators = model.__pydantic_decorators__
    return not (
        decorators.model_validators
        or decorators.root_validators
        or model.__pydantic_custom_init__
        or model.model_config.get("validate_default")
        or any(field.is_required() or field.validate_default for field in model.model_fields.values())
    )


def _validates(model: type[BaseModel], data: Mapping[str, Any]) -> bool:
    """Return True if a validator or an option of the class concerns a value."""
    checked = {name for one in model.__pydantic_decorators__.field_validators.values() for name in one.info.fields}
    return model.model_config != PluginConfig.model_config or bool(checked & {*data, "*"})


def _deferred_settings(model: type, body: ClassBody, data: Mapping[str, Any], context: Mapping[str, Any]) -> Any:
    """Return settings whose values have passed the limits and validators of a deferred class."""
    plain = {name: _within_limits(body.fields.get(name), value) for name, value in data.items()}
    values: dict[str, Any] = {}
    for name, field in body.fields.items():
        value = plain[name] if name in plain else _own(field.default)
        if value is ...:
            raise NotPlainError
        for one in body.field_validators if name in plain else ():
            if name in one.arguments or "*" in one.arguments:
                validate = one.method.__get__(None, model)
                takes_info = len(signature(validate).parameters) > 1
                value = validate(value, Info(context, name, values)) if takes_info else validate(value)
        values[name] = value
    settings = deferred_settings(model, values, plain)
    for one in body.model_validators:
        settings = one.method(settings)
    return settings


def _plain(field: FieldInfo | DeferredField | None, value: Any) -> Any:
    """Return a value that has exactly a simple type of its field."""
    if field is None or field.alias or not all(isinstance(one, _MARKS) for one in field.metadata):
        raise NotPlainError
    annotation = field.annotation
    types = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    if type(value) in types and type(value) in (bool, int, float, str):
        return value
    if tuple[str, ...] in types and type(value) is list and all(type(item) is str for item in value):
        return tuple(value)
    raise NotPlainError


def _within_limits(field: DeferredField | None, value: Any) -> Any:
    """Return a plain value that is within the limits of its field."""
    value = _plain(field, value)
    for name, limit in field.limits if field else ():
        if name in _COMPARISONS and type(value) in (int, float):
            is_within = _COMPARISONS[name](value, limit)
        elif name in _SIZES and isinstance(value, str | tuple):
            is_within = _SIZES[name](len(value), limit)
        else:
            is_within = False
        if not is_within:
            raise NotPlainError
    return value
