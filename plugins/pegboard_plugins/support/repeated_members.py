"""JSON whose objects repeat members. Programs may read a repeated member differently (RFC 8259, section 4)."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import from_json, to_json

from pegboard.plugin import decode

REPEATED_MEMBERS: Final = object()
"""A placeholder for `params` that contain a repeated member."""


def decode_unique(data: bytes) -> Any:
    """Read one JSON value whose objects repeat no member. Programs may read a repeated member differently.

    Raises:
        ValueError: as for `decode`, or an object repeats a member.
    """
    value, written = _read(data)
    if _may_repeat(data, written):
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
    message, written = _read(data)
    if not _may_repeat(data, written):
        return message, False
    return message, _mark_repeated_members(data, message)


def _read(data: bytes) -> tuple[Any, bytes]:
    """Read one JSON value, and write it again.

    Raises:
        ValueError: as for `decode`.
    """
    value = from_json(data, allow_inf_nan=False)
    written = to_json(value, inf_nan_mode="constants")
    if b"I" in written and b"Infinity" in written:  # most JSON lacks the first byte, whose search is faster
        decode(data)  # raises if the word is a number
    return value, written


def _may_repeat(data: bytes, written: bytes) -> bool:
    """Return True if an object may repeat a member: it loses a colon when it is written again.

    Other colons are in strings, and stay.
    """
    return data.count(b":") != written.count(b":") or (b"\\" in data and b"\\u003a" in data.lower())


def _mark_repeated_members(data: bytes, message: Any) -> bool:
    """Replace `params` that repeat a member. Return True if an envelope repeats a member."""
    import json

    parsed = json.loads(data, object_pairs_hook=_Members)
    repeated = False
    pairs = zip(message, parsed, strict=True) if type(message) is list else [(message, parsed)]
    for item, members in pairs:
        if isinstance(members, _Members):
            repeated = repeated or members.repeats
            if _repeats(members.named.get("params")):
                item["params"] = REPEATED_MEMBERS
    return repeated


class _Members:
    """The members of an object, including repeated members."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.named = dict(pairs)
        self.repeats = len(self.named) != len(pairs)
        self.contains_repeats = self.repeats or any(map(_repeats, self.named.values()))


def _repeats(value: Any) -> bool:
    if isinstance(value, _Members):
        return value.contains_repeats
    return isinstance(value, list) and any(map(_repeats, value))
