"""The check of large messages for repeated members and infinities, without a loop over their values."""

from __future__ import annotations

from gc import get_referents
from typing import Any

from pegboard.wire.columns import are_finite, columns, kinds_of

_SPACES_BEFORE_COLONS = (b"\t", b"\n", b"\r", b" :")


def is_faithful(data: bytes, message: Any) -> bool:
    """Return True if a decoded message has every member of its JSON, and only finite numbers. False means unknown.

    Each member has a colon. If the JSON has no other colons, their number is that of the members. Without white space
    before colons, each member has a quotation mark and a colon, which strings rarely contain.
    """
    members = 0
    level: list[Any] = [message]
    width = 1
    while level:
        containers: list[Any] = []
        for values in columns(level, width):
            kinds = kinds_of(values)
            if float in kinds and not are_finite(values, kinds):
                return False
            if dict in kinds:
                members += sum(map(len, values if kinds == {dict} else [one for one in values if type(one) is dict]))
            if dict in kinds or list in kinds:
                containers += values
        width = len(containers[0]) if containers and type(containers[0]) is dict else 1
        level = get_referents(*containers)
    if members == data.count(b":"):
        return True
    return members == data.count(b'":') and not any(space in data for space in _SPACES_BEFORE_COLONS)
