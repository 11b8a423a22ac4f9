"""A tool's result that the host has encoded when it checked the result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from pegboard.types.calls import ToolResult
from pegboard.wire.codec import decode, encode


class EncodedResult(ToolResult):
    """A `ToolResult` with the JSON of its value, an object or an array. The value is decoded when it is first read.

    Only a value that has been read can be changed by middleware. It is then encoded again.
    """

    _json: bytes

    @classmethod
    def of(cls, value: bytes, *, structured: bool) -> EncodedResult:
        """Return a result with a value that is encoded as JSON."""
        result = cls(structured=structured)
        result._json = value
        return result

    @cached_property
    def value(self) -> Any:
        """The value, JSON-ready."""
        try:
            return decode(self._json)
        except ValueError:  # nesting of more than 200 levels
            import json

            return json.loads(self._json)

    @property
    def json(self) -> bytes:
        return encode(self.value) if "value" in vars(self) else self._json

    # the tuple itself has no value

    def __iter__(self) -> Iterator[Any]:
        return iter((self.value, *super().__getitem__(slice(1, None))))

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(ToolResult(*self))

    def _replace(self, **changes: Any) -> ToolResult:  # type: ignore[override]
        return ToolResult(*self)._replace(**changes)
