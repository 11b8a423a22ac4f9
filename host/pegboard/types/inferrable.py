"""Who may choose the value of a parameter: a mark inside `Annotated`, seen by clients in the parameter's schema."""

from typing import Any, NamedTuple

INFERRABLE_KEYWORD = "x-inferrable"
"""In the schema of a parameter, false where a model must not choose the value by itself."""


class Inferrable(NamedTuple):
    """Whether a model may choose the value of a parameter by itself; `Annotated[str, Inferrable(False)]` says no.

    Parameters without the mark may be inferred. With False, the parameter's schema has `"x-inferrable": false`, and
    clients that know it ask the person. The host takes the value from whoever gives it.

    Attributes:
        value: whether it may.
    """

    value: bool = True

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        """The type's schema, with the mark."""
        schema = handler(core)
        return schema if self.value else {**schema, INFERRABLE_KEYWORD: False}
