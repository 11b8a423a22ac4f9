"""Import, configuration and registration of plugins, and their contributions.

A plugin that fails is left out as a whole. Other plugins still load. `Exception` and `SystemExit` are failures of the
plugin. `KeyboardInterrupt` comes from the operator and is not caught.
"""

from __future__ import annotations

import inspect
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pydantic import BaseModel

from pegboard import hookspecs
from pegboard.authoring.late_toolkit import LateToolkit
from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.config import ConfigProblem, HostConfig, unknown_sections, unmatched_patterns, validate_section
from pegboard.errors import PluginError
from pegboard.hookspecs import register_toolkit_loaders, register_toolkits
from pegboard.loading.discovery import (
    LEFT_OUT,
    LEFT_OUT_BY_COMMAND,
    FoundPlugins,
    ProgramPlugins,
    Selection,
    choose_plugins,
    find_plugins,
    names_origin,
    unused_options,
    with_found,
)
from pegboard.loading.hook_manager import HookManager
from pegboard.loading.plugin_facts import fact_problems, variables_of
from pegboard.loading.plugins import (
    OF_SETTINGS,
    SECTION_OF_KIND,
    LoadedPlugin,
    LoadProblem,
    LoadReport,
    PluginChoice,
    PluginKey,
    config_problems,
    contributions_of,
    key_of,
    refuse_fatal,
)
from pegboard.loading.slow_loads import SlowLoadMonitor
from pegboard.messages.error_fields import failure_location, failure_text
from pegboard.names import Patterns, normal_version, with_nearest
from pegboard.plugin.base import Plugin, PluginContext
from pegboard.plugin.origin import Origin
from pegboard.secrets.redaction import Redactor
from pegboard.wire.codec import encode

if TYPE_CHECKING:
    from pegboard.plugin.toolkit_loading import ToolkitLoader

logger = logging.getLogger("pegboard.loading.loader")

_LEFT_OUT = (LEFT_OUT, LEFT_OUT_BY_COMMAND)
_PLUGIN_HOOKS = frozenset((register_toolkits.__name__, register_toolkit_loaders.__name__))
"""The hooks that the host calls before it loads toolkits."""

Contexts: TypeAlias = Callable[[LoadedPlugin, Any, logging.Logger], PluginContext]
"""A function that returns the context of a plugin, given the plugin, its settings and its logger."""


def load(
    config: HostConfig, selection: Selection | None = None, given: ProgramPlugins | None = None, *, context: Contexts
) -> LoadReport:
    """Load every enabled plugin.

    Failures are reported, not raised. A failure is `fatal` if the operator named the plugin, if `--strict` is set, or
    if the configuration names a plugin that is not installed.
    """
    return Loader(config, selection or Selection(), context).load(find_plugins(given))


class Loader:
    """Loads the plugins of one host, and collects the problems.

    Args:
        config: the configuration of the host.
        selection: the command line's selection.
        context: makes the context of a plugin.
        loaded: the plugins that a reload has loaded or kept; no other plugin is loaded. None to load all.
    """

    def __init__(
        self,
        config: HostConfig,
        selection: Selection,
        context: Contexts,
        loaded: Mapping[PluginKey, LoadedPlugin] | None = None,
    ) -> None:
        self.config = config
        self.selection = selection
        self.context = context
        self.hooks = HookManager()
        self.problems: list[LoadProblem] = []
        self.loaders: Sequence[ToolkitLoader] = ()
        self.loaded = loaded

    def load(self, found: FoundPlugins) -> LoadReport:
        """Load every enabled plugin."""
        for problem in found.problems:
            self.problems.append(problem._replace(fatal=self.selection.strict and problem.level == "error"))
        with SlowLoadMonitor() as watch:
            choices, plugins = self.load_chosen([origin for origin in found.origins if origin.kind == "plugin"], watch)
            self.use_loaders(plugins)
            toolkit_choices, toolkits = self.load_chosen(with_found(found.origins, plugins), watch)
        choices = sorted(choices + toolkit_choices, key=_by_name)
        plugins = sorted(plugins + toolkits, key=_by_name)
        self.report_unknown_names(choices)
        self.report_excluded(plugins)
        self.keep_closed(choices, plugins)
        return LoadReport(tuple(choices), tuple(plugins), tuple(self.problems), self.selection.files)

    def use_loaders(self, plugins: Iterable[LoadedPlugin]) -> None:
        """Load toolkits with the loaders of these plugins."""
        self.loaders = [loader for _, loader in contributions_of(plugins, register_toolkit_loaders)]

    def load_chosen(
        self, origins: Sequence[Origin], watch: SlowLoadMonitor
    ) -> tuple[list[PluginChoice], list[LoadedPlugin]]:
        """Choose among plugins or among toolkits, and load the chosen ones."""
        choices = choose_plugins(origins, self.config, self.selection)
        if self.loaded is not None:  # they run, under their own versions
            kept = [self.loaded.get(key_of(choice.origin)) for choice in choices]
            choices = [
                choice if plugin is None else choice._replace(origin=plugin.origin, on=True)
                for choice, plugin in zip(choices, kept, strict=True)
            ]
        for choice in choices:
            if choice.refused:
                self.report(choice.origin, "find", choice.reason, named=choice.origin.entry_point is None)
        running = [choice for choice in choices if choice.on]
        self.problems += fact_problems(choice.origin for choice in running)
        twice = self.report_duplicates(running)
        wanted = [choice for choice in running if (choice.origin.kind, choice.origin.name) not in twice]
        loads = (
            self.attempt(choice, watch) if self.loaded is None else self.loaded.get(key_of(choice.origin))
            for choice in wanted
        )
        return choices, [plugin for plugin in loads if plugin]

    def keep_closed(self, choices: Sequence[PluginChoice], plugins: list[LoadedPlugin]) -> None:
        """Close the route policy if an authenticator is configured but disabled."""
        if not (self.selection.safe or self.config.host.disabled_plugins):
            return
        from pegboard.loading.closed_policy import ClosedPolicy, closed_problems, disabled_authenticators, is_unguarded

        disabled = disabled_authenticators(choices, self.config, self.selection)
        self.problems += closed_problems(disabled)
        if disabled and is_unguarded(plugins):
            origin = Origin("plugin", "disabled authenticators", "")
            stand_in = LoadedPlugin(origin, None, lambda plugin: self.context(plugin, None, logger))
            closed = ClosedPolicy(choice.origin.name for choice in disabled)
            stand_in.contributed(hookspecs.register_authenticators).append(closed)
            plugins.append(stand_in)

    # --- which ---

    def report_duplicates(self, running: Iterable[PluginChoice]) -> set[tuple[str, str]]:
        """Report plugins that share a name, and return the names.

        The problem is fatal if the operator named such a plugin.
        """
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
        """Report names that no installed plugin or toolkit has.

        With `--safe`, report only sections of plugins: such a plugin may be an authenticator.
        """
        plugins = [choice.origin for choice in choices if choice.origin.kind == "plugin"]
        self.problems += config_problems(unknown_sections(self.config, "plugins", (plugin.name for plugin in plugins)))
        if self.selection.safe:
            return
        toolkits = [choice.origin for choice in choices if choice.origin.kind == "toolkit"]
        names = [origin.name for origin in toolkits]
        self.problems += config_problems(unknown_sections(self.config, "toolkits", names))
        unused = self.config.disabled_plugins.unmatched_plugins(map(_pair, plugins))
        known = (plugin.name for plugin in plugins)
        self.problems += config_problems(unmatched_patterns(self.config, "disabled_plugins", unused, known), "warning")
        unmatched = Patterns(self.selection.only).unmatched_plugins(map(_pair, toolkits))
        absent = [name for kind, name in self.selection.without if kind == "toolkit" and name not in names]
        for name, close in with_nearest(unmatched, names):
            problem = ConfigProblem(
                f"no installed toolkit is called {name!r} (--only does not select tools that plugins add); "
                "omit --only to see those of mounted servers",
                suggestion=close,
                place="--only",
            )
            self.problems += config_problems([problem])
        for name, close in with_nearest(absent, names):
            problem = ConfigProblem(f"no installed toolkit is called {name!r}", suggestion=close, place="--without")
            self.problems += config_problems([problem], "warning")
        self.report_absent("plugins", choices)
        self.report_absent("required", choices)
        self.problems += config_problems(unused_options(choices, self.config))

    def report_excluded(self, plugins: Iterable[LoadedPlugin]) -> None:
        """Report plugins that cannot run beside another plugin that runs."""
        running = {plugin.origin.name: plugin for plugin in plugins if plugin.origin.kind == "plugin"}
        for name, plugin in running.items():
            excluded: Mapping[str, str] = getattr(plugin.instance, "excludes", {})
            for other in excluded.keys() & running.keys():
                message = f"the plugin {name!r} cannot run beside the plugin {other!r}: {excluded[other]}"
                self.problems += config_problems([self.config.problem(message, ("plugins", name))])

    def report_absent(self, key: str, choices: Sequence[PluginChoice]) -> None:
        """Report listed names that are not installed, and required plugins that are disabled."""
        names = getattr(self.config.host, key)
        listed = [(name, [choice for choice in choices if names_origin(name, choice.origin)]) for name in names]
        unknown = (name for name, named in listed if not named)
        corrected = with_nearest(unknown, [choice.origin.name for choice in choices])
        for place, (name, named) in enumerate(listed):
            if not named:
                _, close = next(corrected)
                message = f"no plugin or toolkit with this name is installed: {name!r}"
                self.problems += config_problems([self.config.problem(message, ("host", key, place), close)])
            elif key == "required" and not any(choice.on or choice.reason in _LEFT_OUT for choice in named):
                message = f"{name!r} is required, but {named[0].reason}"
                self.problems += config_problems([self.config.problem(message, ("host", key, place))])

    # --- one plugin ---

    def attempt(self, choice: PluginChoice, watch: SlowLoadMonitor) -> LoadedPlugin | None:
        """Load one plugin, or report its failure and return None."""
        origin = choice.origin
        changed: list[str] = []
        attempt = _Attempt(self, origin)
        if origin.found is not None:
            sys.path += [folder for folder in origin.found.folders if folder not in sys.path]
        loaded = None
        logger.debug("loading %s (%s)", origin, origin.target)
        try:
            with watch.over(str(origin)), self.selection.watch(changed):
                loaded = attempt.run()
        except KeyboardInterrupt:
            raise
        except _SettingsError as error:
            for problem in error.problems:
                self.report(origin, attempt.stage, str(problem), named=choice.named, cause=problem)
        except BaseException as error:  # a failure of the plugin
            logger.debug("%s failed", origin, exc_info=True)
            message = failure_text(error)
            if attempt.stage == "import":
                message += failure_location(error, origin.module)
            self.report(origin, attempt.stage, message, named=choice.named)
        if changed:
            message = f"it changed the process while it was loaded: {', '.join(changed)}"
            self.problems.append(LoadProblem("process", message, origin, level="warning"))
        return loaded

    def report(self, origin: Origin, stage: str, message: str, *, named: bool = False, cause: Any = None) -> None:
        self.problems.append(LoadProblem(stage, message, origin, named or self.selection.strict, cause=cause))


class _Attempt:
    """The loading of one plugin. `stage` is the name of the current step."""

    def __init__(self, loader: Loader, origin: Origin) -> None:
        self.loader = loader
        self.origin = origin
        self.remarks: list[str] = []
        self.stage = "import"

    def run(self) -> LoadedPlugin:
        started = time.perf_counter()
        origin = self.origin
        target = self.target()
        check_target(target)
        self.stage = "config"
        config = self.configured(target)
        self.stage = "create"
        instance = cast("type[Plugin]", target)(config) if inspect.isclass(target) else target
        version = own_version_of(instance)
        self.stage = "hooks"
        with self.loader.hooks.registered(instance, f"{origin.kind}:{origin.name}") as hooks:
            self.stage = "contribute"
            log = logging.getLogger(f"pegboard.{origin.kind}s.{origin.name}")
            loaded = LoadedPlugin(
                origin,
                instance,
                lambda plugin: self.loader.context(plugin, config, log),
                version=version,
                description=own_description(instance),
                remarks=self.remarks,
                is_late=isinstance(instance, LateToolkit),
                section=self.loader.config.section(SECTION_OF_KIND[origin.kind], origin.name),
            )
            if origin.kind == "toolkit" and (wrong := _PLUGIN_HOOKS.intersection(hooks)):
                raise PluginError(f"a toolkit cannot implement {min(wrong)!r}: move it to a plugin")
            for hook in hooks:
                loaded.contributions[hook] += self.loader.hooks.contributions(hook, loaded.context)
        loaded.import_seconds = time.perf_counter() - started
        loaded.loaded_at -= int(loaded.import_seconds * 1e9)
        return loaded

    def target(self) -> Any:
        """Return the object that the entry point names, or the object of a loader."""
        origin, loader, made = self.origin, self.loader, None
        if loader.loaders and origin.given is None:
            from pegboard.loading.late_toolkits import loaded_by  # most hosts have no loaders

            made = loaded_by(loader.loaders, origin, loader.config, self.remarks.append)
        return origin.load() if made is None else made

    def configured(self, target: Any) -> Any:
        """Return the validated settings of the plugin, or None if the plugin has no settings."""
        if isinstance(target, LateToolkit):
            from pegboard.loading.late_toolkits import settings_problems

            if problems := settings_problems(self.loader.config, self.origin.name, target.settings_schema):
                raise _SettingsError(problems)
            return None
        return _settings(self.loader.config, self.origin, target)


def _settings(config: HostConfig, origin: Origin, target: Any) -> Any:
    model = getattr(target, "Config", None)
    if model is not None and not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise PluginError("its `Config` is not a model; it must be a subclass of pegboard.PluginConfig")
    if model is not None and model.model_config.get("extra") != "forbid":
        raise PluginError("its `Config` accepts unknown keys; it must be a subclass of pegboard.PluginConfig")
    result = validate_section(config, SECTION_OF_KIND[origin.kind], origin.name, model, variables_of(origin))
    if isinstance(result, list):
        raise _SettingsError(result)
    return result


def settings_of(origin: Origin, config: HostConfig) -> Any:
    """Import a plugin, and return its validated settings without calling its hooks.

    Raises:
        ConfigError: the settings are invalid.
        PluginError: the plugin cannot be imported.
    """
    try:
        target = origin.load()
        check_target(target)
        return _settings(config, origin, target)
    except _SettingsError as error:
        problems = [LoadProblem(OF_SETTINGS, str(each), origin, True, cause=each) for each in error.problems]
        refuse_fatal(problems, Redactor())
        raise
    except Exception as error:  # noqa: BLE001 - a failure of the plugin
        message = failure_text(error) + failure_location(error, origin.module)
        raise PluginError(str(LoadProblem("import", message, origin))) from None


def load_late(plugin: LoadedPlugin, config: HostConfig, context: Contexts) -> LoadedPlugin:
    """Import a toolkit that is served by its definitions, in any thread. Return it with its contributions.

    Raises:
        PluginError: the toolkit failed, or contributes more than a lifespan, tools, resources and prompts.
    """
    from pegboard.loading.source_files import forget_outdated  # most hosts have no late toolkits

    try:
        forget_outdated(plugin.origin)
        fresh = _Attempt(Loader(config, Selection(), context), plugin.origin).run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        logger.debug("%s failed", plugin.origin, exc_info=True)
        place = failure_location(error, plugin.origin.module)
        raise PluginError(f"{plugin.origin} failed: {failure_text(error)}{place}") from error
    if others := {*fresh.other_hooks()} - {"lifespan"}:
        fix = "update the file from which it is listed, so that it is imported at the start"
        raise PluginError(f"{plugin.origin} now has {', '.join(sorted(others))}: {fix}")
    return fresh


def _by_name(item: PluginChoice | LoadedPlugin) -> tuple[str, str]:
    return item.origin.name, item.origin.distribution


class _SettingsError(Exception):
    """The settings of the plugin are invalid."""

    def __init__(self, problems: list[ConfigProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def _source(origin: Origin) -> str:
    place = "the program" if origin.found is None else origin.target
    return f"{origin.distribution} {origin.version}" if origin.distribution else place


def _remedy(own: Origin, others: Iterable[Origin]) -> str:
    """Return advice on how to resolve several plugins with the same name."""
    if own.distribution:
        key = "required" if own.kind == "toolkit" else "plugins"
        return f'select one, such as [host] {key} = ["{own.distribution}:{own.name}"]'
    installed = [f"{other.distribution}:{other.name}" for other in others if other.distribution]
    if not installed:
        return f"rename one {own.kind}"
    return f"[host] disabled_{own.kind}s = {encode(installed).decode()} disables the other"


def _pair(origin: Origin) -> tuple[str, str]:
    return origin.name, origin.distribution


def own_version_of(instance: object) -> str | None:
    """Return the toolkit's own version, or else the version of its distribution."""
    if not isinstance(instance, ToolkitBase) or instance.version is None:
        return None
    try:
        return normal_version(instance.version)
    except ValueError as error:
        raise PluginError(f"its version: {error}") from None


def own_description(instance: object) -> str | None:
    """Return the description of a toolkit."""
    description: object = instance.description if isinstance(instance, ToolkitBase) else None
    if description is None:
        return None
    if not isinstance(description, str):
        raise PluginError(f"its description must be a string, not {type(description).__name__}")
    if not (description.isascii() and description.isprintable()):
        from pegboard.messages.texts import complaint  # few descriptions need it

        if fault := complaint(description):
            raise PluginError(f"its description {fault}")
    return inspect.cleandoc(description) or None


def check_target(target: Any) -> None:
    """Raise an error if an object is neither a plugin nor a toolkit, or needs another host.

    Raises:
        PluginError: the object is not accepted.
    """
    is_plugin = inspect.isclass(target) and issubclass(target, Plugin)
    if not (is_plugin or isinstance(target, ModuleType | ToolkitBase | Plugin)):
        raise PluginError("the target must be a Plugin subclass, a module with hooks, or a Toolkit")
    wanted = getattr(target, "host_api", hookspecs.HOST_API)
    if not isinstance(wanted, int):
        raise PluginError(f"its `host_api` must be a number, such as {hookspecs.HOST_API}, not {wanted!r}")
    if wanted != hookspecs.HOST_API:
        advice = "upgrade pegboard" if wanted > hookspecs.HOST_API else "upgrade the plugin"
        raise PluginError(f"the plugin requires host API {wanted}, this host has {hookspecs.HOST_API}: {advice}")
