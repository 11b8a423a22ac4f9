"""The mark of parameters that a function of the author fills in."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

Scope: TypeAlias = Literal["call", "host"]
"""The time that a value lives: one call, or until the host stops."""


class Depends:
    """Mark a parameter inside `Annotated`: the host calls a function and passes its result to the parameter.

    The parameter is not part of the schema. The function may be sync, async, or a generator that yields the value once
    and then closes it. It may take the `Context` and dependencies of its own.

    Args:
        function: the function.
        scope: "call" for a new value in each call, "host" for one value until the host ends.

    Raises:
        TypeError: the function is not callable.
        ValueError: the scope is unknown.
    """

    __slots__ = ("function", "scope")

    def __init__(self, function: Callable[..., Any], scope: Scope = "call") -> None:
        if not callable(function):
            raise TypeError(f"Depends({function!r}): it must be a function that returns or yields the value")
        if scope not in ("call", "host"):
            raise ValueError(f'Depends(..., scope={scope!r}): the scope must be "call" or "host"')
        self.function = function
        self.scope: Scope = scope
