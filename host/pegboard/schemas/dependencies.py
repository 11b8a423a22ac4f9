"""The dependencies of a function: what `Depends` marks, read once when a tool, resource or prompt is compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, NamedTuple

from pegboard.errors import ToolDefinitionError
from pegboard.schemas.functions import depends_of, hints_of, is_context
from pegboard.types.parameters import Depends, Scope

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
Kind = Literal["sync", "async", "generator", "async generator"]


class Dependency(NamedTuple):
    """A function that fills in a parameter.

    Attributes:
        function: the function, which identifies the dependency.
        create: the function; for a generator, a function that returns its context manager.
        name: the name of the function, for messages.
        kind: the way in which the function creates the value.
        scope: "call" or "host".
        context: the parameter that receives the Context, if any.
        needs: the dependencies of the function, by parameter.
    """

    function: Callable[..., Any]
    create: Callable[..., Any]
    name: str
    kind: Kind
    scope: Scope
    context: str | None
    needs: Mapping[str, Dependency]


def compile_dependencies(marked: Mapping[str, Depends]) -> dict[str, Dependency]:
    """Return the dependencies of a function, by parameter.

    Raises:
        ToolDefinitionError: a dependency cannot be created. The message names the parameter and the dependency.
    """
    compiled = {}
    for parameter, depends in marked.items():
        try:
            compiled[parameter] = compile_dependency(depends)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"parameter {parameter!r}: {error}") from None
    return compiled


def compile_dependency(depends: Depends, path: tuple[Callable[..., Any], ...] = ()) -> Dependency:
    """Compile a dependency together with the dependencies that its function requires.

    Args:
        depends: the mark.
        path: the functions that need it, outermost first.

    Raises:
        ToolDefinitionError: the dependency cannot be created.
    """
    function, name = depends.function, name_of(depends.function)
    if function in path:
        cycle = " -> ".join(map(name_of, (*path[path.index(function) :], function)))
        raise ToolDefinitionError(f"the dependency {name!r} needs itself: {cycle}")
    parameters, hints = _signature(function, name)
    context = None
    needs: dict[str, Dependency] = {}
    for parameter in parameters:
        annotation = hints.get(parameter.name)
        needed = depends_of(parameter, annotation)
        if needed is not None:
            needs[parameter.name] = compile_dependency(needed, (*path, function))
            if depends.scope == "host" and needed.scope != "host":
                raise ToolDefinitionError(
                    f"the dependency {name!r} lives as long as the host, but needs {name_of(needed.function)!r}, which "
                    'lives for one call: give both the scope "host"'
                )
        elif context is None and is_context(annotation):
            context = parameter.name
        elif parameter.default is parameter.empty and parameter.kind not in _VARIABLE:
            raise ToolDefinitionError(
                f"the dependency {name!r} has the parameter {parameter.name!r}, which nothing fills in: annotate it "
                "with Context or Depends, or give it a default"
            )
    if context is not None and depends.scope == "host":
        raise ToolDefinitionError(
            f"the dependency {name!r} lives as long as the host, but takes the Context of one call: "
            'remove the Context, or the scope "host"'
        )
    kind = _kind(function)
    create = function
    if kind == "generator":
        create = contextmanager(function)
    elif kind == "async generator":
        create = asynccontextmanager(function)
    return Dependency(function, create, name, kind, depends.scope, context, needs)


def _signature(function: Any, name: str) -> tuple[Iterable[inspect.Parameter], Mapping[str, Any]]:
    """Return the parameters of a dependency's function, and their types."""
    try:
        hints = hints_of(function.__init__ if isinstance(function, type) else function)  # type: ignore[misc]
        return inspect.signature(function).parameters.values(), hints
    except (ToolDefinitionError, TypeError, ValueError) as error:
        raise ToolDefinitionError(f"the dependency {name!r}: its signature cannot be read: {error}") from None


def name_of(function: Any) -> str:
    """Return the name of a dependency's function, for messages."""
    return str(getattr(function, "__qualname__", type(function).__qualname__)).rpartition("<locals>.")[2]


def _kind(function: Callable[..., Any]) -> Kind:
    target = function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__
    for candidate in (function, target):  # a partial answers for its function, another object for its `__call__`
        if inspect.isasyncgenfunction(candidate):
            return "async generator"
        if inspect.isgeneratorfunction(candidate):
            return "generator"
        if inspect.iscoroutinefunction(candidate):
            return "async"
    return "sync"


def every_function(dependencies: Iterable[Dependency]) -> Iterator[Callable[..., Any]]:
    """Yield the functions of dependencies and of the dependencies that they need."""
    for dependency in dependencies:
        yield dependency.function
        yield from every_function(dependency.needs.values())
