"""The check of large messages for repeated members and infinities, without a loop over their values."""

from __future__ import annotations

from gc import get_referents
from itertools import chain, starmap
from typing import Any

from pegboard.wire.columns import are_finite, columns, kinds_of, of_types

_SPACES_BEFORE_COLONS = (b"\t", b"\n", b"\r", b" :")


def is_faithful(data: bytes, message: Any) -> bool:
    """Return True if a decoded message has every member of its JSON, and only finite numbers. False means unknown.

    Each member has a colon. If the JSON has no other colons, their number is that of the members. Without white space
    before colons, each member has a quotation mark and a colon, which strings rarely contain.
    """
    members = 0
    groups: list[tuple[list[Any], int]] = [([message], 1)]
    while groups:
        dicts: list[Any] = []
        lists: list[Any] = []
        for column in chain.from_iterable(starmap(columns, groups)):
            kinds = kinds_of(column)
            if float in kinds and not are_finite(column, kinds):
                return False
            dicts += of_types({dict} & kinds, column, kinds)
            lists += of_types({list} & kinds, column, kinds)
        members += sum(map(len, dicts))
        # members and items are apart, because a column of one type takes less time
        groups = [(get_referents(*dicts), len(dicts[0]))] if dicts else []
        groups += [(get_referents(*lists), 1)] if lists else []
    if members == data.count(b":"):
        return True
    return members == data.count(b'":') and not any(space in data for space in _SPACES_BEFORE_COLONS)
