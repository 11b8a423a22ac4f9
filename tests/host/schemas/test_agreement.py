"""Schema and validator agree for every plain type and value."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import Field

from pegboard.plugin import ToolInputError
from pegboard.schemas.signature import compile_signature

LIMITED: list[Any] = [
    Annotated[int, Field(ge=0, le=5)],
    Annotated[float, Field(gt=0, lt=5)],
    Annotated[int, Field(multiple_of=2)],
    Annotated[str, Field(min_length=1, max_length=2)],
    Annotated[str, Field(pattern="^[ab]*$")],
    Annotated[list[int], Field(min_length=1, max_length=2)],
    Annotated[dict[str, int], Field(max_length=1)],
]
ATOMS: st.SearchStrategy[Any] = st.sampled_from(
    [str, int, float, bool, None, Any, Literal["a", "b"], Literal[1, 2], Literal["a", 1, None], *LIMITED]  # noqa: PYI061
)


def _around(one: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([list[one], tuple[one, ...], tuple[one, int], dict[str, one], Optional[one]])


TYPES = st.recursive(ATOMS, lambda inner: inner.flatmap(_around), max_leaves=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 7)
    | st.floats(-1, 6).filter(lambda number: not number.is_integer())
    | st.sampled_from(["", "a", "b", "ab", "abc", "1", "1.5", "true", "null"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2),
    max_leaves=5,
)


def verdicts(annotation: Any, value: Any, *, strict: bool) -> tuple[bool, bool]:
    """Return whether the schema and whether the validator accept a value."""

    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    signature = compile_signature(function, strict=strict)
    in_schema = Draft202012Validator(signature.input_schema).is_valid({"a": value})
    try:
        signature.bind({"a": value})
    except ToolInputError:
        return in_schema, False
    return in_schema, True


@given(TYPES, VALUES)
def test_a_strict_validator_accepts_the_same_values_as_the_schema(annotation: Any, value: Any) -> None:
    in_schema, in_validator = verdicts(annotation, value, strict=True)
    assert in_schema == in_validator


@given(TYPES, VALUES)
def test_the_validator_accepts_every_value_that_the_schema_accepts(annotation: Any, value: Any) -> None:
    in_schema, in_validator = verdicts(annotation, value, strict=False)
    assert in_validator or not in_schema
