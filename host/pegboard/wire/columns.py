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


def are_finite(values: list[Any], kinds: set[type[Any]]) -> bool:
    """Return True if no float among the values is NaN or infinite. `kinds` are the types of the values."""
    return all(map(isfinite, values if kinds == {float} else [one for one in values if type(one) is float]))
