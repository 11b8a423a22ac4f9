"""The values of many similar objects, grouped by member. Large data is examined without a loop over its values."""

from __future__ import annotations

from math import isfinite
from typing import Any

_MANY = 100
"""The number of objects from which grouping saves time."""


def columns(values: list[Any], width: int) -> list[list[Any]]:
    """Return the values of objects in groups. Values of one group often have one type.

    Args:
        values: the values of all objects, in the order of the objects.
        width: the number of members of an object. Some objects may have another number.
    """
    return [values[start::width] for start in range(width)] if 1 < width < len(values) / _MANY else [values]


def kinds_of(values: list[Any]) -> set[type[Any]]:
    """Return the types of values. Most long columns have one type, which is counted in half the time of a set."""
    if len(values) < _MANY:
        return set(map(type, values))
    kinds = list(map(type, values))
    return {kinds[0]} if kinds.count(kinds[0]) == len(kinds) else set(kinds)


def are_finite(values: list[Any], kinds: set[type[Any]]) -> bool:
    """Return True if no float among the values is NaN or infinite. `kinds` are the types of the values."""
    if kinds == {float}:
        return isfinite(sum(values)) or all(map(isfinite, values))  # the sum of finite floats may be infinite
    return all(isfinite(one) for one in values if type(one) is float)
