"""Calls that end without waiting. A protocol runs them without a task of their own."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.catalogue.assembly import Assembly
from pegboard.types.calls import MEDIA_TYPES, Call


def immediate_calls(assembly: Assembly) -> Callable[[Call], bool]:
    """Return a function that returns True for calls of inline tools that no middleware and no requirement delays.

    Files in results are read in a thread. Once a program has imported files, no call is immediate.
    """
    around = [link for link in assembly.middleware if link.middleware.waits and any(link.around("tools/call"))]
    tools = assembly.tools if all(link.overrides("wants") for link in around) else {}
    names = {name for name, bound in tools.items() if bound.function.mode == "inline" and bound.requirements is None}
    wants = [link.middleware.wants for link in around]

    def is_immediate(call: Call) -> bool:
        name = call.params.get("name")
        if call.method != "tools/call" or MEDIA_TYPES or not isinstance(name, str) or name not in names:
            return False
        try:
            for wanted in wants:
                if wanted(call):
                    return False
        except BaseException:  # noqa: BLE001 - the chain of middleware reports it
            return False
        return True

    return is_immediate
