"""What can be read off a function: its parameters, their types, what its author says of each. It makes no schema."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pegboard.context import Context
from pegboard.errors import ToolDefinitionError, ToolInputSchemaError
from pegboard.schemas.plain_types import Parameter

MISSING = inspect.Signature.empty


class Parts(NamedTuple):
    """The parameters of a function.

    Attributes:
        given: those that callers give, by the names of arguments.
        renamed: the parameters that have another name as arguments, by that name.
        context: the parameter that takes the Context, None when there is none.
    """

    given: Mapping[str, Parameter]
    renamed: Mapping[str, str]
    context: str | None


def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters of whatever can be called, without those that a partial has given already.

    Raises:
        ToolDefinitionError: it cannot be called as a tool.
    """
    if isinstance(function, type):
        raise ToolDefinitionError(
            f"{function.__name__} is a class; decorate a function, or add an object of it that has `__call__`"
        )
    if is_generator(function):
        raise ToolDefinitionError(
            "it is a generator; return a list, and report progress with `context.progress.report`"
        )
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise ToolDefinitionError("it has no signature that can be read; write a function around it") from None
    bound: set[str] = set()
    while isinstance(function, partial):
        bound.update(function.keywords)
        function = function.func
    return tuple(one for one in found.values() if one.name not in bound)


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether calling it makes a generator."""
    target = innermost(function)
    return inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target)


def innermost(function: Any) -> Any:
    """The function in which the annotations of whatever can be called were written."""
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function, stop=lambda one: hasattr(one, "__signature__"))
    return function if inspect.isroutine(function) else type(function).__call__


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's parameters, and of its result as "return"; those written as text are looked up.

    Raises:
        ToolDefinitionError: an annotation names something that does not exist.
    """
    target = innermost(function)
    names = _nonlocals(target)
    try:
        return typing.get_type_hints(target, localns=names, include_extras=True)
    except Exception as error:  # noqa: BLE001 - annotations are expressions of the author, and may raise anything
        raise _unresolved(target, names, error) from None


def _nonlocals(function: Any) -> dict[str, Any] | None:
    """The names of enclosing functions that a function uses itself; its annotations may name them too."""
    function = getattr(function, "__func__", function)
    cells = getattr(function, "__closure__", None)
    if not cells:
        return None
    found = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _unresolved(function: Any, names: dict[str, Any] | None, error: Exception) -> ToolDefinitionError:
    """Which annotation it is, and what to do about it."""
    written = getattr(function, "__annotations__", {})
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    for name, annotation in written.items():
        what = "the result" if name == "return" else f"parameter {name!r}"
        try:
            typing.get_type_hints(SimpleNamespace(__annotations__={name: annotation}), namespace, names)
        except NameError as lost:
            return ToolDefinitionError(
                f"{what}: the annotation {annotation!r} names {lost.name!r}, which is not found; import or define it "
                "at the top of the module, neither inside a function nor below `if TYPE_CHECKING`"
            )
        except Exception as wrong:  # noqa: BLE001 - as above
            return ToolDefinitionError(f"{what}: the annotation {annotation!r} cannot be resolved: {wrong}")
    return ToolDefinitionError(f"an annotation cannot be resolved: {error}")


def parts(parameters: Iterable[inspect.Parameter], hints: Mapping[str, Any], *, declared: bool = False) -> Parts:
    """The parameters, sorted out.

    Args:
        parameters: those of the function.
        hints: their types.
        declared: the author gave a schema, so that what is said of parameters does not matter.

    Raises:
        ToolInputSchemaError: one of them is none that callers can give.
    """
    given: dict[str, Parameter] = {}
    renamed: dict[str, str] = {}
    context = None
    for parameter in parameters:
        annotation = hints.get(parameter.name, parameter.annotation)
        if is_context(annotation):
            if context is not None:
                raise ToolInputSchemaError(f"parameters {context!r} and {parameter.name!r} both take the Context")
            context = parameter.name
            continue
        if declared:
            continue
        one = _given(parameter, annotation)
        if one.name in given:
            raise ToolInputSchemaError(f"two parameters are called {one.name!r}")
        if one.name != parameter.name:
            renamed[one.name] = parameter.name
        given[one.name] = one
    return Parts(given, renamed, context)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter of a function that takes the Context, None when there is none.

    Raises:
        ToolDefinitionError: an annotation names something that does not exist.
    """
    hints = hints_of(function)
    return next((one.name for one in parameters_of(function) if is_context(hints.get(one.name))), None)


def is_context(annotation: Any) -> bool:
    """Whether a parameter takes the Context: annotated so, with or without `| None` or Annotated around it."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(is_context(part) for part in get_args(annotation))
    return annotation is Context or get_origin(annotation) is Context


def _given(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ToolInputSchemaError(
            f"parameter {name!r} takes any number of arguments; name each one that callers may give"
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ToolInputSchemaError(f"parameter {name!r} is positional-only; remove the `/` after it")
    if annotation is typing.Self:
        raise ToolInputSchemaError(f"parameter {name!r}: Self stands for nothing here; name the type")
    if annotation is parameter.empty:
        raise ToolInputSchemaError(f"parameter {name!r} has no type annotation; {_advice(name)}")
    if get_origin(annotation) is not Annotated:
        return Parameter(name, annotation, (), None, parameter.default)
    inner, *extras = get_args(annotation)
    name, description = _texts(name, extras)
    rest = [extra for extra in extras if not isinstance(extra, str)]
    return Parameter(name, inner, rest, description, parameter.default)


def _advice(name: str) -> str:
    if name in ("self", "cls"):
        return "it seems to be a method: make a tool of `object.method`, once there is the object"
    return f"write one, such as `{name}: str`"


def _texts(name: str, extras: Sequence[Any]) -> tuple[str, str | None]:
    """Texts inside Annotated: one describes the parameter, of two the first renames it."""
    texts = [extra for extra in extras if isinstance(extra, str)]
    if len(texts) > 2:
        raise ToolInputSchemaError(
            f"parameter {name!r} has {len(texts)} texts in Annotated; give a description, or a name and a description"
        )
    if len(texts) == 2 and not texts[0].strip():
        raise ToolInputSchemaError(f"parameter {name!r} is renamed to {texts[0]!r}, which is no name")
    return (texts[0] if len(texts) == 2 else name), (texts[-1] if texts else None)
