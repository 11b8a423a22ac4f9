"""Lookup of tools by name, in any spelling."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.assembly import Assembly
from pegboard.errors import MCPError, NotFoundError
from pegboard.host import Host
from pegboard.middleware.chain import LIST_HOOKS
from pegboard.names import nearest, normalise, same_name
from pegboard.plugin.base import Plugin
from pegboard.plugin.commands import Finding
from pegboard.terminal.printing import diverted, say
from pegboard.types.calls import Call


def find_tool(host: Host, name: str) -> ServedItem:
    """Return the tool with a name.

    Args:
        host: a loaded host.
        name: the name.

    Raises:
        NotFoundError: the name matches no tool or several; the message lists similar names.
    """
    assembly = host.assembly
    names = _matching(assembly, name)
    if len(names) > 1:
        raise NotFoundError(f"{name!r} is ambiguous: {', '.join(names)}")
    if names:
        return assembly.tools[names[0]]
    for item in assembly.unserved:
        if item.kind == "tools" and same_name(item.name, name):
            raise NotFoundError(f"the tool {item.name} is not served: {item.reason}")
    if reason := next((reason for wire, reason in assembly.refused.items() if same_name(wire, name)), None):
        raise NotFoundError(f"the tool {name} is not served: {reason}")
    if any(same_name(wire, name) for wire in assembly.contested["tools"]):
        raise NotFoundError(f"the tool {name} is not served: several tools have this name")
    hint = _hint(assembly, name)
    if later := host.report.adding_later():
        hint += f"; tools of {', '.join(later)} are added while the host runs"
    raise NotFoundError(f"there is no tool {name!r}{hint}", data={"suggestion": nearest(name, assembly.tools)})


def _matching(assembly: Assembly, name: str) -> list[str]:
    """Return the tool with exactly this name, or else all that have it in another spelling."""
    if name in assembly.tools:
        return [name]
    wanted = normalise(name)
    return [wire for wire, tool in assembly.tools.items() if wanted in tool.forms]


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


def let_plugins_add_tools(host: Host, name: str | None, *, waits: bool) -> Mapping[str, Finding]:
    """Start a loaded host without transports and stop it, so that plugins add their tools. Return what is missing.

    Without such plugins, the host is not started.

    Args:
        host: the host.
        name: the tool that the command needs; None for all.
        waits: False to wait only as long as clients do.
    """
    later = host.report.adding_later()
    if not later or any(problem.fatal for problem in host.problems):
        return {}
    try:
        with diverted():
            return asyncio.run(_list_started(host, name, waits=waits))
    except MCPError as error:
        return {plugin: Finding("error", f"the host cannot start: {error}") for plugin in later}


async def _list_started(host: Host, name: str | None, *, waits: bool) -> Mapping[str, Finding]:
    async with host:
        return await list_items(host, name, waits=waits)


async def list_items(host: Host, name: str | None, *, waits: bool) -> Mapping[str, Finding]:
    """Wait for the items that plugins of a running host add, and list all, unless the host has the needed tool.

    Args:
        host: the host.
        name: the tool that the command needs; None for all.
        waits: False to wait only as long as clients do.

    Returns:
        The reasons why items are missing, by their owners, such as "plugin:NAME/TOOLKIT".
    """
    plugins = [(loaded.origin.name, loaded.instance) for loaded in host.report.plugins]
    waiting = {owner: plugin for owner, plugin in plugins if isinstance(plugin, Plugin)}
    found = await asyncio.gather(*(plugin.missing_items(name, say if waits else None) for plugin in waiting.values()))
    missing = {
        f"plugin:{owner}/{toolkit}": finding
        for owner, findings in zip(waiting, found, strict=True)
        for toolkit, finding in findings.items()
    }
    for method in LIST_HOOKS if name is None or not _matching(host.assembly, name) else ():
        await host.dispatch(Call(method))  # middleware may complete the catalogue before the first list
    for plugin in host.report.plugins if name is None else ():
        for toolkit in plugin.unavailable():
            unexplained = Finding("error", f"the items of {toolkit} are not available now")
            missing.setdefault(f"plugin:{plugin.origin.name}/{toolkit}", unexplained)
    return missing
