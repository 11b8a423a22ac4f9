"""The closest tool for the name of an unknown tool.

Only tools that the caller may list are named. The suggestion depends on nothing else, so the error for a hidden tool
is the error for a tool that does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from heapq import nlargest
from operator import eq

from pegboard.errors import NotFoundError
from pegboard.messages.hints import MAX_NAME_CHARACTERS, SUGGESTION
from pegboard.names import words
from pegboard.types.callers import EMPTY
from pegboard.types.calls import Call, CallNext, Listing

MIN_SIMILARITY = 0.75
"""The similarity of words that may be the same: `isues` and `issues`, but not `create` and `delete`."""
MAX_COMPARED_TOOLS = 2_000
"""The number of tools that are compared with an unknown name, letter by letter."""
MAX_SIMILAR_TOOLS = 50
"""The number of these tools whose words are compared. The comparison of words blocks the event loop longer."""


async def with_similar_tool(error: NotFoundError, call: Call, list_tools: CallNext) -> NotFoundError:
    """Return the error for an unknown tool with a suggestion, and any other error unchanged.

    Args:
        error: the error of the call.
        call: the call.
        list_tools: returns the page of tools that a caller may list, for a call of `tools/list`.
    """
    name = call.params.get("name")
    if error.message != f"Unknown tool: {name}" or not isinstance(name, str):
        return error
    try:
        names = await _names(call._replace(method="tools/list", params=EMPTY), list_tools)
    except Exception:  # noqa: BLE001 - a failing list must not replace the error
        return error
    closest = closest_tool(name, names)
    return error if closest is None else NotFoundError(f"{error.message}{SUGGESTION}{closest!r}?", data=error.data)


async def _names(call: Call, list_tools: CallNext) -> list[str]:
    names: list[str] = []
    listing = await list_tools(call)
    while isinstance(listing, Listing):
        names += [tool.name for tool in listing.items]
        if listing.next_cursor is None or len(names) >= MAX_COMPARED_TOOLS:
            break
        listing = await list_tools(call._replace(params={"cursor": listing.next_cursor}))
    return names


def closest_tool(name: str, names: Sequence[str]) -> str | None:
    """Return the tool whose words are similar to those of a name, or equal except for a prefix, if there is one."""
    name = name[:MAX_NAME_CHARACTERS]
    wanted = words(name)
    names = nlargest(MAX_SIMILAR_TOOLS, names, key=lambda tool: _equal_letters(name.casefold(), tool.casefold()))
    tool_words = {tool: words(tool) for tool in names}
    if same := [tool for tool in names if "".join(tool_words[tool]) == "".join(wanted)]:
        return same[0]
    left = [tool for tool in names if len(tool_words[tool]) == len(wanted)]
    for place, word in enumerate(wanted):
        there = {tool_words[tool][place] for tool in left}
        close = get_close_matches(word, there, n=len(there) or 1, cutoff=MIN_SIMILARITY)
        left = [tool for tool in left if tool_words[tool][place] in close]
    if left:
        return max(left, key=lambda tool: len(set(tool_words[tool]) & set(wanted)))
    same = [
        tool
        for tool in names
        if tool_words[tool][-len(wanted) :] == wanted or wanted[-len(tool_words[tool]) :] == tool_words[tool]
    ]
    return same[0] if len(same) == 1 else None


def _equal_letters(name: str, other: str) -> int:
    """Return how many letters of two names are equal at the same place, counted from the start and from the end."""
    return [*map(eq, name, other), *map(eq, reversed(name), reversed(other))].count(True)
