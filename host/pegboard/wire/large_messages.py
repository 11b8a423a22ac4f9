"""The check of large messages for repeated members and infinities, without a loop over their values."""

from __future__ import annotations

from gc import get_referents
from typing import Any

from pegboard.wire.columns import are_finite, columns


def is_faithful(data: bytes, message: Any) -> bool:
    """Return True if a decoded message has every member of its JSON, and only finite numbers. False means unknown.

    Each member has a colon. If the JSON has no other colons, their number is that of the members.
    """
    colons, braces = data.count(b":"), data.count(b"{")
    members = objects = 0
    level: list[Any] = [message]
    width = 1
    while level:
        containers: list[Any] = []
        for values in columns(level, width):
            kinds = set(map(type, values))
            if float in kinds and not are_finite(values, kinds):
                return False
            if dict in kinds:
                found = values if kinds == {dict} else [one for one in values if type(one) is dict]
                objects += len(found)
                members += sum(map(len, found))
            if dict in kinds or list in kinds:
                containers += values
        if objects == braces and members != colons:
            return False  # all objects are counted, and a string contains a colon
        width = len(containers[0]) if containers and type(containers[0]) is dict else 1
        level = get_referents(*containers)
    return members == colons
