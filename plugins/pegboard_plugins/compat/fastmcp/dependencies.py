"""Parameters that functions of the author fill in: `db=Depends(open_db)` and `ctx=CurrentContext()` of FastMCP."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import _AsyncGeneratorContextManager, _GeneratorContextManager, asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pegboard import Context as HostContext
from pegboard import Depends as HostDepends
from pegboard_plugins.compat.adapting import called, is_of_class, signed
from pegboard_plugins.compat.fastmcp.context import Context
from pegboard_plugins.compat.typed_dicts import plain_type

if TYPE_CHECKING:
    from pegboard_plugins.compat.fastmcp.server import FastMCP


class _Dependency:
    """The default of a parameter that a function fills in."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class _CurrentContext:
    """The default of a parameter that receives the Context."""


def Depends(function: Callable[..., Any]) -> Any:  # noqa: N802 - as FastMCP names it
    """Return the default of a parameter that a function fills in. The function may return a context manager.

    Args:
        function: the function. Its own parameters may have such defaults, or be the Context.
    """
    return _Dependency(function)


def CurrentContext() -> Any:  # noqa: N802 - as FastMCP names it
    """Return the default of a parameter that receives the Context."""
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
        given = inspect.signature(function)
        self.signature = given.replace(parameters=[self._filled(one, hints) for one in given.parameters.values()])

    def _filled(self, one: inspect.Parameter, hints: Mapping[str, Any]) -> inspect.Parameter:
        hint = hints.get(one.name, Any)
        if isinstance(one.default, _Dependency):
            marked = HostDepends(_host_function(one.default.function, self._server))
            return one.replace(annotation=Annotated[Any, marked], default=None)
        if is_of_class(hint, Context, HostContext) or isinstance(one.default, _CurrentContext):
            self._contexts.append(one.name)
            return one.replace(annotation=HostContext)
        return one.replace(annotation=plain_type(hint))

    def keywords(self, /, **given: Any) -> dict[str, Any]:
        """Return the keyword arguments for the function, with a Context of the class that the function declares."""
        found = {name: given[name] for name in self._contexts if isinstance(given.get(name), HostContext)}
        return given | {name: Context(context, self._server) for name, context in found.items()}


def _host_function(function: Callable[..., Any], server: FastMCP) -> Callable[..., Any]:
    """Return a dependency as a function of pegboard, the same for each parameter, so that it runs once in a call."""
    known = server.dependencies
    if (found := known.get(function)) is None:
        found = known[function] = _yielding(function, server)
    return found


def _yielding(function: Callable[..., Any], server: FastMCP) -> Callable[..., Any]:
    """Convert a dependency to a function for pegboard that yields the value once."""
    target = inspect.unwrap(function)  # only its parameters: decorators of the function run, too
    filled = Filled(target, typing.get_type_hints(target, include_extras=True), server)

    async def value_of(**given: Any) -> AsyncIterator[Any]:
        keywords = filled.keywords(**given)
        if inspect.isasyncgenfunction(function):
            found: Any = asynccontextmanager(function)(**keywords)
        else:
            found = await called(function, **keywords)
        async with _entered(found) as value:
            yield value

    def generated(**given: Any) -> Iterator[Any]:
        yield from function(**filled.keywords(**given))

    run: Any = generated if inspect.isgeneratorfunction(function) else value_of
    run.__name__ = run.__qualname__ = getattr(target, "__qualname__", type(target).__name__)
    return signed(run, filled.signature)


@asynccontextmanager
async def _entered(found: Any) -> AsyncIterator[Any]:
    """Enter a context manager of `contextlib`, a sync one in threads. Yield other values unchanged."""
    if isinstance(found, _AsyncGeneratorContextManager):
        async with found as value:
            yield value
    elif isinstance(found, _GeneratorContextManager):
        variables = copy_context()  # for entering and leaving: a variable can then be reset
        value = await asyncio.to_thread(variables.run, found.__enter__)
        error: BaseException | None = None
        try:
            yield value
        except BaseException as raised:
            error = raised
            raise
        finally:
            about = (None, None, None) if error is None else (type(error), error, error.__traceback__)
            await asyncio.to_thread(variables.run, partial(found.__exit__, *about))
    else:
        yield found
