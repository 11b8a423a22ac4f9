"""Plain functions as middleware."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.plugin.middleware import Middleware, MiddlewareFunction


class Around(Middleware):
    """The middleware that `around` makes from a function.

    Args:
        function: `async (call, call_next) -> Outcome`.
        methods: the wrapped methods; empty for all requests and notifications.
        name: the name of the middleware in order lists.
    """

    def __init__(self, function: MiddlewareFunction, methods: tuple[str, ...] = (), name: str | None = None) -> None:
        self.name = name
        self.methods = methods
        self.on_message = function  # type: ignore[method-assign,assignment]  # the function replaces the method

    def stands_around(self, method: str) -> bool:
        """Return True if the function wraps a method."""
        return not self.methods or method in self.methods


def around(*methods: str, name: str | None = None) -> Callable[[MiddlewareFunction], Middleware]:
    """Return a decorator that turns a function `async (call, call_next) -> Outcome` into middleware.

    Args:
        methods: the wrapped methods, such as "tools/call" or methods of plugins. Without methods, the function wraps
            all requests and notifications, like a function without this decorator.
        name: the name of the middleware in order lists; None for the plugin's name.

    Raises:
        TypeError: `around` is used without parentheses.
    """
    if any(map(callable, methods)):
        raise TypeError("around requires method names: write @around('tools/call'), or remove the decorator")
    return lambda function: Around(function, methods, name)
