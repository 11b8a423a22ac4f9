"""The size of a result as JSON, limited before the result is copied or encoded. Iterators are rejected."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from pegboard.errors import ToolOutputError, ToolRuntimeError
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard")

_SCALARS = frozenset((int, float, bool, type(None)))
_BUFFERS = (str, bytes, bytearray, memoryview)

_MIN_ITEM_BYTES, _MIN_MEMBER_BYTES = 2, 5
"""The smallest sizes in bytes: of an array item (`1,`) and of an object member (`"":1,`)."""
_MAX_EXPANSION = 16
"""The largest ratio of the actual size to the lower bound: characters may be escaped, and numbers may have many
digits."""
_MAX_DEPTH = 256
"""The depth at which the examination stops. It protects against lists that contain themselves."""


class TooLarge(Exception):
    """A result exceeds its size limit.

    Args:
        size: the size of the result in bytes, or a lower bound of the size.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def log_too_large(name: str, error: TooLarge, limit: int) -> None:
    """Log that a result is too large, and name the setting of the limit."""
    text = (
        "the result of %s is too large: %d bytes or more; the limit (its max_result, or [host] max_result_bytes) is %d"
    )
    logger.warning(text, name, error.size, limit)


def within(limit: int, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the JSON-ready form of a value, if its JSON has at most `limit` bytes.

    Most values that are too large are rejected before they are converted or encoded.

    Args:
        limit: the size limit in bytes.
        value: the value that a function returned.
        convert: returns the JSON-ready form of the value.

    Raises:
        TooLarge: the JSON exceeds the limit.
        ToolOutputError: the value contains an iterator, or `convert` raised the error.
    """
    kind = type(value)
    if kind in _SCALARS or (kind is str and len(value) * _MAX_EXPANSION <= limit):
        return convert(value)
    bound, is_json = _lower_bound(value, limit)
    result = convert(value)
    if (not is_json or bound * _MAX_EXPANSION > limit) and (size := len(encode(result))) > limit:
        raise TooLarge(size)
    return result


def built_within(limit: int, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the JSON-ready form of a value like `within`, or None if it exceeds the limit or cannot be converted."""
    try:
        return within(limit, value, convert)
    except (TooLarge, ToolRuntimeError):
        return None


def _lower_bound(value: Any, limit: int) -> tuple[int, bool]:
    """Return a lower bound of the size of a value as JSON, and True if the value is JSON-ready.

    Objects that are not JSON-ready do not count: their size is unknown until they are converted.
    """
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
    """Append the items of a value to `following`. Return a lower bound of the size of the value without its items."""
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
