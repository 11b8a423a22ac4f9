"""An author's function and the way to run it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Mode = Literal["async", "inline", "thread"]
"""The ways to run a function: awaited, called on the event loop, or called in a thread of the host."""


class Function(NamedTuple):
    """An author's function and the way to run it.

    Attributes:
        function: the function, or an async function that runs it with its dependencies.
        mode: the way to run `function`.
        is_sync: True if the author's function is sync. Such a function cannot ask the client.
    """

    function: Callable[..., Any]
    mode: Mode
    is_sync: bool = False

    @classmethod
    def of(cls, function: Callable[..., Any], *, inline: bool = False) -> Function:
        """Return an author's function with the way to run it: async, inline or in a thread."""
        target = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(target):
            return cls(function, "async")
        return cls(function, "inline" if inline else "thread", is_sync=True)
