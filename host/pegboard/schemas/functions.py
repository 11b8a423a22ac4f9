"""The parameters of a function, their types and descriptions."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MethodType, SimpleNamespace, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from pegboard.context import Context
from pegboard.errors import ToolDefinitionError, ToolInputSchemaError
from pegboard.schemas.plain_types import Parameter
from pegboard.types.parameters import Depends

MISSING = inspect.Signature.empty


class Parts(NamedTuple):
    """The parameters of a function.

    Attributes:
        parameters: the parameters that callers set, by argument name.
        renamed: the parameters whose name differs from the argument name, by argument name.
        context: the parameter that receives the Context, if any.
        depends: the marks of the parameters that dependencies fill in, by parameter.
    """

    parameters: Mapping[str, Parameter]
    renamed: Mapping[str, str]
    context: str | None
    depends: Mapping[str, Depends]


def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a callable. For a `functools.partial`, omit the parameters that it sets.

    Raises:
        ToolDefinitionError: the object cannot be called as a tool.
    """
    if isinstance(function, type):
        raise ToolDefinitionError(
            f"{function.__name__} is a class: decorate a function, or add an instance that has `__call__`"
        )
    if is_generator(function):
        raise ToolDefinitionError(
            "it is a generator: return a list, and report progress with `context.progress.report`"
        )
    try:
        return tuple(_free_parameters(function))
    except Exception:  # noqa: BLE001 - Python 3.14 evaluates annotations here, which are expressions of the author
        hints_of(function)
        raise ToolDefinitionError("its signature cannot be read: wrap it in a function") from None


def _free_parameters(function: Any) -> list[inspect.Parameter]:
    """Return the parameters of a callable that no partial sets. `functools.wraps` may be around and in partials."""
    if isinstance(function, partial):
        inspect.signature(function)  # refuses arguments that the function does not have
        free = _free_parameters(function.func)
        positional = [item.name for item in free if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
        bound = {*positional[: len(function.args)], *function.keywords}
        return [parameter for parameter in free if parameter.name not in bound]
    if (wrapped := _wrapped(function)) is not None:
        return _free_parameters(wrapped)
    return [*inspect.signature(function).parameters.values()]


def _wrapped(function: Any) -> Any:
    """Return the function that `functools.wraps` wraps, unless the wrapper has a signature of its own."""
    has_own = isinstance(function, MethodType) or _has_own_signature(function)
    return function.__wrapped__ if hasattr(function, "__wrapped__") and not has_own else None


def _has_own_signature(function: Any) -> bool:
    """Return True if a callable has a `__signature__` that is not the copy of `functools.wraps`."""
    try:
        return function.__signature__ is not function.__wrapped__.__signature__
    except AttributeError:
        return hasattr(function, "__signature__")


def is_generator(function: Callable[..., Any]) -> bool:
    """Return True if calling the function returns a generator."""
    target = innermost(function)
    return inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target)


def innermost(function: Any) -> Any:
    """Return the function whose annotations apply to a callable."""
    while True:
        function = inspect.unwrap(function, stop=_has_own_signature)
        if not isinstance(function, partial):
            return function if inspect.isroutine(function) else type(function).__call__
        function = function.func


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters, and of its result as "return". Annotations in strings are resolved.

    Raises:
        ToolDefinitionError: an annotation cannot be resolved.
    """
    target = innermost(function)
    names = _nonlocals(target)
    try:
        return typing.get_type_hints(target, localns=names, include_extras=True)
    except Exception as error:  # noqa: BLE001 - annotations are expressions of the author, and may raise anything
        raise _unresolved(target, names, error) from None


def _nonlocals(function: Any) -> dict[str, Any] | None:
    """Return the variables of enclosing functions that a function uses. Annotations may refer to these variables."""
    function = getattr(function, "__func__", function)
    cells = getattr(function, "__closure__", None)
    if not cells:
        return None
    values = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return values


def _unresolved(function: Any, names: dict[str, Any] | None, error: Exception) -> ToolDefinitionError:
    """Return the error for an annotation that cannot be resolved. The message names the annotation."""
    try:
        written = getattr(function, "__annotations__", {})
    except Exception:  # noqa: BLE001 - as above, in Python 3.14
        written = {}
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    for name, annotation in written.items():
        what = "the result" if name == "return" else f"parameter {name!r}"
        try:
            typing.get_type_hints(SimpleNamespace(__annotations__={name: annotation}), namespace, names)
        except Exception as wrong:  # noqa: BLE001 - as above
            return ToolDefinitionError(f"{what}: the annotation {annotation!r} {_why(wrong)}")
    return ToolDefinitionError(f"an annotation {_why(error)}")


def _why(error: Exception) -> str:
    if not isinstance(error, NameError):
        return f"cannot be resolved: {error}"
    return (
        f"names {error.name!r}, which is not found. Import or define it at the top of the module, "
        "not inside a function or below `if TYPE_CHECKING`"
    )


def parts(
    parameters: Iterable[inspect.Parameter],
    hints: Mapping[str, Any],
    *,
    declared: bool,
    documented: Mapping[str, str],
) -> Parts:
    """Return the parameters of a function, grouped by role.

    Args:
        parameters: the parameters of the function.
        hints: their types.
        declared: True if the author wrote a schema. Types and descriptions are then ignored.
        documented: descriptions in the docstring, for parameters without another description.

    Raises:
        ToolInputSchemaError: callers cannot set a parameter.
    """
    arguments: dict[str, Parameter] = {}
    renamed: dict[str, str] = {}
    depends: dict[str, Depends] = {}
    context = None
    for parameter in parameters:
        annotation = hints.get(parameter.name, parameter.annotation)
        if (marked := depends_of(parameter, annotation)) is not None:
            depends[parameter.name] = marked
            continue
        if is_context(annotation):
            if context is not None:
                raise ToolInputSchemaError(
                    f"parameters {context!r} and {parameter.name!r} both receive the Context: remove one"
                )
            context = parameter.name
            continue
        if declared:
            continue
        argument = _parameter(parameter, annotation)
        if parameter.name in documented and not _is_described(argument):
            argument = argument._replace(description=documented[parameter.name])
        if argument.name in arguments:
            raise ToolInputSchemaError(f"two parameters have the name {argument.name!r}: rename one parameter")
        if argument.name != parameter.name:
            renamed[argument.name] = parameter.name
        arguments[argument.name] = argument
    return Parts(arguments, renamed, context, depends)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the parameter that receives the Context, if any.

    Raises:
        ToolDefinitionError: an annotation cannot be resolved.
    """
    hints = hints_of(function)
    return next(
        (parameter.name for parameter in parameters_of(function) if is_context(hints.get(parameter.name))), None
    )


def is_context(annotation: Any) -> bool:
    """Return True if an annotation is the Context, also inside `| None` and Annotated."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(is_context(part) for part in get_args(annotation))
    return annotation is Context or get_origin(annotation) is Context


def depends_of(parameter: inspect.Parameter, annotation: Any) -> Depends | None:
    """Return the mark of a parameter that a dependency fills in, or None.

    Raises:
        ToolInputSchemaError: the mark is not inside Annotated, or the parameter cannot be passed by name.
    """
    name = parameter.name
    if isinstance(parameter.default, Depends):
        raise ToolInputSchemaError(
            f"parameter {name!r} has Depends as its default: write `{name}: Annotated[Type, Depends(function)]`"
        )
    origin = get_origin(annotation)
    if origin is not Annotated:
        if origin in (Union, UnionType) and any(depends_of(parameter, part) for part in get_args(annotation)):
            raise ToolInputSchemaError(
                f"parameter {name!r} has Depends inside a union: write `Annotated[Type | None, Depends(function)]`"
            )
        return None
    marked = [extra for extra in get_args(annotation)[1:] if isinstance(extra, Depends)]
    if marked and (len(marked) > 1 or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)):
        raise ToolInputSchemaError(f"parameter {name!r} must be passed by name, and have one Depends")
    return marked[0] if marked else None


def _parameter(parameter: inspect.Parameter, annotation: Any) -> Parameter:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ToolInputSchemaError(f"parameter {name!r} accepts any number of arguments: declare each argument")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ToolInputSchemaError(f"parameter {name!r} is positional-only: remove the `/` after it")
    if annotation is typing.Self:
        raise ToolInputSchemaError(f"parameter {name!r}: Self has no meaning here. Use the class")
    if annotation is parameter.empty:
        raise ToolInputSchemaError(f"parameter {name!r} has no type annotation: {_advice(name)}")
    if get_origin(annotation) is not Annotated:
        return Parameter(name, annotation, (), None, parameter.default)
    inner, *extras = get_args(annotation)
    name, description = _texts(name, extras)
    rest = [extra for extra in extras if not isinstance(extra, str)]
    return Parameter(name, inner, rest, description, parameter.default)


def _is_described(parameter: Parameter) -> bool:
    fields = (field for field in (*parameter.extras, parameter.default) if isinstance(field, FieldInfo))
    return parameter.description is not None or any(field.description is not None for field in fields)


def _advice(name: str) -> str:
    if name in ("self", "cls"):
        return "it seems to be a method: make a tool of `object.method`"
    if name in ("ctx", "context"):
        return "add `: Context`"
    return f"add one, such as `{name}: str`"


def _texts(name: str, extras: Sequence[Any]) -> tuple[str, str | None]:
    """Return the argument name and the description from Annotated. With two strings, the first is the argument name."""
    texts = [extra for extra in extras if isinstance(extra, str)]
    if len(texts) > 2:
        raise ToolInputSchemaError(
            f"parameter {name!r} has {len(texts)} strings in Annotated: use a description, or a name and a description"
        )
    if len(texts) == 2 and not texts[0].strip():
        raise ToolInputSchemaError(f"parameter {name!r} is renamed to {texts[0]!r}: use a name that is not blank")
    return (texts[0] if len(texts) == 2 else name), (texts[-1] or None if texts else None)
