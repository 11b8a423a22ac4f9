"""Long lines broken at words, for a terminal. Lines in pipes and files stay whole."""

from __future__ import annotations

import re
import sys
from shutil import get_terminal_size
from textwrap import wrap

_LEAST_COLUMNS = 24
"""The least width of text beside other columns. Narrower text continues below the other columns."""
_FIXED_SPACE = "\ue000"
"""Stands for a space that is no place for a break. Texts for people do not contain it."""


def fitted(line: str, indent: int = 0) -> list[str]:
    """Return a line as lines that fit the terminal on standard output.

    Commands in backticks are not broken, so that they can be copied.

    Args:
        line: the line.
        indent: the number of spaces before each further line.
    """
    if sys.stdout is None or not sys.stdout.isatty():
        return [line]
    width = get_terminal_size().columns
    if len(line) <= width:
        return [line]
    if width - indent < _LEAST_COLUMNS:
        indent = 4
    fixed = line[:indent].replace(" ", _FIXED_SPACE) + re.sub(
        "`[^`]*`", lambda command: command[0].replace(" ", _FIXED_SPACE), line[indent:]
    )
    lines = wrap(fixed, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return [part.replace(_FIXED_SPACE, " ") for part in lines]
