"""Results with long lists, checked column by column, and encoded without the copy that a validator makes.

A column has the values of one member in all objects of a list. The types of a column are compared at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from gc import get_referents
from itertools import chain
from operator import length_hint
from typing import Any, TypeAlias

from pegboard.wire.columns import MANY, are_finite, columns, kinds_of
from pegboard.wire.limited_json import encode_within

_KINDS: Mapping[str, frozenset[type[Any]]] = {
    "str": frozenset((str,)),
    "int": frozenset((int,)),
    "float": frozenset((float,)),  # an int would be written as a float
    "bool": frozenset((bool,)),
    "none": frozenset((type(None),)),
}
"""The types of values that are valid for a core schema without a conversion."""
_ANY_ATOM = frozenset().union(*_KINDS.values())
_HARMLESS = frozenset(("type", "allow_inf_nan"))
_USUAL_GROWTH = 8
"""The ratio of the size of JSON to the bound of `Check` that few results exceed."""
_DICT = frozenset((dict,))
_LIST = frozenset((list,))

Check: TypeAlias = Callable[[list[Any], float], int]
"""Checks the values of a column, and returns a lower bound of the size of their JSON.

It raises `_MisfitError` if a value may not fit its declaration, or has more items than the size limit in bytes.
"""


class _MisfitError(Exception):
    """A value may not fit its declaration, or is too large."""


class _UnsupportedError(Exception):
    """A check of columns does not decide which values of a type are valid."""


def long_list_encoder(core: Any) -> Callable[[Any, float], bytes | None] | None:
    """Return an encoder of results with long lists, or None for types that have none, or that need a validator.

    The encoder has two arguments: the result, and its size limit in bytes. It returns None for results without long
    lists, and for results that do not surely fit their declaration. It raises `TooLarge` for results beyond the limit.

    Args:
        core: the core schema of the result.
    """
    fields = core.get("fields", {}).items()
    lists = [name for name, field in fields if field["schema"]["type"] == "list"]
    if core["type"] != "list" and not lists:
        return None
    try:
        check = _check(core)
    except _UnsupportedError:
        return None

    def encoded(value: Any, limit: float) -> bytes | None:
        if type(value) is list:
            if len(value) < MANY:
                return None
        elif type(value) is not dict or not any(map(_is_long, map(value.get, lists))):
            return None
        try:
            least = check([value], limit)
            _require(least <= limit)
        except _MisfitError:
            return None
        return encode_within(limit, value, in_parts=_USUAL_GROWTH * least > limit)

    return encoded


def _is_long(value: Any) -> bool:
    return type(value) is list and len(value) >= MANY


def _check(core: Any) -> Check:
    """Return the check of values of a type.

    Raises:
        _UnsupportedError: the type needs a validator.
    """
    kind = core["type"]
    if kind == "typed-dict":
        fields = core["fields"]
        required = {name for name, field in fields.items() if field["required"]}
        return _objects({name: _check(field["schema"]) for name, field in fields.items()}, required)
    if kind == "nullable":
        inner = core["schema"]
        return _atoms(_atom(inner) | _KINDS["none"]) if inner["type"] in _KINDS else _nullable(_check(inner))
    if kind == "list" and core.keys() == {"type", "items_schema"}:
        return _lists(_check(core["items_schema"]))
    if kind == "dict":
        values = core["values_schema"]
        return _flat_dicts if values["type"] == "any" else _dicts(_check(values))
    return _literals(core["expected"]) if kind == "literal" else _atoms(_atom(core))


def _atom(core: Any) -> frozenset[type[Any]]:
    if core["type"] not in _KINDS or not core.keys() <= _HARMLESS:
        raise _UnsupportedError
    return _KINDS[core["type"]]


def _atoms(kinds: frozenset[type[Any]]) -> Check:
    def check(column: list[Any], limit: float) -> int:
        found = kinds_of(column)
        _require(found <= kinds and (float not in found or are_finite(column, found)))
        if str not in found:
            return len(column)
        return sum(map(len, column) if len(found) == 1 else map(length_hint, column))

    return check


def _literals(choices: Iterable[str]) -> Check:
    known = frozenset(choices)

    def check(column: list[Any], limit: float) -> int:
        _require(kinds_of(column) <= _KINDS["str"] and known.issuperset(column))
        return len(column)

    return check


def _nullable(inner: Check) -> Check:
    return lambda column, limit: inner([one for one in column if one is not None], limit)


def _lists(items: Check) -> Check:
    def check(column: list[Any], limit: float) -> int:
        size = _length(column, _LIST, limit)
        return size + items(get_referents(*column), limit)

    return check


def _dicts(values: Check) -> Check:
    names = _atoms(_KINDS["str"])

    def check(column: list[Any], limit: float) -> int:
        _length(column, _DICT, limit)
        return names([*chain.from_iterable(column)], limit) + values(_values(column), limit)

    return check


def _flat_dicts(column: list[Any], limit: float) -> int:
    """Check dicts with values of any type, if the values of the first dict are no containers."""
    size = _length(column, _DICT, limit)
    first = column[0] if column else {}
    _require(_ANY_ATOM.issuperset(map(type, first.values())))
    values = get_referents(*column)
    _require(len(values) == size)  # names are referents, too, unless all of them are strings
    _require(len(column) * sum(map(len, first)) <= limit)  # dicts that share long names
    check = _atoms(_ANY_ATOM)
    return size + sum(check(one, limit) for one in columns(values, len(first)))


def _objects(fields: Mapping[str, Check], required: set[str]) -> Check:
    names = list(fields)
    checks = fields.values()

    def check(column: list[Any], limit: float) -> int:
        size = _length(column, _DICT, limit)
        if size == len(names) * len(column) and list(chain.from_iterable(column)) == names * len(column):
            values = _values(column)
            members = [values[start :: len(names)] for start in range(len(names))]
        else:
            _require(len(required) < len(names) and all(map(fits, set(map(tuple, column)))))
            members = [[one[name] for one in column if name in required or name in one] for name in names]
        return size + sum(one(values, limit) for one, values in zip(checks, members, strict=True))

    def fits(found: tuple[Any, ...]) -> bool:
        """Return True if an object has the required members, and its members have the declared order."""
        return required.issubset(found) and list(found) == [name for name in names if name in found]

    return check


def _length(column: list[Any], kind: frozenset[type[Any]], limit: float) -> int:
    """Return the number of items in lists or dicts, before a list of all items is made."""
    _require(kinds_of(column) <= kind)
    size = sum(map(len, column))
    _require(size <= limit)
    return size


def _values(column: list[Any]) -> list[Any]:
    return list(chain.from_iterable(map(dict.values, column)))


def _require(holds: bool) -> None:
    if not holds:
        raise _MisfitError
