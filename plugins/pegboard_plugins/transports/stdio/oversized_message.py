"""The envelope of a JSON-RPC message that is too long to keep, read while its bytes pass."""

from __future__ import annotations

import re
from typing import Any, Final

from pegboard.plugin import decode
from pegboard_plugins.support.jsonrpc import RequestId

MAX_MEMBER_BYTES: Final = 1024
"""The longest member of the envelope that is read, including its name."""

MAX_MARKS: Final = 50_000
"""The largest number of brackets, quotes and commas that are examined before the scan stops."""

_MEMBER_MARKS = 100
"""The cost of reading a member, in marks."""
_LEVELS = 6


# Before Python 3.11.5, the last attempt of (?:...)*+ keeps what it matched before it failed. (?>(?:...)*) does not.
_STRING = rb'[^"\\]*+(?>(?:\\.[^"\\]*+)*)'


def _nested(levels: int) -> bytes:
    """Return a pattern of text, strings, and arrays and objects nested up to a number of levels."""
    inner = rb"|[{\[]%b[}\]]" % _nested(levels - 1) if levels else b""
    return rb'[^"{}\[\]]*+(?>(?:(?:"%b"%b)[^"{}\[\]]*+)*)' % (_STRING, inner)


_IN_STRING = re.compile(_STRING, re.DOTALL)
_IN_MESSAGE = re.compile(rb'[^"{}\[\],]*+')
_IN_MEMBER = re.compile(_nested(_LEVELS), re.DOTALL)
"""Each pattern matches up to the next relevant byte, at the speed of the regular expression engine."""


class OversizedMessage:
    """A scanner for the members of the outermost object, in any order and in limited memory."""

    __slots__ = ("_depth", "_ended", "_escaped", "_fields", "_in_string", "_marks", "_member", "_unread")

    def __init__(self) -> None:
        self._depth = 0
        self._ended = False
        self._in_string = False
        self._escaped = False
        self._marks = 0
        self._member = bytearray()  # the current member, without nested values
        self._fields: dict[str, Any] = {}
        self._unread = False

    @property
    def id(self) -> RequestId | None:
        """The id, or None if it is missing or invalid."""
        request_id = self._fields.get("id")
        return request_id if type(request_id) is str or type(request_id) is int else None

    @property
    def is_response(self) -> bool:
        """True if the message is a response to a request of the host."""
        return "method" not in self._fields and not self._fields.keys().isdisjoint(("result", "error"))

    @property
    def is_notification(self) -> bool:
        """True if the message is complete and must not be answered."""
        return self._ended and not self._unread and "method" in self._fields and "id" not in self._fields

    def feed(self, data: bytes) -> None:
        """Read the next bytes."""
        position = 0
        if self._escaped and data:
            self._escaped = False
            self._keep(data[:1])
            position = 1
        while position < len(data) and not self._ended and self._marks < MAX_MARKS:
            self._marks += 1
            end = self._pattern.match(data, position).end()  # type: ignore[union-attr]  # it also matches an empty string
            self._keep(data[position:end])
            self._pass(data[end : end + 1])
            position = end + 1

    @property
    def _pattern(self) -> re.Pattern[bytes]:
        if self._in_string:
            return _IN_STRING
        return _IN_MESSAGE if self._depth < 2 else _IN_MEMBER

    def _pass(self, mark: bytes) -> None:
        """Handle `mark`, the byte at which a pattern stopped. `mark` is empty at the end of the data."""
        if mark in (b"{", b"["):
            self._open(mark)
        elif mark in (b"}", b"]"):
            self._close(mark)
        elif mark == b",":
            self._end_member()
        elif mark == b'"':
            self._in_string = not self._in_string
            self._keep(mark)
        elif mark:
            self._escaped = True
            self._keep(mark)

    def _open(self, mark: bytes) -> None:
        if self._depth:
            self._keep(mark)
        elif mark == b"[":
            self._ended = True  # a batch has no envelope
        self._depth += 1

    def _close(self, mark: bytes) -> None:
        self._depth -= 1
        if self._depth > 0:
            self._keep(mark)
        else:
            self._ended = True
            self._end_member()

    def _keep(self, text: bytes) -> None:
        if self._depth == 1 and len(self._member) <= MAX_MEMBER_BYTES:
            self._member += text[: MAX_MEMBER_BYTES + 1]

    def _end_member(self) -> None:
        self._marks += _MEMBER_MARKS
        try:
            if len(self._member) > MAX_MEMBER_BYTES:
                raise ValueError("the rest of the member was not kept")
            self._fields |= decode(b"{%b}" % bytes(self._member))
        except ValueError:
            self._unread = True
        self._member.clear()
