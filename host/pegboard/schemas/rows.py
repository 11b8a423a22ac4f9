"""Results declared as lists of TypedDicts whose members are strings, numbers, booleans or None.

Long lists are examined member by member, and encoded without the copy that a validator makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from pydantic_core import CoreSchema

from pegboard.records import NamedTuple
from pegboard.wire.codec import encode_finite

_KINDS: Mapping[str, frozenset[type[Any]]] = {
    "str": frozenset((str,)),
    "int": frozenset((int,)),
    "float": frozenset((float,)),  # an int would be written as a float
    "bool": frozenset((bool,)),
    "none": frozenset((type(None),)),
}
"""The types of values that are valid for a core schema without a conversion."""
_HARMLESS = frozenset(("type", "allow_inf_nan"))
_MANY = 100
"""The number of objects from which the examination saves time."""


class Rows(NamedTuple):
    """The members of each object in a list.

    Attributes:
        names: their names in the declared order.
        kinds: the types of their values.
    """

    names: list[str]
    kinds: list[frozenset[type[Any]]]

    def encoded(self, value: Any, limit: float) -> bytes | None:
        """Return a long list as JSON if it surely fits its declaration and a size limit. Return None otherwise.

        Args:
            value: the result.
            limit: the size limit in bytes.
        """
        width = len(self.names)
        if type(value) is not list or not _MANY <= len(value) <= limit / width or set(map(type, value)) != {dict}:
            return None
        if list(chain.from_iterable(value)) != self.names * len(value):
            return None
        values = list(chain.from_iterable(map(dict.values, value)))
        size = 0
        for start, kinds in enumerate(self.kinds):
            member = values[start::width]
            if not kinds.issuperset(map(type, member)):
                return None
            if str in kinds:
                size += sum(map(len, filter(None, member)))
        if size > limit:
            return None
        try:
            written = encode_finite(value)
        except ValueError:
            return None
        return written if len(written) <= limit else None


def rows_of(core: CoreSchema) -> Rows | None:
    """Return the members of the objects in a list, or None for any other type of result.

    Args:
        core: the core schema of the result.
    """
    items: Any = core.get("items_schema", {})
    if core["type"] != "list" or len(core) > 2 or items.get("type") != "typed-dict" or not items["fields"]:
        return None
    kinds = [_kinds(field["schema"]) for field in items["fields"].values() if field["required"]]
    known = [one for one in kinds if one is not None]
    return Rows(list(items["fields"]), known) if len(known) == len(items["fields"]) else None


def _kinds(core: Any) -> frozenset[type[Any]] | None:
    """Return the types of a member's values, or None if types alone do not decide which values are valid."""
    if core["type"] == "nullable":
        kinds = _kinds(core["schema"])
        return kinds and kinds | _KINDS["none"]
    return _KINDS.get(core["type"]) if core.keys() <= _HARMLESS else None
