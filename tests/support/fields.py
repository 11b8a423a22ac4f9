"""Header fields of requests that a test makes itself."""

from __future__ import annotations

from typing import Any


class Fields(list[tuple[str, str]]):
    """Header fields, in order."""

    def get(self, key: str) -> str | None:
        return next(iter(self.getall(key, ())), None)

    def getall(self, key: str, default: Any) -> Any:
        return [value for name, value in self if name == key] or default
