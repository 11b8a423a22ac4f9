"""The header fields that functions see: all but what lets the caller in here, which is for nobody else."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.contracts import Headers

WITHHELD = frozenset(("authorization",))
"""A token for this host must go no further (MCP, "Token Passthrough")."""


class Fields:
    """Header fields without those that are withheld."""

    __slots__ = ("_headers",)

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def get(self, key: str, /) -> str | None:
        """The first field of that name."""
        return None if key.lower() in WITHHELD else self._headers.get(key)

    def getall(self, key: str, /, default: Sequence[str]) -> Sequence[str]:
        """Every field of that name, in order."""
        return default if key.lower() in WITHHELD else self._headers.getall(key, default)
