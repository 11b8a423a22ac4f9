"""Plain functions as middleware."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.plugin.middleware import Middleware, MiddlewareFunction


class Around(Middleware):
    """A middleware made of a function by `around`.

    Args:
        function: `async (call, call_next) -> Outcome`.
        methods: the methods that it wraps, every message if empty.
        name: its name in order lists.
    """

    def __init__(self, function: MiddlewareFunction, methods: tuple[str, ...] = (), name: str | None = None) -> None:
        self.name = name
        self.methods = methods
        self.on_message = function  # type: ignore[method-assign,assignment]  # the function replaces the method

    def stands_around(self, method: str) -> bool:
        """Return True if the function wraps a method."""
        return not self.methods or method in self.methods


def around(*methods: str, name: str | None = None) -> Callable[[MiddlewareFunction], Middleware]:
    """Return a decorator that makes middleware of a function `async (call, call_next) -> Outcome`.

    Args:
        methods: such as "tools/call", or methods of plugins; every request and notification if empty, as for a plain
            function without this decorator.
        name: its name in order lists; the plugin's name when None.

    Raises:
        TypeError: the decorator is used without parentheses.
    """
    if any(map(callable, methods)):
        raise TypeError(
            "around takes names of methods: write @around('tools/call'), or use the function without a decorator"
        )
    return lambda function: Around(function, methods, name)
