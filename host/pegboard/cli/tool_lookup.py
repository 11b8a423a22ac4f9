"""Finds what a person means by a name, in any spelling."""

from __future__ import annotations

from pegboard.calls.execute import BoundTool
from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.binding import UnservedTool
from pegboard.errors import NotFoundError
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
    if found:
        return assembly.tools[found[0]]
    if withheld := find_unserved(assembly, name):
        raise NotFoundError(f"the tool {withheld[0].name} is not served: {withheld[0].reason}")
    close = nearest(name, assembly.tools)
    hint = f"; did you mean {close!r}?" if close else "; `pegboard list` shows what there is"
    if name.endswith(".py"):
        hint = f"; a file of tools is named with --file {name}"
    raise NotFoundError(f"there is no tool {name!r}{hint}")


def find_unserved(assembly: Assembly, name: str) -> list[UnservedTool]:
    """The tools of this name that exist and are not served."""
    return [one for one in assembly.unserved if same_name(one.name, name)]


def same_name(one: str, other: str) -> bool:
    """Whether two names differ in nothing but spelling."""
    return _squashed(one) == _squashed(other)


def _squashed(name: str) -> str:
    return normalise(name).replace(".", "").replace("_", "")
