"""JSON in and out, strict on the way in and always giving an answer on the way out.

Reading refuses what JSON (RFC 8259) does not have, NaN and Infinity, and what Python cannot hold exactly: numbers
beyond a double, integers beyond 4,300 digits, nesting beyond 200 levels, lone surrogates, text that is not UTF-8.
"""

from __future__ import annotations

from math import isinf
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

MAX_DEPTH = 200
"""How deeply JSON may be nested; pydantic_core's own limit, pinned by a test."""


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: it is not JSON, or goes beyond the limits above.
    """
    value = from_json(data, allow_inf_nan=False)
    if _has_infinity((value,)):
        raise ValueError("a number is out of range")
    return value


def has_duplicate_keys(data: bytes) -> bool:
    """Whether the object in `data`, valid JSON, names a member of the JSON-RPC envelope twice.

    Which of the two counts is left open by RFC 8259 section 4, so two programs could see two different messages.
    """
    once = data.count(b'"id"') < 2 and data.count(b'"method"') < 2 and data.count(b'"params"') < 2
    if once and data.count(b'"jsonrpc"') < 2 and b"\\u00" not in data:
        return False
    import json

    outermost: list[str] = []

    def remember(pairs: list[tuple[str, Any]]) -> None:
        outermost[:] = [key for key, _ in pairs]

    json.loads(data, object_pairs_hook=remember)
    return len(outermost) != len(set(outermost))


def encode(value: Any) -> bytes:
    """Write one value as compact UTF-8 JSON without line breaks.

    NaN and infinities become null, bytes become base64, lone surrogates become U+FFFD.

    Raises:
        TypeError: it holds something that JSON has no form for.
    """
    try:
        return to_json(value, inf_nan_mode="null", bytes_mode="base64")
    except PydanticSerializationError as error:
        if "surrogates" in str(error):
            return to_json(_without_surrogates(value), inf_nan_mode="null", bytes_mode="base64")
        raise TypeError(str(error)) from None


def _has_infinity(values: Any) -> bool:
    for value in values:
        kind = type(value)
        if kind is float:
            if isinf(value):
                return True
        elif kind is dict:
            if _has_infinity(value.values()):
                return True
        elif kind is list and _has_infinity(value):
            return True
    return False


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value
