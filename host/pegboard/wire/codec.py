"""JSON: strict reading, tolerant writing.

Reading rejects NaN and Infinity, because JSON (RFC 8259) does not have them. It also rejects numbers that do not fit a
double, integers of more than 4,300 digits, nesting of more than 200 levels, lone surrogates, and invalid UTF-8.
"""

from __future__ import annotations

import re
from base64 import b64encode
from math import isfinite
from typing import Any, Final

from pydantic_core import from_json, to_json, to_jsonable_python

MAX_DEPTH = 200
"""The limit of the nesting depth. It equals the limit of pydantic_core, and a test compares the two."""
REPEATED_MEMBERS: Final = object()
"""A placeholder for `params` that contain a repeated member."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_BEFORE_VALUES = (b'":', b" :", b"\t:", b"\n:", b"\r:")
"""The bytes between the name of a member and its value. Strings may contain the same bytes."""

_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))
_BUFFER_TYPES = frozenset((bytes, bytearray, memoryview))


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: the data is not JSON, or exceeds the limits above.
    """
    return _read(data)[0]


def decode_message(data: bytes) -> tuple[Any, bool]:
    """Read a JSON-RPC message or batch. Return the message, and True if an envelope repeats a member.

    Programs may read a repeated member differently (RFC 8259 section 4). If `params` contain a repeated member at any
    depth, `REPEATED_MEMBERS` replaces the `params`.

    Raises:
        ValueError: as for `decode`.
    """
    message, members = _read(data)
    # each member has a colon: equal counts mean that no member was lost
    if data.count(b":") == members or not _has_repeated_members(data, members):
        return message, False
    return message, _mark_repeated_members(data, message)


def _read(data: bytes) -> tuple[Any, int]:
    value = from_json(data, allow_inf_nan=False)
    members = _members((value,))
    if members is None:
        raise ValueError("a number is out of range")
    return value, members


def _has_repeated_members(data: bytes, members: int) -> bool:
    """Return True if the data repeats a member. The data then has more colons outside of strings than members."""
    if sum(map(data.count, _BEFORE_VALUES)) == members:
        return False
    return _STRING.sub(b"", data).count(b":") != members


def _mark_repeated_members(data: bytes, message: Any) -> bool:
    """Replace `params` that repeat a member. Return True if an envelope repeats a member."""
    import json

    found = json.loads(data, object_pairs_hook=_Members)
    repeated = False
    pairs = zip(message, found, strict=True) if type(message) is list else [(message, found)]
    for one, members in pairs:
        if isinstance(members, _Members):
            repeated = repeated or members.repeats
            if _repeats(members.named.get("params")):
                one["params"] = REPEATED_MEMBERS
    return repeated


class _Members:
    """The members of an object, including repeated ones."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.named = dict(pairs)
        self.repeats = len(self.named) != len(pairs)
        self.contains_repeats = self.repeats or any(map(_repeats, self.named.values()))


def _repeats(value: Any) -> bool:
    if isinstance(value, _Members):
        return value.contains_repeats
    return isinstance(value, list) and any(map(_repeats, value))


def encode(value: Any) -> bytes:
    """Write a value as compact UTF-8 JSON without line breaks.

    NaN and infinities become null, bytes become base64 (RFC 4648 section 5), lone surrogates become U+FFFD.

    Raises:
        TypeError: JSON cannot express the value.
    """
    try:
        return _to_json(value)
    except ValueError as error:
        if "surrogates" not in str(error):
            raise TypeError(str(error)) from None
    try:
        # the second attempt is for surrogates inside of models, which only pydantic can convert
        for clean in (_without_surrogates, lambda plain: _without_surrogates(to_jsonable_python(plain))):
            value = clean(value)
            try:
                return _to_json(value)
            except ValueError:
                continue
    except (ValueError, RecursionError) as error:
        raise TypeError(str(error)) from None
    raise TypeError("it contains lone surrogates that cannot be replaced")


def _to_json(value: Any) -> bytes:
    return to_json(value, inf_nan_mode="null", bytes_mode="base64")


def is_finite(values: Any) -> bool:
    """Return True if no number in the JSON values is NaN or infinite. The values must not contain cycles."""
    return _members(values) is not None


def _members(values: Any) -> int | None:
    """Return the number of object members in the JSON values, or None if a number is NaN or infinite."""
    found = list(values)
    members = 0
    for value in found:  # grows while it is read
        kind = type(value)
        if kind is dict:
            members += len(value)
            found += value.values()
        elif kind is list:
            found += value
        elif kind is float and not isfinite(value):
            return None
    return members


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value


def json_value(value: Any) -> Any:
    """Return a value as JSON-ready data.

    Raises:
        TypeError, ValueError: JSON cannot express the value.
    """
    return to_jsonable_python(with_base64(value), inf_nan_mode="constants", bytes_mode="base64")


def with_base64(value: Any) -> Any:
    """Return a value with base64 in place of bytes, inside dicts, lists and tuples too."""
    try:
        return _with_base64(value)
    except RecursionError:  # pydantic reports the problem
        return value


def _with_base64(value: Any) -> Any:
    kind = type(value)
    if kind in _BUFFER_TYPES:
        return b64encode(value).decode()  # pydantic's base64 is that of URLs
    if kind is dict:
        if _PLAIN_TYPES.issuperset(map(type, value.values())):
            return value
        return {name: _with_base64(one) for name, one in value.items()}
    if kind is list or kind is tuple:
        return value if _PLAIN_TYPES.issuperset(map(type, value)) else [_with_base64(one) for one in value]
    return value
