"""The size of a result as JSON, limited before the result is copied or encoded. Iterators are rejected."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from operator import length_hint
from typing import Any

from pegboard.errors import ToolOutputError, ToolRuntimeError
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard")

_SCALARS = frozenset((int, float, bool, type(None)))
_JSON = _SCALARS | {str, dict, list}
_BUFFERS = (str, bytes, bytearray, memoryview)

_MIN_ITEM_BYTES, _MIN_MEMBER_BYTES = 2, 5
"""The smallest sizes in bytes: of an array item (`1,`) and of an object member (`"":1,`)."""
_MAX_CHARACTER_BYTES = 6
"""The largest size of a character: control characters are escaped (`\\u0000`)."""
_MAX_VALUE_BYTES = 32
"""The largest size of a number with its name's quotation marks, colon and comma. Integers of more than 20 digits, which
are rare, may be larger."""
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
    if kind in _SCALARS:
        return convert(value)
    largest = _largest_size(value, limit)
    result = convert(value)
    if largest > limit and (size := len(encode(result))) > limit:
        raise TooLarge(size)
    return result


def built_within(limit: int, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the JSON-ready form of a value like `within`, or None if it exceeds the limit or cannot be converted."""
    try:
        return within(limit, value, convert)
    except (TooLarge, ToolRuntimeError):
        return None


def _largest_size(value: Any, limit: int) -> float:
    """Return an upper bound of the size of a value as JSON. Return infinity for a value that is not JSON-ready.

    Items are counted without a loop over them, because a large result has very many.

    Raises:
        TooLarge: a lower bound exceeds the limit. The size of objects that are not JSON-ready is unknown until they are
            converted, so they do not count.
        ToolOutputError: the value contains an iterator.
    """
    lower = characters = 0
    values = 1
    is_json = True
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        kinds = set(map(type, level))
        following: list[Collection[Any]] = []
        for kind in kinds - _JSON:
            is_json = False
            lower += _unpack(kind, [one for one in level if type(one) is kind], following)
        if kinds - _JSON:
            level = [one for one in level if type(one) in _JSON]
        lists = [one for one in level if type(one) is list] if list in kinds else []
        objects = [one for one in level if type(one) is dict] if dict in kinds else []
        items, members = sum(map(len, lists)), sum(map(len, objects))
        new = sum(map(length_hint, level)) - items - members
        lower += new + _MIN_ITEM_BYTES * items + _MIN_MEMBER_BYTES * members
        if lower > limit:
            raise TooLarge(lower)
        names = _name_bytes(objects)
        lower += names
        characters += new + names
        values += items + members
        if not (following or items or members):
            break
        level = list(chain.from_iterable(chain(following, lists, map(dict.values, objects))))
    return _MAX_CHARACTER_BYTES * characters + _MAX_VALUE_BYTES * values if is_json else inf


def _name_bytes(objects: Iterable[Iterable[Any]]) -> int:
    names = chain.from_iterable(objects)
    try:
        return sum(map(len, names))
    except TypeError:  # a name that is not a string
        return sum(len(name) for one in objects for name in one if isinstance(name, str))


def _unpack(kind: type[Any], ones: list[Any], following: list[Collection[Any]]) -> int:
    """Append the items of values of one type to `following`.

    Return a lower bound of the size of the values without their items.
    """
    if issubclass(kind, _BUFFERS):
        return sum(map(len, ones))
    if issubclass(kind, (Iterator, AsyncIterator)):
        raise ToolOutputError("The tool returned an iterator.", "return a list")  # an iterator may never end
    contents: list[Collection[Any]] = []
    if issubclass(kind, Collection):
        contents = [one.values() for one in ones] if issubclass(kind, Mapping) else ones
    elif hasattr(kind, "__dataclass_fields__"):
        contents = [[getattr(one, name, None) for name in kind.__dataclass_fields__] for one in ones]
    elif hasattr(kind, "__pydantic_fields__"):
        contents = [[*vars(one).values(), getattr(one, "__pydantic_extra__", None)] for one in ones]
    following += contents
    return _MIN_ITEM_BYTES * sum(map(len, contents))
