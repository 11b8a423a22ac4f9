"""The rules that pluggy does not keep for us: what an implementation of a hook may be, and what it may return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, NamedTuple

import pluggy

from pegboard import hookspecs
from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.middleware.method_signatures import as_middleware, middleware_problem
from pegboard.names import nearest
from pegboard.plugin.base import PluginContext
from pegboard.plugin.commands import Command
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.plugin.methods import Extension, Method, NotificationHandler, Topic
from pegboard.plugin.middleware import Middleware
from pegboard.plugin.routes import Route
from pegboard.plugin.stores import Store
from pegboard.types.authorization import AuthProvider


class Hook(NamedTuple):
    """What a hook returns.

    Attributes:
        field: the field of `Loaded` that its contributions go to.
        contribution: what each contribution must be, by class, classes, or by the methods it must have.
    """

    field: str
    contribution: type | UnionType | tuple[str, ...]


HOOKS = {
    "register_tools": Hook("tools", ToolDefinition | ToolFunction),
    "register_resources": Hook("resources", ResourceDefinition),
    "register_prompts": Hook("prompts", PromptDefinition),
    "register_auth_providers": Hook("auth_providers", AuthProvider),
    "register_error_adapters": Hook("adapters", ("slug", "from_exception")),
    "register_middleware": Hook("middleware", Middleware | Callable),
    "register_transports": Hook("transports", ("name", "run")),
    "register_protocols": Hook("protocols", ("name", "serve")),
    "register_methods": Hook("methods", Extension | Method | NotificationHandler | Topic),
    "register_routes": Hook("routes", Route),
    "register_token_sources": Hook("token_sources", ("token",)),
    "register_authenticators": Hook("authenticators", ("policy", "authenticate")),
    "register_commands": Hook("commands", Command),
    "register_secret_stores": Hook("secret_stores", ("name", "get")),
    "register_stores": Hook("stores", Store),
    "lifespan": Hook("lifespans", ("__aenter__", "__aexit__")),
}

Implementation = tuple[str, Callable[..., Any], tuple[str, ...]]
"""A hook's name, a function that implements it, and the parameters that function takes."""


class Manager(pluggy.PluginManager):
    """Knows every hook, and one plugin at a time, so that one plugin's hooks never meet another's.

    It does not look for hooks among the attributes that python itself gives to every object; they are most of them.
    """

    def __init__(self) -> None:
        super().__init__("pegboard")
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """The options of an implementation, None when the attribute is none."""
        return None if name.startswith("__") else super().parse_hookimpl_opts(plugin, name)


def check_hooks(instance: object, name: str, manager: Manager) -> list[Implementation]:
    """The hooks that a plugin implements; the manager knows nothing of the plugin afterwards.

    Raises:
        PluginError: a hook is unknown or misspelt, lacks the marker, is no function, takes a parameter that the hook
            does not have, is `async`, a wrapper, or carries an ordering marker.
    """
    if not isinstance(instance, ToolkitBase):
        _check_markers(instance)
    try:
        manager.register(instance, name)
        return list(_implementations(manager.get_hookcallers(instance) or ()))
    except pluggy.PluginValidationError as error:
        raise PluginError(_wrong_parameters(manager, instance) or " ".join(str(error).split())) from None
    finally:
        if manager.has_plugin(name):
            manager.unregister(name=name)


def _implementations(callers: Iterable[pluggy.HookCaller]) -> Iterator[Implementation]:
    for caller in callers:
        if not caller.has_spec():
            close = nearest(caller.name, HOOKS)
            hint = f"; did you mean {close!r}?" if close else ""
            raise PluginError(f"there is no hook {caller.name!r}{hint}")
        for impl in caller.get_hookimpls():
            _check_implementation(caller.name, impl)
            yield caller.name, impl.function, tuple(impl.argnames)


def _check_markers(instance: object) -> None:
    there = set(dir(instance))
    for hook in filter(there.__contains__, HOOKS):
        found = inspect.getattr_static(instance, hook, None)
        function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        if not callable(function):
            continue
        if not hasattr(function, "pegboard_impl"):
            raise PluginError(f"{hook!r} is the name of a hook, but the function lacks the marker @hookimpl")
        if not inspect.isroutine(function):
            raise PluginError(f"{hook!r} is an object of {type(function).__name__}; write it with `def`")


def _wrong_parameters(manager: pluggy.PluginManager, instance: object) -> str | None:
    """The first parameter that a hook does not have, in words; None when there is none."""
    for name in dir(instance):
        options = manager.parse_hookimpl_opts(instance, name)
        hook = (options.get("specname") or name) if options is not None else None
        if hook not in HOOKS:
            continue
        known = inspect.signature(getattr(hookspecs, hook)).parameters
        for parameter in inspect.signature(getattr(instance, name)).parameters.values():
            if parameter.name not in known and parameter.default is parameter.empty:
                return f"{hook!r} has no parameter {parameter.name!r}; it has: {', '.join(known)}"
    return None


def _check_implementation(hook: str, impl: pluggy.HookImpl) -> None:
    if impl.wrapper or impl.hookwrapper:
        raise PluginError(f"{hook!r} is a wrapper; hooks of pegboard cannot be wrapped")
    if impl.tryfirst or impl.trylast:
        raise PluginError(f"{hook!r} asks for an order; order is the operator's, in [host]")
    if inspect.iscoroutinefunction(inspect.unwrap(impl.function)):
        raise PluginError(f"{hook!r} is async; hooks are plain functions that return what the plugin contributes")
    if inspect.isasyncgenfunction(impl.function):
        advice = "put @contextlib.asynccontextmanager on it" if hook == "lifespan" else "return a list"
        raise PluginError(f"{hook!r} is an async generator; {advice}")


def contributions(
    hook: str, function: Callable[..., Any], parameters: tuple[str, ...], context: PluginContext
) -> list[Any]:
    """Call one implementation and check what it returns.

    Raises:
        PluginError: it returned something other than the hook promises.
    """
    available = {"context": context}
    result = function(*(available[parameter] for parameter in parameters))
    if inspect.iscoroutine(result):
        result.close()
        raise PluginError(f"{hook!r} is async; hooks are plain functions that return what the plugin contributes")
    items = [result] if hook == "lifespan" else _items(hook, result)
    if hook == "register_middleware":
        items = [as_middleware(item) for item in items]
    for item in items:
        if complaint := _misfit(item, HOOKS[hook].contribution):
            raise PluginError(f"{hook!r} returned {complaint}")
    return [item.definition if isinstance(item, ToolFunction) else item for item in items]


def _items(hook: str, result: object) -> list[Any]:
    if result is None:
        return []
    single = isinstance(result, tuple) and type(result) is not tuple  # the records of contracts.py are tuples
    if single or not isinstance(result, Iterable) or isinstance(result, str | bytes | Mapping):
        raise PluginError(f"{hook!r} returned one {type(result).__name__}, not a list of contributions")
    return list(result)


def _misfit(item: object, contribution: type | UnionType | tuple[str, ...]) -> str | None:
    kind = type(item).__name__
    if inspect.isclass(item):
        return f"the class {item.__name__}, not an instance of it"
    if not isinstance(contribution, tuple):
        if not isinstance(item, contribution):
            wanted = contribution.__args__ if isinstance(contribution, UnionType) else (contribution,)
            return f"{kind}, not {' or '.join(one.__name__ for one in wanted)}"
        return middleware_problem(item) if isinstance(item, Middleware) else None
    if lacking := [name for name in contribution if not hasattr(item, name)]:
        return f"{kind}, which lacks {', '.join(lacking)}"
    if "name" in contribution and not isinstance(getattr(item, "name"), str):  # noqa: B009 - of any type
        return f"{kind}, whose name is no text"
    return None
