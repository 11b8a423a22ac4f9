"""The red one of two distributions that share a toolkit's, a plugin's and a tool's name."""

from __future__ import annotations

from pegboard import Toolkit
from pegboard.plugin import Plugin

twin = Toolkit("twin")
left = Toolkit("left", prefix=False)


@twin.tool
def colour() -> str:
    """Tell which twin this is."""
    return "red"


@left.tool
def fetch() -> str:
    """Fetch something; the other one has a tool of this name too."""
    return "red"


@left.tool(name="fetch_left")
def fetch_own() -> str:
    """Fetch something of its own."""
    return "red"


class TwinPlugin(Plugin):
    """Nothing but a name."""
