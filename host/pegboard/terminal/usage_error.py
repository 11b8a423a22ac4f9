"""The error of an invalid command line."""

from __future__ import annotations

from pegboard.errors import MCPError


class UsageError(MCPError):
    """The command line is invalid.

    Args:
        message: the problem and its fix.
        suggestion: the nearest valid name, if any.
        program: the command with help for the arguments, or "" if the message is enough.
    """

    def __init__(self, message: str, suggestion: str | None = None, program: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion
        self.program = program
