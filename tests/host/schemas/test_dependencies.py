"""Dependencies that cannot be created are refused when their tool is compiled."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import pytest

from pegboard import Context, Depends
from pegboard.errors import ToolDefinitionError
from pegboard.schemas.signature import compile_signature


def good() -> int:
    return 1


def with_argument(number: int) -> int:
    return number


def first(other: "Annotated[int, Depends(second)]") -> int:
    return other


def second(other: Annotated[int, Depends(first)]) -> int:
    return other


def with_context(context: Context) -> int:
    return 1


def needs_a_call(one: Annotated[int, Depends(good)]) -> int:
    return one


def unknown(one: "Missing") -> int:  # type: ignore[name-defined]  # noqa: F821
    return 1


def tool_with(annotation: Any, default: Any = None) -> Callable[..., Any]:
    def tool(one: Any = default) -> int:
        return int(one)

    tool.__annotations__["one"] = annotation
    return tool


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (tool_with(int, Depends(good)), "'one' has Depends as its default: write `one: Annotated"),
        (tool_with(Annotated[int, Depends(good)] | None), "'one' has Depends inside a union"),
        (tool_with(Annotated[int, Depends(good), Depends(good)]), "'one' must be .* have one Depends"),
        (tool_with(Annotated[int, Depends(with_argument)]),
         "parameter 'one': the dependency 'with_argument' has the parameter 'number', which nothing fills in"),
        (tool_with(Annotated[int, Depends(first)]), "'first' needs itself: first -> second -> first"),
        (tool_with(Annotated[int, Depends(with_context, "host")]), "'with_context' lives as long as the host, but t"),
        (tool_with(Annotated[int, Depends(needs_a_call, "host")]),
         "'needs_a_call' lives as long as the host, but needs 'good'"),
        (tool_with(Annotated[int, Depends(unknown)]), "'unknown': its signature cannot be read: .*'Missing'"),
    ],
)  # fmt: skip
def test_a_dependency_that_cannot_be_created_is_refused(tool: Callable[..., Any], message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        compile_signature(tool)


def test_partials_and_parameters_with_defaults_are_filled_in() -> None:
    tool = tool_with(Annotated[int, Depends(partial(with_argument, number=1))])
    assert compile_signature(tool).dependencies["one"].kind == "sync"


@pytest.mark.parametrize(("arguments", "error"), [((5,), TypeError), ((good, "session"), ValueError)])
def test_a_mark_without_function_or_with_another_scope_is_refused(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="must be"):
        Depends(*arguments)
