"""The size of a result as JSON, limited before the result is copied or encoded. Iterators are rejected."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from pegboard.errors import ToolOutputError
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard")

_SCALARS = frozenset((int, float, bool, type(None)))
_BUFFERS = (str, bytes, bytearray, memoryview)

_MIN_ITEM_BYTES, _MIN_MEMBER_BYTES = 2, 5
"""The fewest bytes of an item of an array (`1,`) and of a member of an object (`"":1,`)."""
_MAX_EXPANSION = 16
"""How many times its lower bound JSON-ready data may take: characters are escaped, and numbers have many digits."""
_MAX_DEPTH = 256
"""The deepest level that is examined. JSON is never nested that deeply; a list that contains itself ends here."""


class TooLarge(Exception):
    """A result is larger than its limit.

    Args:
        size: its bytes, or a lower bound of them.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def log_too_large(name: str, error: TooLarge, limit: int) -> None:
    """Log that a result is too large, with the setting that limits it."""
    text = (
        "the result of %s is too large: %d bytes or more; the limit (its max_result, or [host] max_result_bytes) is %d"
    )
    logger.warning(text, name, error.size, limit)


def within(limit: int, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the JSON-ready form of a value that takes at most `limit` bytes.

    A value that is certainly too large is rejected before it is converted or encoded.

    Args:
        limit: the most bytes.
        value: the value that a function returned.
        convert: makes the value JSON-ready.

    Raises:
        TooLarge: the value takes more bytes.
        ToolOutputError: the value holds an iterator; or an error of `convert`.
    """
    kind = type(value)
    if kind in _SCALARS or (kind is str and len(value) * _MAX_EXPANSION <= limit):
        return convert(value)
    bound, is_json = _lower_bound(value, limit)
    result = convert(value)
    if (not is_json or bound * _MAX_EXPANSION > limit) and (size := len(encode(result))) > limit:
        raise TooLarge(size)
    return result


def _lower_bound(value: Any, limit: int) -> tuple[int, bool]:
    """Return the fewest bytes that a value takes, and True if it is JSON-ready; other objects may become anything."""
    bound, is_json = 0, True
    level: list[Collection[Any]] = [(value,)]
    for _ in range(_MAX_DEPTH):
        following: list[Collection[Any]] = []
        objects: list[dict[Any, Any]] = []
        for values in level:
            for one in values:
                kind = type(one)
                if kind is str:
                    bound += len(one)
                elif kind is dict:
                    bound += _MIN_MEMBER_BYTES * len(one)
                    following.append(one.values())
                    objects.append(one)
                elif kind is list:
                    bound += _MIN_ITEM_BYTES * len(one)
                    following.append(one)
                elif kind not in _SCALARS:
                    is_json = False
                    bound += _unpack(one, following)
            if bound > limit:
                raise TooLarge(bound)
        if not following:
            break
        bound += _name_bytes(objects)
        level = following
    return bound, is_json


def _name_bytes(objects: Iterable[Iterable[Any]]) -> int:
    names = chain.from_iterable(objects)
    try:
        return sum(map(len, names))
    except TypeError:  # a name that is not a string
        return sum(len(name) for one in objects for name in one if isinstance(name, str))


def _unpack(one: Any, following: list[Collection[Any]]) -> int:
    """Append the content of an object to `following`. Return the fewest bytes of the object itself."""
    if isinstance(one, _BUFFERS):
        return len(one)
    if isinstance(one, Iterator | AsyncIterator):
        raise ToolOutputError("The tool returned an iterator.", "return a list")  # an iterator may never end
    kind = type(one)
    content: Collection[Any] = ()
    if isinstance(one, Collection):
        content = one.values() if isinstance(one, Mapping) else one
    elif hasattr(kind, "__dataclass_fields__"):
        content = [getattr(one, name, None) for name in kind.__dataclass_fields__]
    elif hasattr(kind, "__pydantic_fields__"):
        content = [*vars(one).values(), getattr(one, "__pydantic_extra__", None)]
    following.append(content)
    return _MIN_ITEM_BYTES * len(content)
