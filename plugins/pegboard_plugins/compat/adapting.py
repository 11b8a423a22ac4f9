"""Functions for another framework, as functions that pegboard can compile."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import update_wrapper
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def adapter(
    function: Callable[..., Any],
    prepare: Callable[..., Mapping[str, Any]],
    convert: Callable[[Any], Any],
    signature: inspect.Signature,
) -> Callable[..., Any]:
    """Return a function with another signature that calls the author's function.

    Args:
        function: the author's function.
        prepare: returns the keyword arguments of the author's function.
        convert: converts the result of the author's function.
        signature: the signature that pegboard compiles.
    """
    if is_async(function):

        async def run(*arguments: Any, **keywords: Any) -> Any:
            return convert(await function(**prepare(*arguments, **keywords)))
    else:

        def run(*arguments: Any, **keywords: Any) -> Any:  # type: ignore[misc]  # the sync form
            result = function(
                **prepare(*arguments, **keywords)
            )  # a sync decorator of an async function returns a coroutine
            return _converted(result, convert) if inspect.isawaitable(result) else convert(result)

    return presented(run, function, signature)


async def _converted(awaitable: Awaitable[Any], convert: Callable[[Any], Any]) -> Any:
    return convert(await awaitable)


def presented(
    run: Callable[..., Any], function: Callable[..., Any], signature: inspect.Signature
) -> Callable[..., Any]:
    """Give a function the name and docstring of the author's function, and the signature that pegboard compiles."""
    update_wrapper(run, function)  # messages name the file and line of `__wrapped__`
    return signed(run, signature)


def signed(run: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    """Give a function the signature that pegboard compiles."""
    types = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation is not parameter.empty
    }
    if signature.return_annotation is not signature.empty:
        types["return"] = signature.return_annotation
    vars(run)["__signature__"] = signature
    run.__annotations__ = types
    return run


async def called(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Return the result of the author's function. A sync function runs in a thread."""
    if is_async(function):
        return await function(*arguments, **keywords)
    result = await asyncio.to_thread(function, *arguments, **keywords)
    return await result if inspect.isawaitable(result) else result


def is_async(function: Callable[..., Any]) -> bool:
    """Return True if a call of the function, or of the object, returns a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(target_of(function))


def target_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a call runs. For an object, return `__call__` of the object's class."""
    return function if inspect.isroutine(function) else type(function).__call__


def is_of_class(annotation: Any, *classes: type) -> bool:
    """Return True if a type is one of the classes, also inside of `| None` and Annotated."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(is_of_class(part, *classes) for part in get_args(annotation))
    cls = get_origin(annotation) or annotation
    return isinstance(cls, type) and issubclass(cls, classes)
