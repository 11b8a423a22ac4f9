"""What a call has to say while it runs, for those who run the client and the host."""

from __future__ import annotations

import logging
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from pegboard.context.progress import SENT
from pegboard.types.calls import Notify

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""How serious a message is, as in RFC 5424."""

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
    """Messages to the client, for those who run it, and to the host's own log.

    A client gets what is as serious as it asked for. DeclaredSecrets that the host knows are masked.
    """

    __slots__ = ("_name", "_notify")

    def __init__(self, notify: Notify | None, name: str) -> None:
        self._notify = notify
        self._name = name

    def log(self, level: Level, data: Any, **extra: Any) -> Any:
        """Say something, at once; may be awaited, need not be, and may be called from a sync tool's thread.

        Args:
            level: how serious it is.
            data: text, or anything that JSON can hold.
            extra: further values, for programs; the client then gets `{"message": data, ...}`.

        Raises:
            ValueError: there is no such level.
        """
        if level not in _LEVELS:
            raise ValueError(f"{level!r} is no level: {', '.join(_LEVELS)}")
        logging.getLogger(f"pegboard.tools.{self._name}").log(_LEVELS[level], "%s", data)
        if self._notify is not None:
            value = {"message": data, **extra} if extra else data
            params = {"level": level, "logger": self._name, "data": to_jsonable_python(value, fallback=str)}
            self._notify("notifications/message", params)
        return SENT

    def debug(self, data: Any, **extra: Any) -> Any:
        """`log` at the level debug."""
        return self.log("debug", data, **extra)

    def info(self, data: Any, **extra: Any) -> Any:
        """`log` at the level info."""
        return self.log("info", data, **extra)

    def notice(self, data: Any, **extra: Any) -> Any:
        """`log` at the level notice: normal, but worth a look."""
        return self.log("notice", data, **extra)

    def warning(self, data: Any, **extra: Any) -> Any:
        """`log` at the level warning."""
        return self.log("warning", data, **extra)

    def error(self, data: Any, **extra: Any) -> Any:
        """`log` at the level error."""
        return self.log("error", data, **extra)

    def critical(self, data: Any, **extra: Any) -> Any:
        """`log` at the level critical."""
        return self.log("critical", data, **extra)
