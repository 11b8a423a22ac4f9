"""Finds a tool by any spelling of its name."""

from __future__ import annotations

from pegboard.assembly import Assembly
from pegboard.errors import NotFoundError
from pegboard.execute import BoundTool
from pegboard.names import nearest, normalise


def find_tool(assembly: Assembly, name: str) -> BoundTool:
    """The tool that a person means.

    Raises:
        NotFoundError: there is none, or more than one; the message says which come near.
    """
    if exact := assembly.tools.get(name):
        return exact
    wanted = normalise(name)
    found = [wire for wire, forms in assembly.forms.items() if wanted in forms]
    if len(found) > 1:
        raise NotFoundError(f"{name!r} may be any of {', '.join(found)}")
    if not found:
        close = nearest(name, assembly.tools)
        hint = f"; did you mean {close!r}?" if close else "; `pegboard list` shows what there is"
        raise NotFoundError(f"there is no tool {name!r}{hint}")
    return assembly.tools[found[0]]
