"""Calls that end without waiting. A protocol runs them without a task of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pegboard.catalogue.assembly import Assembly
from pegboard.types.calls import MEDIA_TYPES, Call


def immediate_calls(assembly: Assembly, lists: Iterable[str]) -> Callable[[Call], bool]:
    """Return a function that returns True for calls that no middleware and no requirement delays.

    These are calls of inline tools, and requests for lists. Files in results are read in a thread. Once a program has
    imported files, no call of a tool is immediate.

    Args:
        assembly: the assembly.
        lists: the methods of the lists that no middleware filters.
    """
    names = {
        name for name, bound in assembly.tools.items() if bound.function.mode == "inline" and bound.requirements is None
    }
    found = {method: _wants(assembly, method) for method in ("tools/call", *lists)}
    wants = {method: ones for method, ones in found.items() if ones is not None}

    def is_immediate(call: Call) -> bool:
        asked = wants.get(call.method)
        if asked is None:
            return False
        if call.method == "tools/call":
            name = call.params.get("name")
            if MEDIA_TYPES or not isinstance(name, str) or name not in names:
                return False
        try:
            for wanted in asked:
                if wanted(call):
                    return False
        except BaseException:  # noqa: BLE001 - the chain of middleware reports it
            return False
        return True

    return is_immediate


def _wants(assembly: Assembly, method: str) -> list[Callable[[Call], bool]] | None:
    """Return the functions that tell if middleware wants a call, or None if middleware wants every call."""
    around = [link for link in assembly.middleware if link.middleware.waits and any(link.around(method))]
    return [link.middleware.wants for link in around] if all(link.overrides("wants") for link in around) else None
