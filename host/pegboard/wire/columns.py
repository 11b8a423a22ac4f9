"""The values of many similar objects, grouped by member. Large data is examined without a loop over its values."""

from __future__ import annotations

from gc import get_referents
from math import isfinite
from operator import length_hint
from typing import Any

MANY = 100
"""The number of objects from which grouping saves time."""


class _Sample:
    def __init__(self) -> None:
        self.member = None
        self.has_referents = bool(get_referents(vars(self)))


_MEMBERS_ARE_REFERENTS = _Sample().has_referents
"""False since Python 3.13: the `__dict__` of an object has no referents. Its copy has."""


def columns(values: list[Any], width: int) -> list[list[Any]]:
    """Return the values of objects in groups. Values of one group often have one type.

    Args:
        values: the values of all objects, in the order of the objects.
        width: the number of members of an object. Some objects may have another number.
    """
    return [values[start::width] for start in range(width)] if 1 < width < len(values) / MANY else [values]


def items_of(values: list[Any]) -> list[Any]:
    """Return the items of the lists and the values of the dicts among JSON-ready values, without a loop over them.

    The names of a dict are among its values, unless all of them are strings.
    """
    found = get_referents(*values)
    if not _MEMBERS_ARE_REFERENTS and (len(values) < MANY or len(found) != sum(map(length_hint, values))):
        return get_referents(*[one.copy() if type(one) is dict else one for one in values])
    return found


def kinds_of(values: list[Any]) -> set[type[Any]]:
    """Return the types of values. Most long columns have one type, which is counted in half the time of a set."""
    if len(values) < MANY:
        return set(map(type, values))
    kinds = list(map(type, values))
    return {kinds[0]} if kinds.count(kinds[0]) == len(kinds) else set(kinds)


def of_types(chosen: set[type[Any]], values: list[Any], kinds: set[type[Any]]) -> list[Any]:
    """Return the values that have one of the chosen types. `kinds` are the types of all values."""
    if chosen == kinds:
        return values
    return [one for one in values if type(one) in chosen] if chosen else []


def are_finite(values: list[Any], kinds: set[type[Any]]) -> bool:
    """Return True if no float among the values is NaN or infinite. `kinds` are the types of the values."""
    if kinds == {float}:
        return isfinite(sum(values)) or all(map(isfinite, values))  # the sum of finite floats may be infinite
    return all(isfinite(one) for one in values if type(one) is float)
