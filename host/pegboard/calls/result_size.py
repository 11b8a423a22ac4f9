"""The size of a result as JSON, limited before the result is converted. Iterators are rejected."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import chain
from math import inf
from operator import attrgetter, length_hint
from typing import Any

from pegboard.errors import ToolOutputError, ToolRuntimeError
from pegboard.wire.codec import encode
from pegboard.wire.encoded_result import EncodedResult

logger = logging.getLogger("pegboard")

_SCALARS = frozenset((int, float, bool, type(None)))
_JSON = _SCALARS | {str, dict, list}
_MEMBERS = attrgetter("__dict__")
_EXTRA_MEMBERS = attrgetter("__pydantic_extra__")
_BUFFERS = (str, bytes, bytearray, memoryview)

_MAX_CHARACTER_BYTES = 6
"""The largest size of a character: control characters are escaped (`\\u0000`)."""
_MANY = 100
"""The number of dicts from which columns save time."""
_MAX_DEPTH = 512
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


def within(limit: int, value: Any, convert: Callable[[Any, bool], Any]) -> Any:
    """Return the converted form of a value, if its JSON has at most `limit` bytes.

    Most values that are too large are rejected before they are converted.

    Args:
        limit: the size limit in bytes; 0 for no limit.
        value: the value that a function returned.
        convert: returns the JSON-ready form of the value, or an `EncodedResult`. Its second argument is True if the
            value is JSON-ready: it consists only of dicts, lists, strings, numbers, booleans and None.

    Raises:
        TooLarge: the JSON exceeds the limit.
        ToolOutputError: the value contains an iterator, or `convert` raised the error.
    """
    kind = type(value)
    if kind in _SCALARS or (kind is str and _MAX_CHARACTER_BYTES * len(value) + 2 <= (limit or inf)):
        return convert(value, True)
    result = convert(value, _is_json(value, limit or inf))
    if limit:
        size = len(result.json if type(result) is EncodedResult else encode(result))
        if size > limit:
            raise TooLarge(size)
    return result


def built_within(limit: int, value: Any, convert: Callable[[Any, bool], Any]) -> Any:
    """Return the converted form of a value like `within`, or None if it exceeds the limit or cannot be converted."""
    try:
        return within(limit, value, convert)
    except (TooLarge, ToolRuntimeError):
        return None


def exceeds(limit: int, value: Any, name: str) -> bool:
    """Return True, and log the size, if the JSON of a value has more than `limit` bytes; 0 for no limit.

    Raises:
        ToolOutputError: the value contains an iterator.
    """
    try:
        if limit:
            within(limit, value, lambda same, _: same)
    except TooLarge as error:
        log_too_large(name, error, limit)
        return True
    return False


def _is_json(value: Any, limit: float) -> bool:
    """Return True if a value is JSON-ready.

    Values are counted without a loop over them, because a large result has very many. A value that occurs in several
    places counts in each.

    Raises:
        TooLarge: a lower bound of the size exceeds the limit. The size of objects that are not JSON-ready is unknown
            until they are converted, so they do not count.
        ToolOutputError: the value contains an iterator.
    """
    is_json = True
    columns: list[list[Any]] = [[value]]
    size = 0
    for _ in range(_MAX_DEPTH):
        dicts: list[dict[Any, Any]] = []
        iterables: list[Iterable[Any]] = []
        for column in columns:
            kinds = _kinds_of(column)
            if kinds <= _SCALARS:
                continue
            if not kinds <= _JSON:
                if limit == inf:
                    return False
                is_json = False
                size += sum(_unpack(_of_type(kind, column), dicts, iterables) for kind in kinds - _JSON)
                column = [item for item in column if type(item) in _JSON]
            size += sum(map(len if len(kinds) == 1 else length_hint, column))
            if dict in kinds:
                members = column if len(kinds) == 1 else _of_type(dict, column)
                dicts += members
                size += _names_size(members, limit)
            if list in kinds:
                iterables += column if len(kinds) == 1 else _of_type(list, column)
        if size > limit:
            raise TooLarge(size)
        columns = [*_columns(dicts), [*chain.from_iterable(iterables)]]
        items = sum(map(len, columns))  # an item has a comma
        if not items:
            break
        size += items
    return is_json


def _kinds_of(column: list[Any]) -> set[type[Any]]:
    """Return the types of values. Most columns have a single type. Counting it takes half the time of a set."""
    kinds = list(map(type, column))
    return {kinds[0]} if kinds and kinds.count(kinds[0]) == len(kinds) else set(kinds)


def _of_type(kind: type[Any], values: list[Any]) -> list[Any]:
    return [value for value in values if type(value) is kind]


def _columns(dicts: list[dict[Any, Any]]) -> list[list[Any]]:
    """Return the values of dicts, grouped by their position if there are many dicts."""
    values = [*chain.from_iterable(map(dict.values, dicts))]
    width = len(dicts[0]) if len(dicts) >= _MANY else 1
    return [values[start::width] for start in range(width)] if width > 1 else [values]


def _names_size(dicts: list[dict[Any, Any]], limit: float) -> int:
    """Return a lower bound of the size of the names in several dicts. It is 0 if the names of the first dict are short.

    Dicts that share one long name take little memory, but their JSON is very large. They usually share all names.
    """
    if len(dicts) < 2 or len(dicts) * _length_of_names(dicts[0]) <= limit:
        return 0
    return _length_of_names(chain.from_iterable(dicts))


def _length_of_names(names: Iterable[Any]) -> int:
    return sum(len(name) for name in names if type(name) is str)


def _unpack(values: list[Any], dicts: list[dict[Any, Any]], iterables: list[Iterable[Any]]) -> int:
    """Append the dicts of models to `dicts`, and collections of the items of other values of one type to `iterables`.

    Return a lower bound of the size of the values without their items.
    """
    kind = type(values[0])
    if issubclass(kind, _BUFFERS):
        return sum(map(len, values))
    if issubclass(kind, (Iterator, AsyncIterator)):
        raise ToolOutputError("The tool returned an iterator.", "return a list")  # an iterator may never end
    if hasattr(kind, "__pydantic_extra__"):
        count = _unpack_models(kind, values, dicts)
        return -len(values) if kind.__pydantic_root_model__ else count  # the JSON of a root model is that of its root
    contents: list[Collection[Any]] = []
    if issubclass(kind, Collection):
        contents = [value.values() for value in values] if issubclass(kind, Mapping) else values
    elif hasattr(kind, "__dataclass_fields__"):
        names = [field.name for field in fields(kind)]  # without class variables
        contents = [[getattr(value, name, None) for name in names] for value in values]
    iterables += contents
    return 2 * sum(map(len, contents))  # an item and a comma


def _unpack_models(kind: Any, values: list[Any], dicts: list[dict[Any, Any]]) -> int:
    """Append the dicts of models of one class to `dicts`, and return the number of their members.

    Excluded and cached members are not in the JSON. They do not count.
    """
    fields = kind.__pydantic_fields__.items()
    names = [name for name, field in fields if not (field.exclude or getattr(field, "exclude_if", None))]
    models = list(map(_MEMBERS, values))
    count = sum(map(len, models))
    if count > len(names) * len(models):
        models = [{name: model[name] for name in names if name in model} for model in models]
        count = sum(map(len, models))
    dicts += models
    if kind.model_config.get("extra") == "allow":
        extras = list(filter(None, map(_EXTRA_MEMBERS, values)))
        dicts += extras
        count += sum(map(len, extras))
    return count
