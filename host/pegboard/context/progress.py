"""Progress notifications of a call."""

from __future__ import annotations

from collections.abc import Generator
from math import isfinite
from typing import Any

from pegboard.types.calls import Notify


class _Sent:
    """The result of a notification that was already sent. Awaiting the result lets other tasks run."""

    def __await__(self) -> Generator[None, None, None]:
        yield


SENT = _Sent()


class Progress:
    """Progress notifications to a client that requested them."""

    def __init__(self, notify: Notify | None) -> None:
        self._notify = notify
        self._last: float | None = None

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> Any:
        """Send a notification immediately. May be called in a sync tool's thread. Awaiting the result is optional.

        Args:
            progress: the amount done, in any unit. MCP requires progress to increase, so a value that is not finite
                or not greater than the previous value is not sent.
            total: the total amount in the same unit. A value that is not finite is omitted.
            message: the current activity, for people.
        """
        if self._notify is not None and is_number(progress) and (self._last is None or progress > self._last):
            self._last = progress
            params: dict[str, Any] = {"progress": progress}
            if is_number(total):
                params["total"] = total
            if message is not None:
                params["message"] = str(message)
            self._notify("notifications/progress", params)
        return SENT

    def close(self) -> None:
        """Stop sending progress, because the call has ended (MCP, utilities/progress)."""
        self._notify = None


def is_number(value: object) -> bool:
    """Return True for a number that JSON can express."""
    return type(value) is int or (type(value) is float and isfinite(value))
