"""An author's function and the way to run it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Mode = Literal["async", "inline", "thread", "dependent"]
"""The ways to run a function: awaited, called on the event loop, or called in a thread of the host.

A dependent function is a sync function with dependencies: `calls.dependencies` awaits them and then calls it.
"""


class Function(NamedTuple):
    """An author's function and the way to run it."""

    function: Callable[..., Any]
    mode: Mode

    @classmethod
    def of(cls, function: Callable[..., Any], *, inline: bool = False) -> Function:
        """Return an author's function with the way to run it: async, inline or in a thread."""
        target = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(target):
            return cls(function, "async")
        return cls(function, "inline" if inline else "thread")
