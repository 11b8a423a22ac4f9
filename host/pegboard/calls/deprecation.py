"""Tools that should be called no more, and who is told so when they are."""

from __future__ import annotations

import logging

from pegboard.types.calls import Call


class Deprecation:
    """Told to the client of each call, if it listens, and to the host's log the first time.

    Args:
        name: the tool's name on the wire.
        message: what to use instead.
    """

    __slots__ = ("_logged", "_name", "_text")

    def __init__(self, name: str, message: str) -> None:
        self._name = name
        self._text = f"{name} is deprecated: {message}"
        self._logged = False

    def tell(self, call: Call) -> None:
        """Tell those who are behind a call."""
        if not self._logged:
            self._logged = True
            logging.getLogger(f"pegboard.tools.{self._name}").warning("%s", self._text)
        if call.notify is not None:
            params = {"level": "warning", "logger": self._name, "data": self._text}
            call.notify("notifications/message", params)
