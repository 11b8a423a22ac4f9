"""Log messages of a call."""

from __future__ import annotations

import logging
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from pegboard.context.progress import SENT
from pegboard.types.calls import Notify

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The severity of a message, as in RFC 5424."""

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}


class Log:
    """Log messages to the client and to the host's log.

    A client receives messages of at least the level that the client set. Secrets that the host knows are masked.
    """

    def __init__(self, notify: Notify | None, name: str) -> None:
        self._notify = notify
        self._name = name

    def log(self, level: Level, data: Any, **extra: Any) -> Any:
        """Send a message immediately. May be called in a sync tool's thread. Awaiting the result is optional.

        Args:
            level: the severity.
            data: a string, or any JSON value.
            extra: further values for programs. With them, the client receives `{"message": data, ...}`.

        Raises:
            ValueError: the level is unknown.
        """
        if level not in _LEVELS:
            raise ValueError(f"unknown level {level!r}: use one of {', '.join(_LEVELS)}")
        logging.getLogger(f"pegboard.tools.{self._name}").log(_LEVELS[level], "%s", data)
        if self._notify is not None:
            value = {"message": data, **extra} if extra else data
            params = {"level": level, "logger": self._name, "data": to_jsonable_python(value, fallback=str)}
            self._notify("notifications/message", params)
        return SENT

    def debug(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level debug."""
        return self.log("debug", data, **extra)

    def info(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level info."""
        return self.log("info", data, **extra)

    def notice(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level notice, for normal but significant events."""
        return self.log("notice", data, **extra)

    def warning(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level warning."""
        return self.log("warning", data, **extra)

    def error(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level error."""
        return self.log("error", data, **extra)

    def critical(self, data: Any, **extra: Any) -> Any:
        """Send a message at the level critical."""
        return self.log("critical", data, **extra)
