"""Marks for parameters whose values a model must not choose. Clients see them in the parameter's schema."""

from typing import Any, NamedTuple

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
