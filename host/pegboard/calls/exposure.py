"""What an operator lets models see of errors beside their messages, for debugging; nothing, unless they say so in full.

It is the one place where text that is meant for the log is made into text for a caller.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from pegboard.errors import ToolkitError
from pegboard.secrets.redaction import redacted

logger = logging.getLogger("pegboard")

ACKNOWLEDGEMENT = "yes-i-accept-leaking-internals-to-the-agent"
"""What turns one of them on, and nothing else."""
_OFF = ("", "0", "false", "no", "off")


class Exposure(NamedTuple):
    """What the results of failed tools show.

    Attributes:
        developer_message: the detail that is meant for the log.
        stacktrace: the way of what caused the error.
    """

    developer_message: bool = False
    stacktrace: bool = False

    @classmethod
    def of(cls, developer_message: str, stacktrace: str) -> Exposure:
        """Read what the operator said; the log is told of what is on, and of what looks as if it should be."""
        return cls(
            _is_on("ARCADE_DEBUG_EXPOSE_DEVELOPER_MESSAGE_IN_TOOL_ERROR_RESPONSES", developer_message),
            _is_on("ARCADE_DEBUG_EXPOSE_STACKTRACE_IN_TOOL_ERROR_RESPONSES", stacktrace),
        )

    def text(self, error: ToolkitError) -> str | None:
        """What is shown of an error beside its message, secrets masked; None for nothing."""
        parts = []
        if self.developer_message and error.developer_message:
            parts.append(f"[DEBUG] developer_message: {error.developer_message}")
        if self.stacktrace:
            trace = error.to_payload(stacktrace=True)["stacktrace"]
            unavailable = " unavailable (tool error payload did not include one)"
            parts.append(f"[DEBUG] stacktrace:{unavailable if trace is None else chr(10) + trace.rstrip()}")
        return redacted("\n\n".join(parts)) or None


NOTHING_EXPOSED = Exposure()


def _is_on(name: str, value: str) -> bool:
    value = value.strip()
    if value == ACKNOWLEDGEMENT:
        logger.warning("%s is on: models are shown internals of tools, such as exceptions and paths", name)
        return True
    if value.casefold() not in _OFF:
        logger.warning("%s is not on: its value must be %s", name, ACKNOWLEDGEMENT)
    return False
