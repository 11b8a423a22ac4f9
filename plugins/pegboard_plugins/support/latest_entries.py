"""A dictionary of limited size."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class LatestEntries(dict[_Key, _Value], Generic[_Key, _Value]):
    """A dictionary of the latest entries.

    Args:
        max_entries: the maximum number of entries. The oldest is removed first.
    """

    def __init__(self, max_entries: int) -> None:
        super().__init__()
        self._max_entries = max_entries

    def keep(self, key: _Key, value: _Value) -> None:
        """Add an entry as the latest."""
        self.pop(key, None)
        while self and len(self) >= self._max_entries:
            del self[next(iter(self))]
        if self._max_entries:
            self[key] = value
