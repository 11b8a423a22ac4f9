"""The lines of a mounted server in the host's log."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

MAX_SERVER_LINE_CHARACTERS = 2_000
"""The maximum length of a line."""
MAX_LOG_LINES = 100
"""The maximum number of lines of one server in a second, and of messages to clients. Others are dropped."""


class MessageLimit:
    """A limit for the messages of one server in each second.

    Attributes:
        ends: the end of the current second.
    """

    def __init__(self) -> None:
        self.ends = 0.0
        self._room = 0

    def allows(self) -> bool:
        """Count a message. Return False if there were too many in this second."""
        now = monotonic()
        if now >= self.ends:
            self.ends = now + 1
            self._room = MAX_LOG_LINES
        self._room -= 1
        return self._room >= 0


class ServerLog:
    """The lines of one server: log messages, and its standard error.

    Args:
        server: the name of the server.
        logger: the log of the host.
    """

    def __init__(self, server: str, logger: logging.Logger) -> None:
        self._server = server
        self._logger = logger
        self._limit = MessageLimit()
        self._dropped = 0

    def write(self, level: int, origin: str, text: str) -> None:
        """Log a line, or drop it if the server has logged too many lines in this second.

        Args:
            level: the level.
            origin: the words between the name of the server and the line.
            text: the line.
        """
        if not self._logger.isEnabledFor(level):
            return
        if self._limit.allows():
            self._logger.log(level, "%s%s: %.*s", self._server, origin, MAX_SERVER_LINE_CHARACTERS, text)
            return
        if not self._dropped:
            asyncio.get_running_loop().call_later(self._limit.ends - monotonic(), self._report)
        self._dropped += 1

    def _report(self) -> None:
        self._logger.warning(
            "%s: %s lines were dropped; the limit is %s lines a second", self._server, self._dropped, MAX_LOG_LINES
        )
        self._dropped = 0
