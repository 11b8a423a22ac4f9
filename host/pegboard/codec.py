"""JSON in and out, strict on the way in and always giving an answer on the way out.

Reading refuses what JSON (RFC 8259) does not have, NaN and Infinity, and what Python cannot hold exactly: numbers
beyond a double, integers beyond 4,300 digits, nesting beyond 200 levels, lone surrogates, text that is not UTF-8.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from pydantic_core import from_json, to_json, to_jsonable_python

MAX_DEPTH = 200
"""How deeply JSON may be nested; pydantic_core's own limit, pinned by a test."""


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: it is not JSON, or goes beyond the limits above.
    """
    return _read(data)[0]


def decode_message(data: bytes) -> tuple[Any, bool]:
    """Read one JSON-RPC message or batch, and say whether a message in it names a member of its envelope twice.

    Which of the two counts is left open by RFC 8259 section 4, so two programs could see two different messages.

    Raises:
        ValueError: as `decode` does.
    """
    message, members = _read(data)
    # each member has a colon, so that none is lost where there are as many of both
    return message, data.count(b":") != members and _has_duplicate_keys(data)


def _read(data: bytes) -> tuple[Any, int]:
    value = from_json(data, allow_inf_nan=False)
    members = _members((value,))
    if members is None:
        raise ValueError("a number is out of range")
    return value, members


def _has_duplicate_keys(data: bytes) -> bool:
    once = data.count(b'"id"') < 2 and data.count(b'"method"') < 2 and data.count(b'"params"') < 2
    if once and data.count(b'"jsonrpc"') < 2 and b"\\u00" not in data:
        return False
    import json

    message = json.loads(data, object_pairs_hook=_Members)
    messages = message if isinstance(message, list) else [message]
    return any(one.repeated for one in messages if isinstance(one, _Members))


class _Members:
    """An object's members, as they stand in the text."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.repeated = len({key for key, _ in pairs}) != len(pairs)


def encode(value: Any) -> bytes:
    """Write one value as compact UTF-8 JSON without line breaks.

    NaN and infinities become null, bytes become base64 (RFC 4648 section 5), lone surrogates become U+FFFD.

    Raises:
        TypeError: it holds something that JSON has no form for.
    """
    try:
        return _to_json(value)
    except ValueError as error:
        if "surrogates" not in str(error):
            raise TypeError(str(error)) from None
    try:
        # what is written twice more is what hides in models, which only pydantic can take apart
        for clean in (_without_surrogates, lambda plain: _without_surrogates(to_jsonable_python(plain))):
            value = clean(value)
            try:
                return _to_json(value)
            except ValueError:
                continue
    except (ValueError, RecursionError) as error:
        raise TypeError(str(error)) from None
    raise TypeError("it holds half characters where they cannot be replaced")


def _to_json(value: Any) -> bytes:
    return to_json(value, inf_nan_mode="null", bytes_mode="base64")


def is_finite(values: Any) -> bool:
    """Whether no number in these JSON values, however deep, is NaN or infinite. None of them may contain itself."""
    return _members(values) is not None


def _members(values: Any) -> int | None:
    """How many members the objects in these JSON values have in all; None where a number is NaN or infinite."""
    found = list(values)
    members = 0
    for value in found:  # which grows
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
