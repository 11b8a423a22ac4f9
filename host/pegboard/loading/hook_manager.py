"""The pluggy manager of one host, and rules for hook implementations that pluggy does not check."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import pluggy

from pegboard import hookspecs
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.errors import PluginError
from pegboard.loading.contributions import checked_contributions
from pegboard.names import did_you_mean
from pegboard.plugin.base import PluginContext

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
