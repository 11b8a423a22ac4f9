"""Lookup of tools by name, in any spelling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pegboard.calls.served_item import ServedItem, Unserved
from pegboard.catalogue.assembly import Assembly
from pegboard.errors import MCPError, NotFoundError
from pegboard.host import Host
from pegboard.names import nearest, normalise, same_name
from pegboard.terminal.printing import diverted, say
from pegboard.types.calls import Call


def find_tool(assembly: Assembly, name: str, later: Sequence[str] = ()) -> ServedItem:
    """Return the tool with a name.

    Args:
        assembly: the catalogue.
        name: the name.
        later: the plugins that add tools while the host runs.

    Raises:
        NotFoundError: the name matches no tool or several; the message lists similar names.
    """
    if exact := assembly.tools.get(name):
        return exact
    wanted = normalise(name)
    names = [wire for wire, tool in assembly.tools.items() if wanted in tool.forms]
    if len(names) > 1:
        raise NotFoundError(f"{name!r} is ambiguous: {', '.join(names)}")
    if names:
        return assembly.tools[names[0]]
    if unserved := [item for item in find_unserved(assembly, name) if item.kind == "tools"]:
        raise NotFoundError(f"the tool {unserved[0].name} is not served: {unserved[0].reason}")
    if reason := next((reason for wire, reason in assembly.refused.items() if same_name(wire, name)), None):
        raise NotFoundError(f"the tool {name} is not served: {reason}")
    if any(same_name(wire, name) for wire in assembly.contested["tools"]):
        raise NotFoundError(f"the tool {name} is not served: several tools have this name")
    hint = _hint(assembly, name)
    if later:
        hint += f"; tools of {', '.join(later)} are added while the host runs"
    raise NotFoundError(f"there is no tool {name!r}{hint}", data={"suggestion": nearest(name, assembly.tools)})


def _hint(assembly: Assembly, name: str) -> str:
    """Return what a caller may have meant by an unknown name."""
    if name.endswith(".py"):
        return f"; pass a file of tools with --file {name}"
    close = nearest(name, assembly.tools)
    if close is None:
        return "; `pegboard list` shows all tools, and --file FILE adds those of a file"
    is_of_toolkit = close.partition("_")[0] == name.partition("_")[0]
    has_file = any(tool.origin.entry_point is None for tool in assembly.tools.values())
    return f"; did you mean {close!r}?" + ("" if is_of_toolkit or has_file else " Tools of a file need --file FILE")


def plugins_adding_later(host: Host) -> list[str]:
    """Return the names of the plugins that add tools while the host runs."""
    return [plugin.origin.name for plugin in host.report.plugins if "tools" in getattr(plugin.instance, "offers", ())]


class LaterTools(NamedTuple):
    """The tools that plugins add while the host runs.

    Attributes:
        plugins: the names of these plugins.
        missing: the toolkits whose tools are not available, such as mounted servers; the plugins if the host cannot
            start.
    """

    plugins: Sequence[str]
    missing: Sequence[str]

    def say_missing(self) -> bool:
        """Print the toolkits whose tools are missing in a list. Return True if there are any."""
        if self.missing:
            say(f"the list is incomplete: the tools of {', '.join(self.missing)} are not available now")
        return bool(self.missing)


def let_plugins_add_tools(host: Host, inspect: Callable[[], None] | None = None) -> LaterTools:
    """Start a loaded host without transports and stop it, so that plugins add their tools. Print a failed start.

    Without such plugins, the host is not started.

    Args:
        host: the host.
        inspect: a function that is called while the host runs, after the plugins have added their tools.
    """
    later = plugins_adding_later(host)
    missing: Sequence[str] = ()
    if later and not any(problem.fatal for problem in host.problems):
        try:
            with diverted():
                missing = asyncio.run(_first_list(host, inspect))
        except MCPError as error:
            say(f"warning: the host cannot start: {error}")
            missing = later
    return LaterTools(later, missing)


async def _first_list(host: Host, inspect: Callable[[], None] | None) -> Sequence[str]:
    """Request the first list, before which middleware may complete the catalogue. Return the missing toolkits."""
    async with host:
        await host.dispatch(Call("tools/list"))
        if inspect is not None:
            inspect()
        return sorted({name for plugin in host.report.plugins for name in plugin.unavailable()})


def find_unserved(assembly: Assembly, name: str) -> list[Unserved]:
    """Return the unserved tools, resources and prompts with a name."""
    return [item for item in assembly.unserved if same_name(item.name, name)]
