"""How large a tool's result is as JSON, found out before it is copied; and iterators in it, which may have no end.

It encodes only what comes near the limit, and knows nothing of tools.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from pegboard.errors import ToolOutputError
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard")

_SMALL = frozenset((int, float, bool, type(None)))
_TEXT = (str, bytes, bytearray, memoryview)

_ITEM, _MEMBER = 2, 5
"""The fewest bytes that an item of an array (`1,`) and a member of an object (`"":1,`) take."""
_EXPANSION = 16
"""How many times its weight a result may take: escapes make texts longer, and numbers have many digits."""
_DEEPEST = 256
"""What is nested more deeply is never encoded; what contains itself ends here too."""


class TooLarge(Exception):
    """A result is larger than it may be.

    Args:
        size: its bytes, or as many as there are at least.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def log_too_large(name: str, error: TooLarge, limit: int) -> None:
    """Tell the operator whose result it was, and what limits it."""
    text = (
        "the result of %s is too large: %d bytes or more; the limit (its max_result, or [host] max_result_bytes) is %d"
    )
    logger.warning(text, name, error.size, limit)


def within(limit: int, value: Any, convert: Callable[[Any], Any]) -> Any:
    """What `convert` makes of a value, a JSON-ready one, if it takes no more than `limit` bytes.

    Raises:
        TooLarge: it takes more.
        ToolOutputError: the value holds an iterator; or what `convert` raises.
    """
    kind = type(value)
    if kind in _SMALL or (kind is str and len(value) * _EXPANSION <= limit):
        return convert(value)
    weight, known = _weigh(value, limit)
    result = convert(value)
    if not known:
        weight, _ = _weigh(result, limit)
    if weight * _EXPANSION > limit and (size := len(encode(result))) > limit:
        raise TooLarge(size)
    return result


def _weigh(value: Any, limit: int) -> tuple[int, bool]:
    """The fewest bytes that a value takes, and whether it is JSON-ready; other objects may turn into anything."""
    weight, known = 0, True
    level: list[Iterable[Any]] = [(value,)]
    for _ in range(_DEEPEST):
        following: list[Collection[Any]] = []
        for values in level:
            for one in values:
                kind = type(one)
                if kind is str:
                    weight += len(one)
                elif kind is dict:
                    weight += _MEMBER * len(one)
                    following.append(one.values())
                elif kind is list:
                    weight += _ITEM * len(one)
                    following.append(one)
                elif kind not in _SMALL:
                    known = False
                    weight += _unpacked(one, following)
            if weight > limit:
                raise TooLarge(weight)
        if not following:
            break
        level = list(following)
    return weight, known


def _unpacked(one: Any, following: list[Collection[Any]]) -> int:
    """What an object weighs by itself; what it holds is appended."""
    if isinstance(one, _TEXT):
        return len(one)
    if isinstance(one, Iterator | AsyncIterator):
        # taking it to its end could take for ever
        raise ToolOutputError("The tool returned an iterator.", "return a list")
    kind = type(one)
    inside: Collection[Any] = ()
    if isinstance(one, Collection):
        inside = one.values() if isinstance(one, Mapping) else one
    elif hasattr(kind, "__dataclass_fields__"):
        inside = [getattr(one, name, None) for name in kind.__dataclass_fields__]
    elif hasattr(kind, "__pydantic_fields__"):
        inside = [*vars(one).values(), getattr(one, "__pydantic_extra__", None)]
    following.append(inside)
    return _ITEM * len(inside)
