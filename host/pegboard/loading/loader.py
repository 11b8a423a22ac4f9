"""Import, configuration and registration of plugins, and their contributions.

A plugin that fails is left out as a whole. Other plugins still load. `Exception` and `SystemExit` are failures of the
plugin. `KeyboardInterrupt` comes from the operator and is not caught.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from types import ModuleType
from typing import Any, TypeAlias, cast

from pydantic import BaseModel

from pegboard import hookspecs
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.config import ConfigProblem, HostConfig, unknown_sections, unmatched_patterns, validate_section
from pegboard.errors import PluginError
from pegboard.loading.discovery import (
    LEFT_OUT,
    FoundPlugins,
    ProgramPlugins,
    Selection,
    choose_plugins,
    find_plugins,
    names_origin,
)
from pegboard.loading.failure_text import failure_location, failure_text
from pegboard.loading.hook_manager import HookManager
from pegboard.loading.plugins import SECTION_OF_KIND, LoadedPlugin, LoadProblem, LoadReport, PluginChoice
from pegboard.loading.process_guard import SlowLoadMonitor, watch_process
from pegboard.names import Patterns, nearest, normal_version
from pegboard.plugin.base import Plugin, PluginContext
from pegboard.plugin.origin import Origin
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard.loading.loader")


Contexts: TypeAlias = Callable[[LoadedPlugin, Any, logging.Logger], PluginContext]
"""A function that returns the context of a plugin, given the plugin, its settings and its logger."""


def load(
    config: HostConfig, selection: Selection | None = None, given: ProgramPlugins | None = None, *, context: Contexts
) -> LoadReport:
    """Load every enabled plugin.

    Failures are reported, not raised. A failure is `fatal` if the operator named the plugin, if `--strict` is set, or
    if the configuration names a plugin that is not installed.
    """
    return _Loader(config, selection or Selection(), context).load(find_plugins(given))


class _Loader:
    def __init__(self, config: HostConfig, selection: Selection, context: Contexts) -> None:
        self.config = config
        self.selection = selection
        self.context = context
        self.hooks = HookManager()
        self.problems: list[LoadProblem] = []

    def load(self, found: FoundPlugins) -> LoadReport:
        for problem in found.problems:
            self.problems.append(problem._replace(fatal=self.selection.strict and problem.level == "error"))
        choices = choose_plugins(found.origins, self.config, self.selection)
        for choice in choices:
            if choice.refused:
                self.report(choice.origin, "find", choice.reason, named=choice.origin.entry_point is None)
        running = [choice for choice in choices if choice.on]
        twice = self.report_duplicates(running)
        if not self.selection.safe:
            self.report_unknown_names(choices)
        wanted = [choice for choice in running if (choice.origin.kind, choice.origin.name) not in twice]
        with SlowLoadMonitor() as watch:
            plugins = [plugin for choice in wanted if (plugin := self.attempt(choice, watch))]
        self.keep_closed(choices, plugins)
        return LoadReport(tuple(choices), tuple(plugins), tuple(self.problems), self.hooks)

    def keep_closed(self, choices: Sequence[PluginChoice], plugins: list[LoadedPlugin]) -> None:
        """Close the route policy if an authenticator is configured but disabled."""
        if not (self.selection.safe or self.config.host.disabled_plugins):
            return
        from pegboard.loading.closed_policy import ClosedPolicy, closed_problems, disabled_authenticators, is_unguarded

        disabled = disabled_authenticators(choices, self.config, self.selection)
        self.problems += closed_problems(disabled)
        if disabled and is_unguarded(plugins):
            stand_in = LoadedPlugin(Origin("plugin", "disabled authenticators", ""), None, self.no_context)
            closed = ClosedPolicy(choice.origin.name for choice in disabled)
            stand_in.contributed(hookspecs.register_authenticators).append(closed)
            plugins.append(stand_in)

    def no_context(self, plugin: LoadedPlugin) -> PluginContext:
        return self.context(plugin, None, logger)

    # --- which ---

    def report_duplicates(self, running: Iterable[PluginChoice]) -> set[tuple[str, str]]:
        """Report plugins that share a name, and return the names. The problem is fatal if the operator named one."""
        seen: dict[tuple[str, str], list[PluginChoice]] = {}
        for choice in running:
            seen.setdefault((choice.origin.kind, choice.origin.name), []).append(choice)
        twice = {key: choices for key, choices in seen.items() if len(choices) > 1}
        for (kind, _), choices in twice.items():
            named = any(choice.named for choice in choices)
            for choice in choices:
                others = [other.origin for other in choices if other is not choice]
                message = f"{' and '.join(map(_source, others))} has a {kind} with the same name, so neither runs; "
                self.report(choice.origin, "find", message + _remedy(choice.origin, others), named=named)
        return set(twice)

    def report_unknown_names(self, choices: Sequence[PluginChoice]) -> None:
        for kind, section in SECTION_OF_KIND.items():
            origins = [choice.origin for choice in choices if choice.origin.kind == kind]
            known = [origin.name for origin in origins]
            self.wrong_config(unknown_sections(self.config, section, known))
            self.report_unmatched(f"disabled_{section}", origins)
        toolkits = [choice.origin for choice in choices if choice.origin.kind == "toolkit"]
        self.report_unknown_rights({origin.name for origin in toolkits})
        for text in Patterns(self.selection.only).unmatched_plugins(map(_pair, toolkits)):
            hint = _hint(text, (origin.name for origin in toolkits))
            self.problems.append(
                LoadProblem("find", f"--only: no installed toolkit is called {text!r}{hint}", fatal=True)
            )
        self.report_absent("plugins", choices)
        self.report_absent("required", choices)

    def report_unknown_rights(self, known: Collection[str]) -> None:
        """Report each section of `[host.toolkits]` whose toolkit is not installed: the section has no effect."""
        message = "no toolkit with this name is installed"
        for name in [name for name in self.config.host.toolkits if name not in known]:
            path = ("host", "toolkits", name)
            self.wrong_config([self.config.problem(message, path, nearest(name, known))])

    def report_unmatched(self, key: Any, origins: Sequence[Origin]) -> None:
        patterns: Patterns = getattr(self.config, key)
        unmatched = patterns.unmatched_plugins(map(_pair, origins))
        problems = unmatched_patterns(self.config, key, unmatched, (origin.name for origin in origins))
        self.problems += [LoadProblem("config", str(problem), level="warning") for problem in problems]

    def report_absent(self, key: str, choices: Sequence[PluginChoice]) -> None:
        """Report listed names that are not installed, and required plugins that are disabled."""
        for place, name in enumerate(getattr(self.config.host, key)):
            named = [choice for choice in choices if names_origin(name, choice.origin)]
            if not named:
                close = nearest(name, (choice.origin.name for choice in choices))
                message = f"no plugin or toolkit with this name is installed: {name!r}"
                self.wrong_config([self.config.problem(message, ("host", key, place), close)])
            elif key == "required" and not any(choice.on or choice.reason == LEFT_OUT for choice in named):
                message = f"{name!r} is required, but {named[0].reason}"
                self.wrong_config([self.config.problem(message, ("host", key, place))])

    def wrong_config(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems += [LoadProblem("config", str(problem), fatal=True) for problem in problems]

    # --- one plugin ---

    def attempt(self, choice: PluginChoice, watch: SlowLoadMonitor) -> LoadedPlugin | None:
        """Load one plugin, or report its failure and return None."""
        origin = choice.origin
        changed: list[str] = []
        attempt = _Attempt(self.config, origin, self.context, self.hooks)
        loaded = None
        logger.debug("loading %s (%s)", origin, origin.target)
        try:
            with watch.over(str(origin)), watch_process(changed):
                loaded = attempt.run()
        except KeyboardInterrupt:
            raise
        except _SettingsError as error:
            for problem in error.problems:
                self.report(origin, attempt.stage, str(problem), named=choice.named)
        except BaseException as error:  # a failure of the plugin
            logger.debug("%s failed", origin, exc_info=True)
            message = failure_text(error)
            if attempt.stage == "import" and origin.entry_point is not None:
                message += failure_location(error, origin.entry_point.module)
            self.report(origin, attempt.stage, message, named=choice.named)
        if changed:
            message = f"it changed the process while it was loaded: {', '.join(changed)}"
            self.problems.append(LoadProblem("process", message, origin, level="warning"))
        return loaded

    def report(self, origin: Origin, stage: str, message: str, *, named: bool = False) -> None:
        self.problems.append(LoadProblem(stage, message, origin, fatal=named or self.selection.strict))


class _Attempt:
    """The loading of one plugin. `stage` is the name of the current step."""

    def __init__(self, config: HostConfig, origin: Origin, context: Contexts, hooks: HookManager) -> None:
        self.config = config
        self.origin = origin
        self.context = context
        self.hooks = hooks
        self.stage = "import"

    def run(self) -> LoadedPlugin:
        started = time.perf_counter()
        origin = self.origin
        target = origin.given if origin.entry_point is None else origin.entry_point.load()
        _check_target(target)
        self.stage = "config"
        config = self.configured(target)
        self.stage = "create"
        instance = cast("type[Plugin]", target)(config) if inspect.isclass(target) else target
        version = _own_version(instance)
        self.stage = "hooks"
        name = f"{origin.kind}:{origin.name}"
        hooks = self.hooks.add_plugin(instance, name)
        self.stage = "contribute"
        log = logging.getLogger(f"pegboard.{origin.kind}s.{origin.name}")
        try:
            loaded = LoadedPlugin(origin, instance, lambda one: self.context(one, config, log))
            loaded.version = version or loaded.version
            loaded.description = _own_description(instance)
            for hook in hooks:
                loaded.contributions[hook] += self.hooks.contributions(name, hook, loaded.context)
        except BaseException:
            self.hooks.unregister(name=name)
            raise
        loaded.import_seconds = time.perf_counter() - started
        return loaded

    def configured(self, target: Any) -> Any:
        """Return the validated settings of the plugin, or None if the plugin has no settings."""
        model = getattr(target, "Config", None)
        if model is not None and not (inspect.isclass(model) and issubclass(model, BaseModel)):
            raise PluginError("its `Config` is not a model; it must be a subclass of pegboard.PluginConfig")
        if model is not None and model.model_config.get("extra") != "forbid":
            raise PluginError("its `Config` accepts unknown keys; it must be a subclass of pegboard.PluginConfig")
        result = validate_section(self.config, SECTION_OF_KIND[self.origin.kind], self.origin.name, model)
        if isinstance(result, list):
            raise _SettingsError(result)
        return result


class _SettingsError(Exception):
    """The settings of the plugin are invalid."""

    def __init__(self, problems: list[ConfigProblem]) -> None:
        super().__init__()
        self.problems = problems


def _own_version(instance: object) -> str | None:
    """Return the toolkit's own version, or else the version of its distribution."""
    if not isinstance(instance, ToolkitBase) or instance.version is None:
        return None
    try:
        return normal_version(instance.version)
    except ValueError as error:
        raise PluginError(f"its version: {error}") from None


def _own_description(instance: object) -> str | None:
    """Return the description of a toolkit."""
    given: object = instance.description if isinstance(instance, ToolkitBase) else None
    if given is None:
        return None
    if not isinstance(given, str):
        raise PluginError(f"its description must be a string, not {type(given).__name__}")
    if not (given.isascii() and given.isprintable()):
        from pegboard.messages.texts import complaint  # few descriptions need it

        if found := complaint(given):
            raise PluginError(f"its description {found}")
    return inspect.cleandoc(given) or None


def _check_target(target: Any) -> None:
    is_plugin = inspect.isclass(target) and issubclass(target, Plugin)
    if not (is_plugin or isinstance(target, ModuleType | ToolkitBase | Plugin)):
        raise PluginError("the target must be a Plugin subclass, a module with hooks, or a Toolkit")
    wanted = getattr(target, "host_api", hookspecs.HOST_API)
    if not isinstance(wanted, int):
        raise PluginError(f"its `host_api` must be a number, such as {hookspecs.HOST_API}, not {wanted!r}")
    if wanted != hookspecs.HOST_API:
        advice = "upgrade pegboard" if wanted > hookspecs.HOST_API else "upgrade the plugin"
        raise PluginError(f"the plugin requires host API {wanted}, this host has {hookspecs.HOST_API}: {advice}")


def _source(origin: Origin) -> str:
    return f"{origin.distribution} {origin.version}" if origin.distribution else "the program"


def _remedy(own: Origin, others: Iterable[Origin]) -> str:
    """Return advice on how to resolve several plugins with the same name."""
    if own.distribution:
        key = "required" if own.kind == "toolkit" else "plugins"
        return f'select one, such as [host] {key} = ["{own.distribution}:{own.name}"]'
    installed = [f"{other.distribution}:{other.name}" for other in others if other.distribution]
    return f"[host] disabled_{own.kind}s = {encode(installed).decode()} disables the other"


def _pair(origin: Origin) -> tuple[str, str]:
    return origin.name, origin.distribution


def _hint(name: str, candidates: Iterable[str]) -> str:
    close = nearest(name, candidates)
    return f"; did you mean {close!r}?" if close else ""
