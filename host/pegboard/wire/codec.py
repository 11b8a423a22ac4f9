"""JSON: strict reading, tolerant writing.

Reading rejects NaN and Infinity, because JSON (RFC 8259) does not have them. It also rejects numbers that do not fit a
double, integers of more than 4,300 digits, nesting of more than 200 levels, lone surrogates, and invalid UTF-8.
"""

from __future__ import annotations

from base64 import b64encode
from math import isfinite
from typing import Any, Final, Literal

from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

MAX_DEPTH = 200
"""The limit of the nesting depth. It equals the limit of pydantic_core, and a test compares the two."""
REPEATED_MEMBERS: Final = object()
"""A placeholder for `params` that contain a repeated member."""

_NOT_FINITE = "JSON cannot express NaN and infinities"
_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))
_BUFFER_TYPES = frozenset((bytes, bytearray, memoryview))


def decode(data: bytes) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: the data is not JSON, or exceeds the limits above.
    """
    value = from_json(data, allow_inf_nan=False)
    if not is_finite(value):
        raise _out_of_range()
    return value


def decode_unique(data: bytes) -> Any:
    """Read one JSON value whose objects repeat no member. Programs may read a repeated member differently.

    Raises:
        ValueError: as for `decode`, or an object repeats a member.
    """
    value = decode(data)
    if _may_repeat(data, to_json(value)):
        import json

        if _repeats(json.loads(data, object_pairs_hook=_Members)):
            raise ValueError("an object repeats a member")
    return value


def decode_message(data: bytes) -> tuple[Any, bool]:
    """Read a JSON-RPC message or batch. Return the message, and True if an envelope repeats a member.

    Programs may read a repeated member differently (RFC 8259 section 4). If `params` contain a repeated member at any
    depth, `REPEATED_MEMBERS` replaces the `params`.

    Raises:
        ValueError: as for `decode`.
    """
    message = from_json(data, allow_inf_nan=False)
    written = to_json(message, inf_nan_mode="constants")
    if _contains(written, b"Infinity") and not _has_only_finite_numbers(message):
        raise _out_of_range()
    if not _may_repeat(data, written):
        return message, False
    return message, _mark_repeated_members(data, message)


def _may_repeat(data: bytes, written: bytes) -> bool:
    """Return True if an object may repeat a member: it loses a colon when it is written again.

    Other colons are in strings, and stay.
    """
    return data.count(b":") != written.count(b":") or (b"\\" in data and b"\\u003a" in data.lower())


def _out_of_range() -> ValueError:
    return ValueError("a number is out of range")


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


def encode_text(written: bytes) -> bytes:
    """Write JSON as a string of JSON, without a copy as `str`."""
    return to_json(written, bytes_mode="utf8")


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
    found = [value]
    known: set[int] = set()
    for one in found:  # grows while it is read
        kind = type(one)
        if kind is dict or kind is list:
            if id(one) in known:
                continue  # a cycle would not end
            known.add(id(one))
        if kind is dict:
            found += one.values()
        elif kind is list:
            found += one
        elif kind is float and not isfinite(one):
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
        return {name: _with_base64(one) for name, one in value.items()}
    if kind is list or kind is tuple:
        return value if _PLAIN_TYPES.issuperset(map(type, value)) else [_with_base64(one) for one in value]
    return value
