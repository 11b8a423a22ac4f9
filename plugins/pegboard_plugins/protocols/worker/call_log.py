"""Log messages and progress of one call, for its response. Secrets are masked."""

from __future__ import annotations

from typing import Any

from pegboard.plugin import encode, redacted
from pegboard.types import Tool

_LEVELS = {"debug": "debug", "info": "info", "notice": "info", "warning": "warning"}


class CallLog:
    """The log of one call.

    Attributes:
        entries: the messages in order, or None if there are none.
    """

    def __init__(self, tool: Tool) -> None:
        self._name = tool.name
        self._entries: list[dict[str, Any]] = []
        if tool.deprecated is not None:
            self._add(tool.deprecated, "warning", "deprecation")
        self._repeated = None if tool.deprecated is None else f"{tool.name} is deprecated: {tool.deprecated}"

    def receive(self, method: str, params: dict[str, Any]) -> None:
        """Add a log message or a progress message. Progress without a message is dropped."""
        if method == "notifications/message" and params["data"] != self._repeated:
            self._add(_text(params["data"]), _LEVELS.get(params["level"], "error"))
        elif method == "notifications/progress" and params.get("message"):
            self._add(params["message"], "info")

    @property
    def entries(self) -> list[dict[str, Any]] | None:
        """The messages in order, or None if there are none."""
        return self._entries or None

    def _add(self, message: str, level: str, subtype: str | None = None) -> None:
        self._entries.append({"message": redacted(message), "level": level, "subtype": subtype})


def _text(data: Any) -> str:
    return data if isinstance(data, str) else encode(data).decode()
