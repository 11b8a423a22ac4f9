"""Plain functions as middleware."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.plugin.middleware import Middleware, MiddlewareFunction


class Around(Middleware):
    """A function as middleware; `around` makes it.

    Args:
        function: `async (call, call_next) -> Outcome`.
        methods: the methods it stands around, every message where there are none.
        name: what order lists call it.
    """

    def __init__(self, function: MiddlewareFunction, methods: tuple[str, ...] = (), name: str | None = None) -> None:
        self.name = name
        self.methods = methods
        self.on_message = function  # type: ignore[method-assign,assignment]  # it is the whole of this one

    def stands_around(self, method: str) -> bool:
        """Whether it stands around a method."""
        return not self.methods or method in self.methods


def around(*methods: str, name: str | None = None) -> Callable[[MiddlewareFunction], Middleware]:
    """Make middleware of a function `async (call, call_next) -> Outcome`, around each request of these methods.

    Args:
        methods: such as "tools/call", and those of plugins; every request and notification where there are none, as a
            plain function without this is.
        name: what order lists call it; the plugin's name when None.

    Raises:
        TypeError: it is put on a function without being called.
    """
    if any(map(callable, methods)):
        raise TypeError("around takes names of methods, such as @around('tools/call'); a function needs no decorator")
    return lambda function: Around(function, methods, name)
