"""Lookup of tools by name, in any spelling."""

from __future__ import annotations

from collections.abc import Sequence

from pegboard.calls.execute import BoundTool
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.binding import Unserved
from pegboard.errors import NotFoundError
from pegboard.host import Host
from pegboard.names import nearest, normalise, same_name


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
    close = nearest(name, assembly.tools)
    hint = f"; did you mean {close!r}?" if close else "; `pegboard list` shows all tools"
    if name.endswith(".py"):
        hint = f"; pass a file of tools with --file {name}"
    if later:
        hint += f"; tools of {', '.join(later)} are added while the host runs"
    raise NotFoundError(f"there is no tool {name!r}{hint}")


def adding_later(host: Host) -> list[str]:
    """Return the names of the plugins that add tools while the host runs."""
    return [plugin.origin.name for plugin in host.report.plugins if "tools" in getattr(plugin.instance, "offers", ())]


def find_unserved(assembly: Assembly, name: str) -> list[Unserved]:
    """Return the unserved tools, resources and prompts with a name."""
    return [one for one in assembly.unserved if same_name(one.name, name)]
