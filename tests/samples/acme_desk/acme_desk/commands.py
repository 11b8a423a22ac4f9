"""The functions of the commands and of the check."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator

from pegboard import NotFoundError
from pegboard.plugin import CommandContext, Finding
from pegboard.types import Call, Listing


def wipe(command: CommandContext) -> int:
    """Print what happens. The module of the plugin is not imported for a command that needs nothing."""
    if command.options.cloth == "nothing":
        raise NotFoundError("there is no cloth")
    if command.options.cloth == "glass":
        raise KeyError("canary")
    command.print(f"wiped {'fast ' if command.options.fast else ''}with a {command.options.cloth}")
    command.print(f"settings: {command.settings}, host imported: {'pegboard.host' in sys.modules}")
    return 0


def wipe_instead(command: CommandContext) -> int:
    """Print what happens in place of another command."""
    command.print(f"wiped with a {command.options.wiped}")
    return 0


def owner(command: CommandContext) -> int:
    """Print the owner in the settings."""
    command.print(command.settings.owner)
    return 0


def whole(text: str) -> int:
    """Return a number of tools."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number, not {text!r}")
    return int(text)


def count(command: CommandContext) -> int:
    """Print the number of tools, for the owner in the settings."""

    async def tools() -> int:
        async with command.host as host:
            listing = await host.dispatch(Call("tools/list"))
        assert isinstance(listing, Listing)
        return len(listing.items)

    number = asyncio.run(tools())
    command.print(f"{command.plugin.config.owner} has {number} tools")
    return int(number < command.options.at_least)


def explain(command: CommandContext) -> Iterator[Finding]:
    """Tell who had a drawer."""
    if command.options.name == "drawer":
        yield Finding("warning", f"{command.settings.owner} had a drawer; the host runs: {command.host.started}")


def check_drawers(command: CommandContext) -> Iterator[Finding]:
    """Report the owner."""
    if command.settings.owner == "thief":
        raise KeyError("locked")
    yield Finding("warning", f"the drawers of {command.settings.owner} are open", "close them")
