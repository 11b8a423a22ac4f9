"""A toolkit without tools: where it is installed, streams end with their token at once, and not a minute later.

A process under test finds it in a folder.
"""

from __future__ import annotations

from pegboard import Toolkit
from pegboard_plugins.mcp import lifetimes

kit = Toolkit("hasty")

lifetimes.LEAST_SECONDS = 0.2
