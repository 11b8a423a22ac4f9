"""The blue one of two distributions that share a toolkit's, a plugin's and a tool's name."""

from __future__ import annotations

from pegboard import Toolkit
from pegboard.plugin import Plugin

twin = Toolkit("twin")
right = Toolkit("right", prefix=False)


@twin.tool
def colour() -> str:
    """Tell which twin this is."""
    return "blue"


@right.tool
def fetch() -> str:
    """Fetch something; the other one has a tool of this name too."""
    return "blue"


@right.tool(name="fetch_right")
def fetch_own() -> str:
    """Fetch something of its own."""
    return "blue"


class TwinPlugin(Plugin):
    """Nothing but a name."""
