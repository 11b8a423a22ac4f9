"""JSON: strict reading, tolerant writing.

Reading rejects NaN and Infinity, because JSON (RFC 8259) does not have them. It also rejects numbers that do not fit a
double, integers of more than 4,300 digits, nesting of more than 200 levels, lone surrogates, and invalid UTF-8.
"""

from __future__ import annotations

from base64 import b64encode
from math import isfinite
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

MAX_DEPTH = 200
"""The limit of the nesting depth. It equals the limit of pydantic_core, and a test compares the two."""

_NOT_FINITE = "JSON cannot express NaN and infinities"
_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))
_BUFFER_TYPES = frozenset((bytes, bytearray, memoryview))


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: the data is not JSON, is nested deeper than 200 levels, or has a number that is out of range.
    """
    value = from_json(data, allow_inf_nan=False)
    if not is_finite(value):
        raise ValueError("a number is out of range")
    return value


def encode(value: Any) -> bytes:
    """Write a value as compact UTF-8 JSON without line breaks.

    NaN and infinities become null, bytes become base64 (RFC 4648 section 5), lone surrogates become U+FFFD.

    Raises:
        TypeError: JSON cannot express the value.
    """
    try:
        return to_json(value, inf_nan_mode="null", bytes_mode="base64")
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


def encode_finite(value: Any) -> bytes:
    """Write a value like `encode`, but reject NaN and infinities.

    Raises:
        TypeError, ValueError: JSON cannot express the value.
    """
    try:
        return finite_json(_to_json(value, "constants"))
    except PydanticSerializationError:  # a lone surrogate, or a value that JSON cannot express
        if is_finite(value):
            return encode(value)
        raise ValueError(_NOT_FINITE) from None


def finite_json(written: bytes) -> bytes:
    """Return JSON that pydantic has written.

    Raises:
        ValueError: it contains NaN or an infinity.
    """
    if _contains(written, b"NaN") or _contains(written, b"Infinity"):
        try:
            from_json(written, allow_inf_nan=False)  # the words may be in strings
        except ValueError:
            raise ValueError(_NOT_FINITE) from None
    return written


def _to_json(value: Any, inf_nan_mode: Literal["null", "constants"] = "null") -> bytes:
    return to_json(value, inf_nan_mode=inf_nan_mode, bytes_mode="base64")


def is_finite(value: Any) -> bool:
    """Return True if no number in a JSON value is NaN or infinite."""
    try:
        written = _to_json(value, inf_nan_mode="constants")
    except ValueError:  # a lone surrogate, or a value that JSON cannot express
        return _has_only_finite_numbers(value)
    has_words = _contains(written, b"NaN") or _contains(written, b"Infinity")
    return not has_words or _has_only_finite_numbers(value)


def _contains(written: bytes, word: bytes) -> bool:
    """Return True if JSON contains a word. Most JSON lacks the word's first byte, whose search is ten times faster."""
    return word[0] in written and word in written


def _has_only_finite_numbers(value: Any) -> bool:
    values = [value]
    seen: set[int] = set()
    for item in values:  # grows while it is read
        kind = type(item)
        if kind is dict or kind is list:
            if id(item) in seen:
                continue  # a cycle would not end
            seen.add(id(item))
        if kind is dict:
            values += item.values()
        elif kind is list:
            values += item
        elif kind is float and not isfinite(item):
            return False
    return True


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
        return {name: _with_base64(member) for name, member in value.items()}
    if kind is list or kind is tuple:
        return value if _PLAIN_TYPES.issuperset(map(type, value)) else [_with_base64(item) for item in value]
    return value
