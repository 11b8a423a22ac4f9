"""Lists of plain objects, checked and copied without a loop over their members."""

from __future__ import annotations

from collections.abc import Callable
from gc import get_referents
from typing import Any

from pydantic_core import CoreSchema, core_schema

from pegboard.wire.columns import MANY, are_finite, columns, kinds_of
from pegboard.wire.plain_json import PLAIN_JSON

_SCALARS = frozenset((str, int, float, bool, type(None)))
_OBJECTS = core_schema.list_schema(core_schema.dict_schema(core_schema.str_schema(), PLAIN_JSON))
"""The core schema of `list[dict[str, Any]]` in arguments."""


def with_quick_objects(core: CoreSchema) -> CoreSchema:
    """Return the core schema of an argument, with a quicker validation if it is `list[dict[str, Any]]`."""
    return core_schema.no_info_wrap_validator_function(_copied, core) if core == _OBJECTS else core


def are_objects(value: Any) -> bool:
    """Return True for a list of dicts whose keys are strings."""
    if type(value) is not list or not kinds_of(value) <= {dict}:
        return False
    names: set[Any] = set().union(*value)
    return {str}.issuperset(map(type, names))


def _copied(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Return a copy of objects whose values are strings, finite numbers, booleans and None. Validate other values."""
    if type(value) is not list or len(value) < MANY or not are_objects(value):
        return validate(value)
    copied = list(map(dict.copy, value))
    # in Python 3.13, only a copy of an object's `__dict__` has referents
    fits = all(map(_are_finite_scalars, columns(get_referents(*copied), len(value[0]))))
    return copied if fits else validate(value)


def _are_finite_scalars(values: list[Any]) -> bool:
    kinds = kinds_of(values)
    return kinds <= _SCALARS and (float not in kinds or are_finite(values, kinds))
