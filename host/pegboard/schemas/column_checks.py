"""A check of results that are long lists. It takes less time than a validator, because it makes no copy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

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
