"""Changes of a tool's arguments, for clients of the tool."""

from typing import Any, NamedTuple


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
