"""JSON in and out, strict on the way in and always giving an answer on the way out.

Reading refuses what JSON (RFC 8259) does not have, NaN and Infinity, and what Python cannot hold exactly: numbers
beyond a double, integers beyond 4,300 digits, nesting beyond 200 levels, lone surrogates, text that is not UTF-8.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final

from pydantic_core import from_json, to_json, to_jsonable_python

MAX_DEPTH = 200
"""How deeply JSON may be nested; pydantic_core's own limit, pinned by a test."""
REPEATED_MEMBERS: Final = object()
"""Stands for `params` in which an object names a member twice."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_BEFORE_VALUES = (b'":', b" :", b"\t:", b"\n:", b"\r:")
"""What stands between the name of a member and its value, at least; strings may hold it, too."""


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: it is not JSON, or goes beyond the limits above.
    """
    return _read(data)[0]


def decode_message(data: bytes) -> tuple[Any, bool]:
    """Read one JSON-RPC message or batch, and say whether a message in it names a member of its envelope twice.

    RFC 8259 section 4 leaves open which of the two counts, so two programs could see two different messages.
    `params` that name a member twice, at any depth, are replaced by `REPEATED_MEMBERS`.

    Raises:
        ValueError: as `decode` does.
    """
    message, members = _read(data)
    # each member has a colon, so that none is lost where there are as many of both
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
    """Return whether the text has more members than were read. It counts the colons that are outside of strings."""
    if sum(map(data.count, _BEFORE_VALUES)) == members:
        return False
    return _STRING.sub(b"", data).count(b":") != members


def _mark_repeated_members(data: bytes, message: Any) -> bool:
    """Replace `params` that name a member twice; return whether an envelope does."""
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
    """The members of an object as its text has them."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.named = dict(pairs)
        self.repeats = len(self.named) != len(pairs)
        self.contains_repeats = self.repeats or any(map(_repeats, self.named.values()))


def _repeats(value: Any) -> bool:
    if isinstance(value, _Members):
        return value.contains_repeats
    return isinstance(value, list) and any(map(_repeats, value))


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
