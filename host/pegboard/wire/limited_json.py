"""JSON of limited size. A long list is written in parts, so that no time is spent on what exceeds the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pegboard.wire.codec import encode

_PART_ITEMS = 1000
"""The number of items of a long list that are written at once."""


class TooLarge(Exception):
    """A result exceeds its size limit.

    Args:
        size: the size of the result in bytes, or a lower bound of the size.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def encode_within(limit: float, value: Any, *, in_parts: bool) -> bytes:
    """Write a value like `encode`, if its JSON has at most `limit` bytes.

    Args:
        limit: the size limit in bytes.
        value: the value.
        in_parts: stop at the limit within a list. This takes a little more time for lists that do not exceed it.

    Raises:
        TooLarge: the JSON exceeds the limit.
    """
    if in_parts and type(value) is list:
        return b"[%b]" % b",".join(_parts(limit, value))
    written = encode(value)
    if len(written) > limit:
        raise TooLarge(len(written))
    return written


def _parts(limit: float, items: list[Any]) -> Iterator[bytes]:
    """Yield the JSON of the items in parts, without brackets."""
    size = 1
    for start in range(0, len(items), _PART_ITEMS):
        part = encode(items[start : start + _PART_ITEMS])[1:-1]
        size += len(part) + 1  # with the comma or the bracket after it
        if size > limit:
            raise TooLarge(size)
        yield part
