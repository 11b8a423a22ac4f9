"""Warnings about deprecated tools."""

from __future__ import annotations

import logging

from pegboard.types.calls import Call


class Deprecation:
    """Warns the client at each call of a deprecated tool, and writes the warning to the host's log once.

    Args:
        name: the tool's name on the wire.
        message: the author's advice, such as the tool to use instead.
    """

    __slots__ = ("_logged", "_name", "_text")

    def __init__(self, name: str, message: str) -> None:
        self._name = name
        self._text = f"{name} is deprecated: {message}"
        self._logged = False

    def warn(self, call: Call) -> None:
        """Send the warning to the client of a call. Log the warning at the first call."""
        if not self._logged:
            self._logged = True
            logging.getLogger(f"pegboard.tools.{self._name}").warning("%s", self._text)
        if call.notify is not None:
            params = {"level": "warning", "logger": self._name, "data": self._text}
            call.notify("notifications/message", params)
