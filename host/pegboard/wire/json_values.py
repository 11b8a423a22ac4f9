"""Values of functions as JSON-ready data. Bytes become base64 (RFC 4648 section 4)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from pydantic_core import to_jsonable_python

_TEXTS = frozenset((str, int, float, bool, type(None)))
_BUFFERS = frozenset((bytes, bytearray, memoryview))


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
    if kind in _BUFFERS:
        return b64encode(value).decode()  # pydantic's base64 is that of URLs
    if kind is dict:
        if _TEXTS.issuperset(map(type, value.values())):
            return value
        return {name: _with_base64(one) for name, one in value.items()}
    if kind is list or kind is tuple:
        return value if _TEXTS.issuperset(map(type, value)) else [_with_base64(one) for one in value]
    return value
