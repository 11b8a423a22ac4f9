"""The pluggy manager of one host, and rules for hooks and their contributions that pluggy does not check."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from inspect import isabstract
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pluggy

from pegboard import hookspecs
from pegboard.authoring import ToolFunction
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.middleware.chain import Around
from pegboard.names import did_you_mean, nearest
from pegboard.plugin.base import PluginContext
from pegboard.plugin.middleware import Middleware

logger = logging.getLogger("pegboard.loading.hooks")


class PluginHooks:
    """A wrapper that is registered with pluggy instead of the plugin itself.

    Pluggy compares plugins by `==`, which a plugin may override.
    """

    def __init__(self, plugin: object, attributes: Iterable[str]) -> None:
        own, kind = vars(plugin), type(plugin)
        for name in attributes:
            attribute = own[name] if name in own else getattr(kind, name, None)  # properties are not read
            if hasattr(attribute, "pegboard_impl"):
                setattr(self, name, getattr(plugin, name))


class HookManager(pluggy.PluginManager):
    """The hooks of one host, and the plugin that is loaded at the moment.

    The host calls each plugin separately. Thus a failure affects one plugin, and the owner of each contribution is
    known. Every call passes through pluggy, so that pluggy's tracing and monitoring work.
    """

    def __init__(self) -> None:
        super().__init__("pegboard")
        self.add_hookspecs(hookspecs)
        self._specs = {name: hook for name, hook in vars(hookspecs).items() if hasattr(hook, "pegboard_spec")}
        if logger.isEnabledFor(logging.DEBUG):
            self.add_hookcall_monitoring(_log_call, lambda *_: None)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return the options of a hook implementation, or None if the attribute is not a hook implementation.

        Names with double underscores are skipped to save time.
        """
        return None if name.startswith("__") else super().parse_hookimpl_opts(plugin, name)

    @contextmanager
    def registered(self, plugin: object, name: str) -> Iterator[list[str]]:
        """Register a plugin for the duration of a block, and yield the names of the hooks that it implements.

        Raises:
            PluginError: a hook is unknown, misspelt, `async` or a wrapper, is not a function, lacks the marker, has a
                parameter that the hook does not have, or has an ordering marker.
        """
        attributes = [member for member in dir(plugin) if not member.startswith("__")]  # saves most of the time
        _check_overrides(type(plugin))
        if not isinstance(plugin, ToolkitBase):
            self._check_markers(plugin, attributes)
        hooks = PluginHooks(plugin, attributes)
        try:
            self.register(hooks, name)
            yield [self._checked(caller) for caller in self.get_hookcallers(hooks) or ()]
        except pluggy.PluginValidationError as error:
            raise PluginError(self._wrong_parameter(hooks) or " ".join(str(error).split())) from None
        finally:
            if self.has_plugin(name):
                self.unregister(name=name)

    def contributions(self, hook: str, context: PluginContext) -> list[Any]:
        """Call a hook of the registered plugin and return its contributions.

        Raises:
            PluginError: the plugin returned something that the hook does not accept.
        """
        results: list[Any] = getattr(self.hook, hook)(context=context)
        results.reverse()  # pluggy calls the last implementation first
        return checked_contributions(self._specs[hook], results)

    def _checked(self, caller: pluggy.HookCaller) -> str:
        """Check the plugin's implementations of one hook and return the hook's name."""
        if not caller.has_spec():
            raise PluginError(f"unknown hook {caller.name!r}{did_you_mean(caller.name, self._specs)}")
        for implementation in caller.get_hookimpls():
            _check_implementation(caller.name, implementation)
        return caller.name

    def _check_markers(self, plugin: object, attributes: Iterable[str]) -> None:
        for hook in filter(self._specs.__contains__, attributes):
            owners = (plugin, *type(plugin).__mro__)
            member = next((vars(owner)[hook] for owner in owners if hook in getattr(owner, "__dict__", ())), None)
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if not callable(function):
                continue
            if not hasattr(function, "pegboard_impl"):
                raise PluginError(f"{hook!r} is the name of a hook, but the function lacks the marker @hookimpl")
            if isinstance(function, partial) or not inspect.isroutine(function):  # a partial is one since Python 3.14
                raise PluginError(f"{hook!r} is a {type(function).__name__} object: define the hook with `def`")

    def _wrong_parameter(self, hooks: PluginHooks) -> str | None:
        """Describe the first parameter of an implementation that the hook does not have."""
        for name in dir(hooks):
            options = self.parse_hookimpl_opts(hooks, name)
            hook = (options.get("specname") or name) if options is not None else None
            if hook not in self._specs:
                continue
            known = inspect.signature(self._specs[hook]).parameters
            for parameter in inspect.signature(getattr(hooks, name)).parameters.values():
                if parameter.name not in known and parameter.default is parameter.empty:
                    return f"{hook!r} has no parameter {parameter.name!r}; it has: {', '.join(known)}"
        return None


def _check_overrides(kind: type) -> None:
    """Check that methods which override implementations of hooks have the marker, too."""
    for base in kind.__mro__[1:]:
        for name, member in vars(base).items():
            if (
                hasattr(member, "pegboard_impl")
                and callable(override := getattr(kind, name))
                and not hasattr(override, "pegboard_impl")
            ):
                marker = f"@hookimpl(specname={member.pegboard_impl['specname'] or name!r})"
                raise PluginError(f"{name!r} overrides the implementation of a hook, but lacks its marker {marker}")


def _check_implementation(hook: str, implementation: pluggy.HookImpl) -> None:
    if implementation.wrapper or implementation.hookwrapper:
        raise PluginError(f"{hook!r} is a wrapper; hooks of pegboard cannot be wrapped")
    if implementation.tryfirst or implementation.trylast:
        raise PluginError(f"{hook!r} has an ordering marker: remove it, because the operator sets the order in [host]")
    if inspect.iscoroutinefunction(inspect.unwrap(implementation.function)):
        raise PluginError(f"{hook!r} is async; hooks are plain functions that return contributions")
    if inspect.isasyncgenfunction(implementation.function):
        advice = "put @contextlib.asynccontextmanager on it" if hook == "lifespan" else "return a list"
        raise PluginError(f"{hook!r} is an async generator; {advice}")


def _log_call(hook: str, implementations: Iterable[pluggy.HookImpl], arguments: Mapping[str, Any]) -> None:
    logger.debug("calling %s of %s", hook, ", ".join(implementation.plugin_name for implementation in implementations))


# --- Checks that the type of each contribution matches the hook's return annotation in `hookspecs.py`.


def checked_contributions(spec: Callable[..., Any], results: list[Any]) -> list[Any]:
    """Return the contributions of one plugin to one hook.

    Convert functions decorated with `@tool` to their definitions, and plain middleware functions to `Middleware`.

    Args:
        spec: the specification of the hook.
        results: the result of each implementation that returned something other than None.

    Raises:
        PluginError: the hook does not accept a result.
    """
    hook = spec.__name__
    types, many = contribution_types(spec)
    for result in results:
        if inspect.iscoroutine(result):
            result.close()
            raise PluginError(f"{hook!r} is async; hooks are plain functions that return contributions")
    items = [item for result in results for item in _items(hook, result)] if many else results or [None]
    if Middleware in types:
        items = [as_middleware(item) for item in items]
    for item in items:
        if complaint := _complaint(item, types):
            raise PluginError(f"{hook!r} returned {complaint}")
    return [item.definition if isinstance(item, ToolFunction) else item for item in items]


@cache
def contribution_types(spec: Callable[..., Any]) -> tuple[tuple[type, ...], bool]:
    """Return the types that a contribution may have, according to the hook's return annotation.

    The second value is True if the hook returns an iterable of contributions, False if it returns one contribution.
    """
    annotation = get_type_hints(spec, localns=_public_names(spec))["return"]
    origin: Any = get_origin(annotation)
    many = origin is Iterable
    named = get_args(annotation)[0] if many else annotation
    types = get_args(named) if get_origin(named) in (Union, UnionType) else (named,)
    return tuple(get_origin(expected) or expected for expected in types), many


def _public_names(spec: Callable[..., Any]) -> dict[str, Any]:
    """Return the public names of pegboard in the annotations of a hook, which `hookspecs.py` does not import."""
    packages = [*map(import_module, ("pegboard", "pegboard.types", "pegboard.plugin"))]
    words = re.findall(r"\w+", " ".join(map(str, spec.__annotations__.values())))
    return {word: getattr(package, word) for package in packages for word in words if word in package.__all__}


def _items(hook: str, result: object) -> list[Any]:
    is_record = isinstance(result, tuple) and type(result) is not tuple
    if is_record or not isinstance(result, Iterable) or isinstance(result, str | bytes | Mapping):
        raise PluginError(f"{hook!r} returned one {type(result).__name__}, not a list of contributions")
    return list(result)


def _complaint(item: object, types: tuple[type, ...]) -> str | None:
    if type(item) in types and not isinstance(item, Middleware):
        return None
    kind = type(item).__name__
    if inspect.isclass(item):
        return f"the class {item.__name__}, not an instance of it"
    complaints = [_unlike(item, expected) for expected in types]
    if all(complaints):
        names = " or ".join(expected.__name__ for expected in types)
        return f"{kind}, {complaints[0] if len(types) == 1 else f'not {names}'}"
    return middleware_problem(item) if isinstance(item, Middleware) else None


def _unlike(item: object, accepted: type) -> str | None:
    """Describe why an object is not of a type. Return None if it is."""
    if not isinstance(item, accepted):
        return f"which does not derive from {accepted.__name__}" if isabstract(accepted) else f"not {accepted.__name__}"
    if not isabstract(accepted):
        return None
    attributes = inspect.get_annotations(accepted)
    if lacking := [name for name in attributes if not hasattr(item, name)]:
        return f"which lacks {', '.join(lacking)}"
    for name, annotation in attributes.items():
        if annotation in (str, "str") and not isinstance(getattr(item, name), str):
            return f"whose {name} must be a string"
    return None


# --- The check of middleware when its plugin is loaded.


MIDDLEWARE_METHODS = tuple(name for name in vars(Middleware) if name.startswith("on_"))
"""The methods that a middleware may override."""


def as_middleware(item: object) -> object:
    """Return the middleware for a plain function. Return any other object unchanged."""
    return Around(item) if callable(item) and not isinstance(item, type | Middleware) else item


def middleware_problem(item: Middleware) -> str | None:
    """Return the reason why a middleware is invalid, or None if it is valid."""
    what = type(item).__name__ if type(item) is not Around else "middleware"
    name: object = item.name
    if not isinstance(name, str | None):
        return f"{what} whose name is not a string"
    if type(item) is Around:
        return _method_problem("function", what, item.on_message)
    overridden = [hook for hook in MIDDLEWARE_METHODS if _function(item, hook) is not getattr(Middleware, hook)]
    unknown = sorted({name for name in dir(item) if name.startswith("on_")} - set(MIDDLEWARE_METHODS))
    if unknown:
        close = nearest(unknown[0], MIDDLEWARE_METHODS)
        return f"{what} with the unknown method {unknown[0]}" + (f"; did you mean {close}?" if close else "")
    if not overridden and all(_function(item, name) is getattr(Middleware, name) for name in ("assembled", "check")):
        return f"{what} that overrides no method: override one of {', '.join(MIDDLEWARE_METHODS)}"
    return next((problem for hook in overridden if (problem := _method_problem(hook, what, getattr(item, hook)))), None)


def _function(item: Middleware, hook: str) -> Any:
    own = getattr(item, hook)
    return getattr(own, "__func__", own)


def _method_problem(hook: str, what: str, function: Any) -> str | None:
    if not callable(function):
        return f"{what} whose {hook} is {type(function).__name__}, not a function"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return f"{what} whose {hook} does not take a call and call_next"
    except (ValueError, NameError):
        pass  # a function without a signature, or with annotations that Python 3.14 cannot resolve
    return None
