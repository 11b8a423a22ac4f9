"""The progress reports of a call, limited in rate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from pegboard_plugins.support.jsonrpc import RequestId, jsonrpc_notification

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.client_requests import CallChannel

MAX_BURST_REPORTS: Final = 10
"""The number of reports of one call that are sent without delay."""

PROGRESS: Final = "notifications/progress"


class ProgressReports:
    """The sender of one call's reports. A newer report replaces a waiting report.

    Args:
        token: the progress token.
        channel: the channel of the call.
        interval: the seconds between further reports. Only the latest report is sent; 0 sends all.
    """

    __slots__ = ("_channel", "_ended", "_interval", "_lock", "_loop", "_sent_until", "_token", "_waiting")

    def __init__(self, token: RequestId, channel: CallChannel, interval: float) -> None:
        self._token = token
        self._channel = channel
        self._interval = interval
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._sent_until = 0.0  # the time until which the sent reports use up the intervals
        self._waiting: bytes | None = None
        self._ended = False

    @property
    def used(self) -> bool:
        """True if the call has reported progress."""
        return self._sent_until > 0

    def report(self, params: Mapping[str, Any]) -> None:
        """Send a report now or after the interval, from any thread."""
        message = jsonrpc_notification(PROGRESS, {"progressToken": self._token, **params})
        with self._lock:
            if self._ended:
                return
            waits = self._waiting is not None
            self._waiting = message
            if waits:
                return
            now = monotonic()
            seconds = self._sent_until - (MAX_BURST_REPORTS - 1) * self._interval - now
            if seconds <= 0:
                self._send_waiting(now)
                return
        self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self._tick)

    def end(self) -> None:
        """Send the waiting report and ignore later reports."""
        with self._lock:
            self._ended = True
            self._send_waiting(0.0, keep=True)

    def _tick(self) -> None:
        with self._lock:
            self._send_waiting(monotonic())

    def _send_waiting(self, now: float, *, keep: bool = False) -> None:
        message, self._waiting = self._waiting, None
        if message is not None:
            self._sent_until = max(self._sent_until, now) + self._interval
            self._channel.send(message, keep=keep)
