"""Parameters that functions of the author fill in: `db=Depends(open_db)` and `ctx=CurrentContext()` of FastMCP.

The mark may also stand in the type: `db: Annotated[Db, Depends(open_db)]`.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import _AsyncGeneratorContextManager, _GeneratorContextManager, asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import WithJsonSchema

from pegboard import Context as HostContext
from pegboard import Depends as HostDepends
from pegboard_plugins.compat.adapting import called, is_of_class, signed
from pegboard_plugins.compat.fastmcp.context import Context
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.typed_dicts import plain_type

__getattr__ = missing_names(__name__)


if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP


_UNTYPED = Annotated[Any, WithJsonSchema({"type": "string"})]


class _Dependency:
    """The mark of a parameter that a function fills in."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class _CurrentContext:
    """The mark of a parameter that receives the Context."""


def Depends(function: Callable[..., Any]) -> Any:  # noqa: N802 - as FastMCP names it
    """Return the mark of a parameter that a function fills in. The function may return a context manager.

    Args:
        function: the function. Its own parameters may have such defaults, or be the Context.
    """
    return _Dependency(function)


def CurrentContext() -> Any:  # noqa: N802 - as FastMCP names it
    """Return the mark of a parameter that receives the Context."""
    return _CurrentContext()


class Filled:
    """The parameters of a function, with FastMCP's marks replaced by pegboard's marks.

    Args:
        function: the function.
        hints: the types of its parameters.
        server: the server of the function.

    Attributes:
        signature: the signature that pegboard compiles.
    """

    def __init__(self, function: Callable[..., Any], hints: Mapping[str, Any], server: FastMCP) -> None:
        self._server = server
        self._contexts: list[str] = []
        signature = inspect.signature(function)
        self.signature = signature.replace(
            parameters=[self._filled(parameter, hints) for parameter in signature.parameters.values()]
        )

    def _filled(self, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> inspect.Parameter:
        hint = hints.get(parameter.name, Any)
        mark = _mark(parameter, hint)
        if isinstance(mark, _Dependency):
            marked = HostDepends(_host_function(mark.function, self._server))
            default = None if mark is parameter.default else parameter.default
            return parameter.replace(annotation=Annotated[Any, marked], default=default)
        if is_of_class(hint, Context, HostContext) or mark is not None:
            self._contexts.append(parameter.name)
            return parameter.replace(annotation=HostContext)
        return parameter.replace(
            annotation=plain_type(_official(hints, parameter) if self._server.is_official else hint)
        )

    def keywords(self, /, **arguments: Any) -> dict[str, Any]:
        """Return the keyword arguments for the function, with a Context of the class that the function declares."""
        contexts = {name: arguments[name] for name in self._contexts if isinstance(arguments.get(name), HostContext)}
        return arguments | {name: Context(context, self._server) for name, context in contexts.items()}


def _mark(parameter: inspect.Parameter, hint: Any) -> _Dependency | _CurrentContext | None:
    """Return the mark of a parameter: its default, or a note of its type.

    Raises:
        TypeError: it has two marks.
    """
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    marks = [mark for mark in (parameter.default, *notes) if isinstance(mark, _Dependency | _CurrentContext)]
    if len(marks) > 1:
        raise TypeError(f"the parameter {parameter.name!r} has two dependencies: keep one")
    return marks[0] if marks else None


def _official(hints: Mapping[str, Any], parameter: inspect.Parameter) -> Any:
    """Return the type that a parameter has for the official SDK.

    Strings in Annotated are no descriptions there, and a parameter without a type is listed as a string.
    """
    hint = hints.get(parameter.name, _UNTYPED)
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    kept = [note for note in notes if not isinstance(note, str)]
    return Annotated[(kind, *kept)] if kept else kind


def _host_function(function: Callable[..., Any], server: FastMCP) -> Callable[..., Any]:
    """Return a dependency as a function of pegboard, the same for each parameter, so that it runs once in a call."""
    dependencies = server.dependencies
    if (dependency := dependencies.get(function)) is None:
        dependency = dependencies[function] = _yielding(function, server)
    return dependency


def _yielding(function: Callable[..., Any], server: FastMCP) -> Callable[..., Any]:
    """Convert a dependency to a function for pegboard that yields the value once."""
    target = inspect.unwrap(function)  # only its parameters: decorators of the function run, too
    filled = Filled(target, typing.get_type_hints(target, include_extras=True), server)

    async def value_of(**arguments: Any) -> AsyncIterator[Any]:
        keywords = filled.keywords(**arguments)
        if inspect.isasyncgenfunction(function):
            result: Any = asynccontextmanager(function)(**keywords)
        else:
            result = await called(function, **keywords)
        async with _entered(result) as value:
            yield value

    def generated(**arguments: Any) -> Iterator[Any]:
        yield from function(**filled.keywords(**arguments))

    run: Any = generated if inspect.isgeneratorfunction(function) else value_of
    run.__name__ = run.__qualname__ = getattr(target, "__qualname__", type(target).__name__)
    return signed(run, filled.signature)


@asynccontextmanager
async def _entered(result: Any) -> AsyncIterator[Any]:
    """Enter a context manager of `contextlib`, a sync one in threads. Yield other values unchanged."""
    if isinstance(result, _AsyncGeneratorContextManager):
        async with result as value:
            yield value
    elif isinstance(result, _GeneratorContextManager):
        variables = copy_context()  # for entering and leaving: a variable can then be reset
        value = await asyncio.to_thread(variables.run, result.__enter__)
        error: BaseException | None = None
        try:
            yield value
        except BaseException as raised:
            error = raised
            raise
        finally:
            about = (None, None, None) if error is None else (type(error), error, error.__traceback__)
            await asyncio.to_thread(variables.run, partial(result.__exit__, *about))
    else:
        yield result
