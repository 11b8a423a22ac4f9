"""How far a call has come."""

from __future__ import annotations

from collections.abc import Generator
from math import isfinite
from typing import Any

from pegboard.types.calls import Notify


class _Sent:
    """What is already done; awaiting it gives the event loop a turn."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


SENT = _Sent()


class Progress:
    """How far a call has come, told to the client if it asked for that."""

    __slots__ = ("_last", "_notify")

    def __init__(self, notify: Notify | None) -> None:
        self._notify = notify
        self._last: float | None = None

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> Any:
        """Tell the client, at once; may be awaited, need not be, and may be called from a sync tool's thread.

        Args:
            progress: how much is done, in any unit; a value that does not exceed the last one is not sent (MCP
                requires it to increase), nor is one that is no finite number.
            total: how much there is to do, in the same unit; left out when it is no finite number.
            message: what is being done, for people.
        """
        if self._notify is not None and _is_number(progress) and (self._last is None or progress > self._last):
            self._last = progress
            params: dict[str, Any] = {"progress": progress}
            if _is_number(total):
                params["total"] = total
            if message is not None:
                params["message"] = str(message)
            self._notify("notifications/progress", params)
        return SENT

    def close(self) -> None:
        """Send nothing more: progress must stop when the call has ended (MCP, utilities/progress)."""
        self._notify = None


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))
