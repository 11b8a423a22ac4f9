"""The size of a result as JSON, limited before the result is converted. Iterators are rejected."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from operator import attrgetter, length_hint
from typing import Any

from pegboard.errors import ToolOutputError, ToolRuntimeError
from pegboard.wire.codec import encode
from pegboard.wire.columns import MANY, columns, items_of, kinds_of, of_types
from pegboard.wire.encoded_result import EncodedResult
from pegboard.wire.limited_json import TooLarge

logger = logging.getLogger("pegboard")

_SCALARS = frozenset((int, float, bool, type(None)))
_CONTAINERS = frozenset((dict, list))
_JSON = _SCALARS | _CONTAINERS | {str}
_MEMBERS = attrgetter("__dict__")
_EXTRA_MEMBERS = attrgetter("__pydantic_extra__")
_BUFFERS = (str, bytes, bytearray, memoryview)

_MAX_CHARACTER_BYTES = 6
"""The largest size of a character: control characters are escaped (`\\u0000`)."""
_MAX_DEPTH = 512
"""The depth at which the examination stops. It protects against lists that contain themselves."""


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
    level = _first_level(value, limit)
    size = 2 * len(level) - 1  # items, and the commas between them
    width = 1
    for _ in range(_MAX_DEPTH):
        containers: list[Any] = []
        following: list[Iterable[Any]] = []
        for column in columns(level, width) if width > 1 else (level,):
            kinds = kinds_of(column)
            if kinds <= _SCALARS:
                continue
            if not kinds <= _JSON:
                if limit == inf:
                    return False
                is_json = False
                size += sum(_unpack(of_types({kind}, column, kinds), containers, following) for kind in kinds - _JSON)
                column = of_types(kinds & _JSON, column, kinds)
            size += sum(map(len if len(kinds) == 1 else length_hint, column))
            if dict in kinds or list in kinds:
                containers += column
                size += _names_size(column, kinds, limit)
        if size > limit:
            raise TooLarge(size)
        level = items_of(containers)
        if following:
            level += chain.from_iterable(following)
        if not level:
            break
        size += len(level)  # an item has a comma
        width = len(containers[0]) if len(containers) > 1 and type(containers[0]) is dict else 1
    return is_json


def _first_level(value: Any, limit: float) -> list[Any]:
    """Return the items of a dict or list that is not too large, or a list of another value."""
    if type(value) not in _CONTAINERS:
        return [value]
    if (size := 2 * len(value) - 1) > limit:
        raise TooLarge(size)
    return items_of([value])


def _names_size(values: list[Any], kinds: set[type[Any]], limit: float) -> int:
    """Return a lower bound of the size of the names in many dicts. It is 0 if the names of the first dict are short.

    Dicts that share one long name take little memory, but their JSON is very large. They usually share all names.
    """
    if len(values) < MANY or dict not in kinds:
        return 0
    dicts = of_types({dict}, values, kinds)
    if len(dicts) * _length_of_names(dicts[0]) <= limit:
        return 0
    return _length_of_names(chain.from_iterable(dicts))


def _length_of_names(names: Iterable[Any]) -> int:
    return sum(len(name) for name in names if type(name) is str)


def _unpack(ones: list[Any], containers: list[Any], following: list[Iterable[Any]]) -> int:
    """Append the dicts of models to `containers`, and the items of other values of one type to `following`.

    Return a lower bound of the size of the values without their items.
    """
    kind = type(ones[0])
    if issubclass(kind, _BUFFERS):
        return sum(map(len, ones))
    if issubclass(kind, (Iterator, AsyncIterator)):
        raise ToolOutputError("The tool returned an iterator.", "return a list")  # an iterator may never end
    if hasattr(kind, "__pydantic_extra__"):
        count = _unpack_models(kind, ones, containers)
        return -len(ones) if kind.__pydantic_root_model__ else count  # a root takes the place of its model
    contents: list[Collection[Any]] = []
    if issubclass(kind, Collection):
        contents = [one.values() for one in ones] if issubclass(kind, Mapping) else ones
    elif hasattr(kind, "__dataclass_fields__"):
        contents = [[getattr(one, name, None) for name in kind.__dataclass_fields__] for one in ones]
    following += contents
    return 2 * sum(map(len, contents))  # an item and a comma


def _unpack_models(kind: Any, ones: list[Any], containers: list[Any]) -> int:
    """Append the dicts of models of one class to `containers`, and return the number of their members.

    Excluded and cached members are not in the JSON. They do not count.
    """
    fields = kind.__pydantic_fields__.items()
    names = [name for name, field in fields if not (field.exclude or getattr(field, "exclude_if", None))]
    models = list(map(_MEMBERS, ones))
    count = sum(map(len, models))
    if count > len(names) * len(models):
        models = [{name: one[name] for name in names if name in one} for one in models]
        count = sum(map(len, models))
    containers += models
    if kind.model_config.get("extra") == "allow":
        extras = list(filter(None, map(_EXTRA_MEMBERS, ones)))
        containers += extras
        count += sum(map(len, extras))
    return count
