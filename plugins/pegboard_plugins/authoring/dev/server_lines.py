"""The standard error of the process of `pegboard dev`, in the words of a prompt."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pegboard
from pegboard.terminal import say

_INDENT = "    "
"""The indentation of the lines after the first line of a log record."""
_RECORD = re.compile(r"\d{4}-\d\d-\d\dT\S+Z (?P<level>[A-Z]+) (?P<logger>[\w.]+)(?: \[[^]]*\])?: (?P<message>.*)")
_FRAME = re.compile(rf'{_INDENT}  File "(?P<file>.+)", line \d+')
_OF_FRAME = _INDENT * 2
_PACKAGE = f"{Path(pegboard.__file__).parent}{os.sep}"


class ServerLines:
    """Prints lines: log records without time and caller, and tracebacks without the frames of pegboard.

    Args:
        verbose: True to print all lines unchanged.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._is_frame_hidden = False

    def __call__(self, line: str) -> None:
        """Print a line, except log messages that the client also receives, and hidden frames."""
        record = _RECORD.fullmatch(line)
        if record is not None and record["logger"].startswith("pegboard.tools"):
            return
        if self._verbose:
            say(line.removeprefix("pegboard: "))
        elif record is not None:
            say(f"{record['level'].lower()}: {record['message']}")
        elif not self._hides(line):
            say(line.removeprefix("pegboard: ").removeprefix(_INDENT))

    def _hides(self, line: str) -> bool:
        if frame := _FRAME.match(line):
            self._is_frame_hidden = frame["file"].startswith(_PACKAGE)
        elif not line.startswith(_OF_FRAME):
            self._is_frame_hidden = False
        return self._is_frame_hidden
