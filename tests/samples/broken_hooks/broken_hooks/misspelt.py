"""A module as a plugin, with a hook that does not exist."""

from pegboard.plugin import hookimpl


@hookimpl
def regsiter_tools() -> list[object]:
    """Misspelt."""
    return []
