"""Changes of a tool's arguments, and marks of parameters."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias


class ArgumentChange(NamedTuple):
    """A change of one argument of a tool. Construct it by keyword.

    Attributes:
        name: another name; None to keep the name.
        description: another description; None to keep the description.
        value: a fixed value. Clients can neither see nor set the argument. `...` for none.
        hidden: True to hide the argument from clients. The tool uses the argument's default.
    """

    name: str | None = None
    description: str | None = None
    value: Any = ...
    hidden: bool = False

    @property
    def removes(self) -> bool:
        """True if clients cannot set the argument."""
        return self.hidden or self.value is not ...

    def __repr__(self) -> str:
        value = "..." if self.value is ... else "<fixed>"  # it may be secret
        return f"ArgumentChange({self.name!r}, {self.description!r}, value={value}, hidden={self.hidden!r})"


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


INFERRABLE_KEYWORD = "x-inferrable"
"""The keyword in a parameter's schema; false if a model must not choose the value."""


class Inferrable(NamedTuple):
    """Mark a parameter inside `Annotated`: with `Inferrable(False)`, a model must not choose its value.

    Parameters without the mark may be inferred. With False, the parameter's schema has `"x-inferrable": false`, and
    clients that support it ask the user. The host accepts the value from any caller.

    Attributes:
        value: True if a model may choose the value.
    """

    value: bool = True

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        """Return the type's schema with the mark."""
        schema = handler(core)
        return schema if self.value else {**schema, INFERRABLE_KEYWORD: False}
