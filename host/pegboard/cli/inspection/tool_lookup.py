"""Lookup of tools by name, in any spelling."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pegboard.calls.execute import BoundTool
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.bound_definitions import Unserved
from pegboard.cli.output import diverted, say
from pegboard.errors import MCPError, NotFoundError
from pegboard.host import Host
from pegboard.names import nearest, normalise, same_name
from pegboard.types.calls import Call


def find_tool(assembly: Assembly, name: str, later: Sequence[str] = ()) -> BoundTool:
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
    found = [wire for wire, forms in assembly.forms.items() if wanted in forms]
    if len(found) > 1:
        raise NotFoundError(f"{name!r} is ambiguous: {', '.join(found)}")
    if found:
        return assembly.tools[found[0]]
    if unserved := [one for one in find_unserved(assembly, name) if one.kind == "tools"]:
        raise NotFoundError(f"the tool {unserved[0].name} is not served: {unserved[0].reason}")
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
    has_file = any(origin.entry_point is None for origin in assembly.origins["tools"].values())
    return f"; did you mean {close!r}?" + ("" if is_of_toolkit or has_file else " Tools of a file need --file FILE")


def plugins_adding_later(host: Host) -> list[str]:
    """Return the names of the plugins that add tools while the host runs."""
    return [plugin.origin.name for plugin in host.report.plugins if "tools" in getattr(plugin.instance, "offers", ())]


def let_plugins_add_tools(host: Host) -> list[str]:
    """Start a loaded host without transports and stop it, so that plugins add their tools. Print a failed start.

    Returns:
        The names of the plugins that add tools while the host runs. Without them the host is not started.
    """
    later = plugins_adding_later(host)
    if later and not any(problem.fatal for problem in host.problems):
        try:
            with diverted():
                asyncio.run(_first_list(host))
        except MCPError as error:
            say(f"warning: the host cannot start: {error}")
    return later


async def _first_list(host: Host) -> None:
    async with host:
        await host.dispatch(Call("tools/list"))  # middleware may complete the catalogue before the first list


def find_unserved(assembly: Assembly, name: str) -> list[Unserved]:
    """Return the unserved tools, resources and prompts with a name."""
    return [one for one in assembly.unserved if same_name(one.name, name)]
