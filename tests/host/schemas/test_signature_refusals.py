"""Definitions that cannot be served, and the reason that the author reads."""

from __future__ import annotations

import functools
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Self

import pytest
from pydantic import Field

from pegboard import Context, ToolDefinitionError
from pegboard.plugin import ToolInputSchemaError, ToolOutputSchemaError
from pegboard.schemas.signature import compile_signature


class Opaque:
    """Nothing that a schema could describe."""


class Explosive:
    """A type whose own description fails."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise RuntimeError("no description today")


def any_number(*numbers: int) -> None: ...
def any_keyword(**options: int) -> None: ...
def positional(a: int, /) -> None: ...
def unannotated(path, b: int = 1) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def two_contexts(first: Context, second: Context) -> None: ...
def three_texts(a: Annotated[str, "one", "two", "three"]) -> None: ...
def same_name(a: int, b: Annotated[int, "a", "the same"]) -> None: ...
def opaque(a: int, b: Opaque) -> None: ...
def opaque_inside(b: list[dict[str, Opaque]]) -> None: ...
def function_type(b: Callable[[int], int]) -> None: ...
def gives_opaque() -> Opaque: ...  # type: ignore[empty-body]
def gives_opaques() -> list[Opaque]: ...  # type: ignore[empty-body]
def unknown_name(a: Nothing) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def generator(count: int) -> Iterator[int]:
    yield count


async def async_generator(count: int) -> AsyncIterator[int]:
    yield count


REFUSED: list[tuple[Callable[..., Any], type[ToolDefinitionError], str]] = [
    (
        any_number,
        ToolInputSchemaError,
        "parameter 'numbers' takes any number of arguments; name each one that callers may give",
    ),
    (
        any_keyword,
        ToolInputSchemaError,
        "parameter 'options' takes any number of arguments; name each one that callers may give",
    ),
    (positional, ToolInputSchemaError, "parameter 'a' is positional-only; remove the `/` after it"),
    (
        unannotated,
        ToolInputSchemaError,
        "parameter 'path' has no type annotation; write one, such as `path: str`",
    ),
    (
        lambda a: a,
        ToolInputSchemaError,
        "parameter 'a' has no type annotation; write one, such as `a: str`",
    ),
    (two_contexts, ToolInputSchemaError, "parameters 'first' and 'second' both take the Context"),
    (
        three_texts,
        ToolInputSchemaError,
        "parameter 'a' has 3 texts in Annotated; give a description, or a name and a description",
    ),
    (same_name, ToolInputSchemaError, "two parameters are called 'a'"),
    (
        opaque,
        ToolInputSchemaError,
        "parameter 'b': the type tests.host.schemas.test_signature_refusals.Opaque has no JSON Schema",
    ),
    (
        opaque_inside,
        ToolInputSchemaError,
        "parameter 'b': the type list[dict[str, tests.host.schemas.test_signature_refusals.Opaque]] has no JSON Schema",
    ),
    (
        function_type,
        ToolInputSchemaError,
        "parameter 'b': the type collections.abc.Callable[[int], int] has no JSON Schema",
    ),
    (
        gives_opaque,
        ToolOutputSchemaError,
        "the result: the type tests.host.schemas.test_signature_refusals.Opaque has no JSON Schema",
    ),
    (
        gives_opaques,
        ToolOutputSchemaError,
        "the result: the type list[tests.host.schemas.test_signature_refusals.Opaque] has no JSON Schema",
    ),
    (
        unknown_name,
        ToolDefinitionError,
        (
            "parameter 'a': the annotation 'Nothing' names 'Nothing', which is not found; import or define it at the "
            "top of the module, neither inside a function nor below `if TYPE_CHECKING`"
        ),
    ),
    (
        generator,
        ToolDefinitionError,
        "it is a generator; return a list, and report progress with `context.progress.report`",
    ),
    (
        async_generator,
        ToolDefinitionError,
        "it is a generator; return a list, and report progress with `context.progress.report`",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("function", "error", "reason"), REFUSED, ids=[one[0].__name__ for one in REFUSED])
def test_a_definition_is_refused_with_its_reason(
    function: Callable[..., Any], error: type[ToolDefinitionError], reason: str
) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        compile_signature(function)
    assert type(caught.value) is error
    assert str(caught.value).startswith(reason)


def annotated(annotation: Any) -> Callable[..., Any]:
    def function(a: Any) -> None: ...

    function.__annotations__["a"] = annotation
    return function


@pytest.mark.parametrize(
    "annotation",
    ["list[", "int |", "1/0", "not_there.at_all", "dict[str, Nothing]", "'int"],
)
def test_an_annotation_that_cannot_be_read_is_the_authors_error(annotation: str) -> None:
    with pytest.raises(ToolDefinitionError, match="annotation"):
        compile_signature(annotated(annotation))


@pytest.mark.parametrize(
    ("annotation", "tells"),
    [
        (Explosive, "no description today"),
        (Annotated[int, Field(ge="x")], "'a'"),
        (Annotated[str, Field(pattern="(")], "regex"),
        (Self, "'a'"),
    ],
    ids=["raises", "bound", "pattern", "Self"],
)
def test_a_type_that_cannot_be_compiled_is_refused_with_the_reason(annotation: Any, tells: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        compile_signature(annotated(annotation))
    assert tells in str(caught.value)
    assert "parameter 'a'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).rstrip().endswith(":")
    assert "http" not in str(caught.value)


@pytest.mark.parametrize("thing", [int, 5, "text", None, functools.partial(int)], ids=repr)
def test_what_has_no_signature_is_refused(thing: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"\S"):
        compile_signature(thing)


def test_a_reason_is_one_line_without_the_librarys_urls() -> None:
    for function, _, _ in REFUSED:
        with pytest.raises(ToolDefinitionError) as caught:
            compile_signature(function)
        assert not re.search(r"\n|https?:|Pydantic|pydantic_core", str(caught.value))
