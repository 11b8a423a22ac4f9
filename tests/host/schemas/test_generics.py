"""Generics of `typing`, also without types in brackets: each is compiled, or refused with a message for its author."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Dict, List, Optional, Tuple, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from pegboard.errors import ToolDefinitionError
from pegboard.schemas.signature import Signature, compile_signature

GENERICS = [member for name in typing.__all__ if type(member := getattr(typing, name)).__module__ == "typing"]
WRAPPERS: list[Callable[[Any], Any]] = [
    lambda item: list[item],  # type: ignore[valid-type]
    lambda item: List[item],  # type: ignore[valid-type]
    lambda item: Dict[str, item],  # type: ignore[valid-type]
    lambda item: Dict[item, int],  # type: ignore[valid-type]
    lambda item: Tuple[item, ...],
    lambda item: Optional[item],
    lambda item: Union[int, item],
    lambda item: Annotated[item, Field(title="A")],
]


def compiled(where: str, annotation: Any) -> Signature:
    def function(a: int) -> int: ...  # type: ignore[empty-body]

    function.__annotations__[where] = annotation
    return compile_signature(function)


def complaint(where: str, generic: Any, wrappers: Sequence[Callable[[Any], Any]]) -> str:
    """Return the message of a refused type, without the place that it must name. Return "" for other types."""
    try:
        for wrap in wrappers:
            generic = wrap(generic)
    except TypeError:  # not a type for `typing`
        return ""
    try:
        compiled(where, generic)
    except ToolDefinitionError as error:
        return str(error).removeprefix("the result: " if where == "return" else "parameter 'a': ")
    return ""


UNHELPFUL = re.compile("internal error|out of range|Error|parameter")
PLACES = pytest.mark.parametrize("where", ["a", "return"])


@PLACES
def test_a_generic_is_compiled_or_refused_by_name(where: str) -> None:
    for generic in GENERICS:
        for wrap in (lambda bare: bare, *WRAPPERS):
            assert not UNHELPFUL.search(complaint(where, generic, [wrap]))


@PLACES
@given(st.sampled_from(GENERICS), st.lists(st.sampled_from(WRAPPERS), min_size=2, max_size=3))
def test_a_nested_generic_is_compiled_or_refused_by_name(where: str, generic: Any, wrappers: list[Any]) -> None:
    assert not UNHELPFUL.search(complaint(where, generic, wrappers))


@PLACES
@pytest.mark.parametrize(
    ("bare", "full"),
    [(Dict, dict[str, Any]), (Optional[List], list[Any] | None), (List[Dict], list[dict[str, Any]])],  # type: ignore[type-arg]
)
def test_a_bare_generic_holds_anything(where: str, bare: Any, full: Any) -> None:
    ours, theirs = compiled(where, bare), compiled(where, full)
    assert (ours.input_schema, ours.output_schema) == (theirs.input_schema, theirs.output_schema)


@PLACES
def test_a_wrong_number_of_types_in_brackets_is_refused_by_name(where: str) -> None:
    with pytest.raises(ToolDefinitionError, match=r"^(parameter 'a'|the result): Expected two type arguments"):
        compiled(where, dict[str])  # type: ignore[misc]
