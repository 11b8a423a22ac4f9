"""The rules that pluggy does not keep for us: what an implementation of a hook may be, and what it may return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pluggy

from pegboard.contracts import Middleware, PluginContext, PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.errors import PluginError
from pegboard.names import nearest
from pegboard.toolkit import Toolkit


class Hook(NamedTuple):
    """What a hook returns.

    Attributes:
        field: the field of `Loaded` that its contributions go to.
        contribution: what each contribution must be, by class or by the methods it must have.
    """

    field: str
    contribution: type | tuple[str, ...]


HOOKS = {
    "register_tools": Hook("tools", ToolDefinition),
    "register_resources": Hook("resources", ResourceDefinition),
    "register_prompts": Hook("prompts", PromptDefinition),
    "register_middleware": Hook("middleware", Middleware),
    "register_transports": Hook("transports", ("name", "run")),
    "register_protocols": Hook("protocols", ("name", "serve")),
    "register_secret_stores": Hook("stores", ("name", "get")),
    "lifespan": Hook("lifespans", ("__aenter__", "__aexit__")),
}

Implementation = tuple[str, Callable[..., Any], tuple[str, ...]]
"""A hook's name, a function that implements it, and the parameters that function takes."""


def check_hooks(manager: pluggy.PluginManager, instance: object, name: str) -> list[Implementation]:
    """Register a plugin and return its implementations.

    Raises:
        PluginError: a hook is unknown or misspelt, lacks the marker, takes a parameter that the hook does not have, is
            `async`, a wrapper, or carries an ordering marker.
    """
    if not isinstance(instance, Toolkit):
        _check_markers(instance)
    try:
        manager.register(instance, name)
    except (pluggy.PluginValidationError, ValueError) as error:
        raise PluginError(" ".join(str(error).split())) from None
    found: list[Implementation] = []
    for caller in manager.get_hookcallers(instance) or ():
        if not caller.has_spec():
            close = nearest(caller.name, HOOKS)
            hint = f"; did you mean {close!r}?" if close else ""
            raise PluginError(f"there is no hook {caller.name!r}{hint}")
        for impl in caller.get_hookimpls():
            if impl.plugin is instance:
                _check_implementation(caller.name, impl)
                found.append((caller.name, impl.function, tuple(impl.argnames)))
    return found


def _check_markers(instance: object) -> None:
    for hook in HOOKS:
        function = inspect.getattr_static(instance, hook, None)
        if function is not None and callable(function) and not hasattr(function, "pegboard_impl"):
            raise PluginError(f"{hook!r} is the name of a hook, but the function lacks the marker @hookimpl")


def _check_implementation(hook: str, impl: pluggy.HookImpl) -> None:
    if impl.wrapper or impl.hookwrapper:
        raise PluginError(f"{hook!r} is a wrapper; hooks of pegboard cannot be wrapped")
    if impl.tryfirst or impl.trylast:
        raise PluginError(f"{hook!r} asks for an order; order is the operator's, in [host]")
    if inspect.iscoroutinefunction(inspect.unwrap(impl.function)):
        raise PluginError(f"{hook!r} is async; hooks are plain functions that return what the plugin contributes")
    if inspect.isasyncgenfunction(impl.function):
        raise PluginError(f"{hook!r} is an async generator; put @contextlib.asynccontextmanager on it")


def contributions(
    hook: str, function: Callable[..., Any], parameters: tuple[str, ...], context: PluginContext
) -> list[Any]:
    """Call one implementation and check what it returns.

    Raises:
        PluginError: it returned something other than the hook promises.
    """
    available = {"context": context}
    result = function(*(available[parameter] for parameter in parameters))
    if isinstance(result, tuple) and type(result) is not tuple:
        raise PluginError(f"{hook!r} returned one {type(result).__name__}, not a list")
    if inspect.iscoroutine(result):
        result.close()
        raise PluginError(
            f"{hook!r} returned a coroutine; hooks are plain functions that return what the plugin contributes"
        )
    if hook == "lifespan":
        items = [result]
    elif isinstance(result, Iterable) and not isinstance(result, str | bytes | dict):
        items = list(result)
    elif result is None:
        items = []
    else:
        raise PluginError(f"{hook!r} returned {type(result).__name__}, not a list of contributions")
    for item in items:
        if complaint := _misfit(item, HOOKS[hook].contribution):
            raise PluginError(f"{hook!r} returned {complaint}")
    return items


def _misfit(item: object, contribution: type | tuple[str, ...]) -> str | None:
    if isinstance(contribution, type):
        return None if isinstance(item, contribution) else f"{type(item).__name__}, not {contribution.__name__}"
    lacking = [name for name in contribution if not hasattr(item, name)]
    return f"{type(item).__name__}, which lacks {', '.join(lacking)}" if lacking else None
