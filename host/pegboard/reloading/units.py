"""Loading of changed plugins and toolkits into a running process.

The plugins of one distribution, and those of the Python files of the command line, form a unit. A unit is reloaded as a
whole, or its old version is kept.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pegboard.config import ConfigProblem, HostConfig, validate_section
from pegboard.errors import ConfigError, PluginError
from pegboard.loading.discovery import (
    FoundPlugins,
    ProgramPlugins,
    Selection,
    choose_plugins,
    find_plugins,
    is_built_in,
    with_found,
)
from pegboard.loading.hook_manager import HookManager
from pegboard.loading.loader import Contexts, Loader
from pegboard.loading.plugin_facts import OWN_DISTRIBUTION, variables_of
from pegboard.loading.plugins import (
    SECTION_OF_KIND,
    LoadedPlugin,
    LoadProblem,
    LoadReport,
    PluginChoice,
    key_of,
)
from pegboard.loading.slow_loads import SlowLoadMonitor
from pegboard.loading.source_files import toolkits_in
from pegboard.names import did_you_mean
from pegboard.plugin.origin import Origin
from pegboard.reloading.own_modules import (
    Modules,
    changed_files,
    changed_keys,
    changed_since,
    extension_of,
    folders_of,
    host_modules,
    importer_of,
    modules_in,
    modules_of_distribution,
    take_out,
)
from pegboard.reloading.trial import Trials
from pegboard.types.reloads import ReloadResult

_FIXED_HOOKS = {
    "register_transports": "a transport",
    "register_protocols": "a protocol",
    "register_stores": "a store",
    "register_telemetry": "telemetry",
    "register_toolkits": "toolkits",
    "register_toolkit_loaders": "the loading of toolkits",
}
"""The hooks whose contributions a running host cannot replace, and the words for them."""

_PROGRAM = "the program"


class Served(NamedTuple):
    """The configuration of a running host, the plugins of its program, and the result of loading."""

    config: HostConfig
    given: ProgramPlugins
    report: LoadReport


class Unit:
    """One distribution or the files of the command line.

    Attributes:
        name: the name for messages.
        choices: the plugins that are enabled now.
        old: the plugins that run.
        fresh: the plugins that the reload has loaded.
        result: the result, or None if nothing has changed.
        undo: functions that undo the changes of this process.
    """

    def __init__(self, name: str, choices: Sequence[PluginChoice], old: Sequence[LoadedPlugin]) -> None:
        self.name = name
        self.choices = choices
        self.old = old
        self.fresh: list[LoadedPlugin] = []
        self.result: ReloadResult | None = None
        self.undo: list[Callable[[], None]] = []

    def end(self, outcome: Any, reason: str = "") -> None:
        """Set the result. If the new version is not applied, undo its changes."""
        self.result = ReloadResult(self.name, outcome, reason)
        if not self.result.is_applied:
            self.fresh.clear()
            while self.undo:
                self.undo.pop()()

    def fail(self, reason: str) -> None:
        """Keep the old version, if there is one."""
        self.end("kept" if self.old else "failed", reason)

    @property
    def running(self) -> list[LoadedPlugin]:
        """The plugins that run after the reload."""
        if self.result is None or not self.result.is_applied:
            return [*self.old]
        fresh = {key_of(plugin.origin) for plugin in self.fresh}
        wanted = {key_of(choice.origin) for choice in self.choices}
        return [*self.fresh, *(plugin for plugin in self.old if key_of(plugin.origin) in wanted - fresh)]


class Reloading:
    """Finds changed units and loads them. The host still serves the old plugins.

    Args:
        before: the host before the reload.
        config: the new configuration.
        selection: the command line's selection.
        running: the plugins that run.
        context: makes the context of a plugin.

    Attributes:
        units: the units, after `load`.
    """

    def __init__(
        self,
        before: Served,
        config: HostConfig,
        selection: Selection,
        running: Iterable[LoadedPlugin],
        context: Contexts,
    ) -> None:
        self._before = before
        self._config = config
        self._selection = selection
        self._context = context
        self._old = {key_of(plugin.origin): plugin for plugin in running}
        self._given = before.given
        self._found = FoundPlugins(())
        self._problems: list[LoadProblem] = []
        self._began = time.time_ns()
        self._trials = Trials()
        self.units: list[Unit] = []

    def load(self, names: Collection[str]) -> None:
        """Load every unit that has changed, and those with these names.

        Raises:
            PluginError: no plugin, toolkit or distribution has one of the names.
            ConfigError: the configuration names a plugin or toolkit that is not installed.
        """
        importlib.invalidate_caches()
        files = self._reload_files(names)
        self._found = find_plugins(self._given)
        choices = self._choices()
        _check_names(names, choices)
        self._check_config(choices)
        origins = [choice.origin for choice in choices] + [plugin.origin for plugin in self._old.values()]
        for owner in dict.fromkeys(map(_owner, origins)):
            on = [choice for choice in choices if choice.on and _owner(choice.origin) == owner]
            old = [plugin for plugin in self._old.values() if _owner(plugin.origin) == owner]
            if owner == OWN_DISTRIBUTION:
                self._load_own(on, old)
                continue
            if owner == _PROGRAM:
                unit = files or Unit(owner, on, old)
                unit.choices = on
            else:
                versions = [choice.origin.version for choice in on] + [plugin.origin.version for plugin in old]
                unit = Unit(f"{owner} {versions[0]}".strip() if versions else owner, on, old)
            self.units.append(unit)
            if unit.result is None:
                self._load_unit(unit, owner, forced=bool(_names_of(owner, [*on, *old]) & set(names)))

    def _check_config(self, choices: Sequence[PluginChoice]) -> None:
        loader = Loader(self._config, self._selection, self._context)
        loader.report_unknown_names(choices)
        if fatal := [problem for problem in loader.problems if problem.fatal]:
            raise ConfigError(fatal)

    def interrupt(self) -> None:
        """Make `load` end soon. Changes that were not tried are not applied. Another thread calls this."""
        self._trials.end()

    def served(self) -> Served:
        """Return the host after the reload."""
        running = {key_of(plugin.origin): plugin for unit in self.units for plugin in unit.running}
        known = {key_of(origin) for origin in self._found.origins}
        gone = [plugin.origin for key, plugin in running.items() if key not in known and plugin.origin.found is None]
        loader = Loader(self._config, self._selection, self._context, running)
        report = loader.load(self._found._replace(origins=(*self._found.origins, *gone)))
        return Served(self._config, self._given, report._replace(problems=(*report.problems, *self._problems)))

    def _choices(self) -> list[PluginChoice]:
        """Return the choices of plugins and toolkits. Plugins look for their toolkits again."""
        plugins = [origin for origin in self._found.origins if origin.kind == "plugin"]
        hooks = HookManager()
        for plugin in self._old.values():
            if "register_toolkits" in plugin.contributions:
                with hooks.registered(plugin.instance, plugin.origin.name):
                    found = hooks.contributions("register_toolkits", plugin.context)
                plugin.contributions["register_toolkits"][:] = found
        toolkits = with_found(self._found.origins, self._old.values())
        chosen = choose_plugins(plugins, self._config, self._selection)
        return chosen + choose_plugins(toolkits, self._config, self._selection)

    # --- files of the command line

    def _reload_files(self, names: Collection[str]) -> Unit | None:
        """Run the files of the command line again if one of them has changed. Return their unit."""
        files = self._selection.files
        if not files:
            return None
        old = [plugin for plugin in self._old.values() if _owner(plugin.origin) == _PROGRAM]
        unit = Unit(", ".join(map(str, files)), (), old)
        modules = modules_in({str(file.resolve().parent) for file in files})
        if not (self._is_stale(modules, old) or _names_of(_PROGRAM, old) & set(names)):
            return unit
        if self._replace_modules(unit, modules, (), files):
            try:
                toolkits = toolkits_in(files)
            except PluginError as error:
                unit.fail(str(error))
            else:
                self._given = self._given._replace(toolkits=toolkits)
        return unit

    # --- one unit

    def _load_own(self, choices: Sequence[PluginChoice], old: Sequence[LoadedPlugin]) -> None:
        """Load each plugin of pegboard whose settings have changed. The code of pegboard is not reloaded."""
        whole = Unit(OWN_DISTRIBUTION, choices, old)
        if self._is_upgraded(whole) or self._is_stale(host_modules(), old):
            whole.end("restart needed", "the code of the host has changed")
            self.units.append(whole)
            return
        origins = [choice.origin for choice in choices] + [plugin.origin for plugin in old]
        for kind, name, _ in dict.fromkeys(map(key_of, origins)):
            on = [choice for choice in choices if choice.origin.name == name]
            unit = Unit(f"{kind} {name}", on, [plugin for plugin in old if plugin.origin.name == name])
            self.units.append(unit)
            self._load_unit(unit, OWN_DISTRIBUTION, forced=False)

    def _load_unit(self, unit: Unit, owner: str, *, forced: bool) -> None:
        stale = False
        modules = dict[str, ModuleType]()
        if owner not in (_PROGRAM, OWN_DISTRIBUTION):
            modules = {**self._modules(unit)}
            is_new = any(key_of(choice.origin) not in self._old for choice in unit.choices)
            stale = forced or is_new or self._is_upgraded(unit) or self._is_stale(modules, unit.old)
        todo = [choice for choice in unit.choices if stale or self._differs(choice)]
        wanted = {key_of(choice.origin) for choice in unit.choices}
        gone = [plugin for plugin in unit.old if key_of(plugin.origin) not in wanted]
        if not todo and not gone:
            return
        replaced = {key_of(choice.origin) for choice in todo} | {key_of(plugin.origin) for plugin in gone}
        if bound := _with_channels(plugin for plugin in unit.old if key_of(plugin.origin) in replaced):
            if problems := [*self._settings_problems(todo)]:
                unit.fail("; ".join(map(str, problems)))
            else:
                unit.end("restart needed", self._why_restart(bound))
        elif not stale or self._replace_modules(unit, modules, *_targets(todo, modules)):
            self._attempt(unit, todo)
            if owner != _PROGRAM and not unit.choices and unit.result is not None and unit.result.is_applied:
                unit.undo.append(take_out(self._modules(unit)))

    def _attempt(self, unit: Unit, choices: Sequence[PluginChoice]) -> None:
        loader = Loader(self._config, self._selection, self._context)
        loader.use_loaders(self._old.values())
        with SlowLoadMonitor() as watch:
            unit.fresh = [plugin for choice in choices if (plugin := loader.attempt(choice, watch))]
        for plugin in unit.fresh:
            plugin.loaded_at = self._began
        new = [loaded for loaded in unit.fresh if key_of(loaded.origin) not in self._old]
        if len(unit.fresh) < len(choices):
            self._problems += [problem._replace(fatal=False) for problem in loader.problems if not unit.old]
            unit.fail(
                "; ".join(
                    f"{problem.stage}: {problem.message}" for problem in loader.problems if problem.level == "error"
                )
            )
        elif bound := _with_channels(new):
            unit.end("restart needed", self._why_restart(bound))
        else:
            unit.end("reloaded" if unit.old and unit.choices else "added" if unit.choices else "removed")

    def _replace_modules(
        self, unit: Unit, modules: Modules, targets: Sequence[str], files: Sequence[Path] = ()
    ) -> bool:
        """Try the new code in a child process and remove the old modules. Return False if the old version is kept."""
        if extension := extension_of(modules):
            unit.end("restart needed", f"{extension} is a module in C")
        elif imported := importer_of(modules):
            unit.end("restart needed", f"the module {imported[0]} has imported {imported[1]}")
        elif problem := self._trials.try_import(targets, files):
            unit.fail(problem)
        else:
            unit.undo.append(take_out(modules))
            return True
        return False

    def _modules(self, unit: Unit) -> Modules:
        origins = [choice.origin for choice in unit.choices] + [plugin.origin for plugin in unit.old]
        return {name: module for origin in origins for name, module in own_modules(origin).items()}

    def _is_stale(self, modules: Modules, old: Sequence[LoadedPlugin]) -> bool:
        return bool(old) and changed_since(modules, min(plugin.loaded_at for plugin in old))

    def _is_upgraded(self, unit: Unit) -> bool:
        """Return True if the distribution has another version than its running plugins."""
        versions = {plugin.origin.version for plugin in unit.old}
        return bool(versions) and any(choice.origin.version not in versions for choice in unit.choices)

    def _differs(self, choice: PluginChoice) -> bool:
        """Return True if a plugin is not running, or has other settings or files, or is another object of a program."""
        old = self._old.get(key_of(choice.origin))
        section = self._config.section(SECTION_OF_KIND[choice.origin.kind], choice.origin.name)
        if old is None or old.section != section or old.origin.given is not choice.origin.given:
            return True
        return bool(changed_files(old))

    def _settings_problems(self, choices: Iterable[PluginChoice]) -> Iterator[ConfigProblem]:
        """Yield the problems of the new settings of plugins that run."""
        for choice in choices:
            old = self._old.get(key_of(choice.origin))
            if old is not None and not old.is_late:
                kind = SECTION_OF_KIND[choice.origin.kind]
                model = getattr(old.instance, "Config", None)
                checked = validate_section(self._config, kind, choice.origin.name, model, variables_of(choice.origin))
                yield from checked if isinstance(checked, list) else ()

    def _why_restart(self, plugin: LoadedPlugin) -> str:
        """Return the reason why a change needs a restart: the change, and the contribution that cannot be replaced."""
        section = SECTION_OF_KIND[plugin.origin.kind], plugin.origin.name
        changes = changed_keys(self._before.config, self._config, section) + changed_files(plugin)
        kept = next(word for hook, word in _FIXED_HOOKS.items() if plugin.contributions.get(hook))
        return f"{', '.join(changes)}{': ' if changes else ''}a running host cannot replace {kept}"


def _with_channels(plugins: Iterable[LoadedPlugin]) -> LoadedPlugin | None:
    return next((plugin for plugin in plugins if any(plugin.contributions.get(hook) for hook in _FIXED_HOOKS)), None)


def _owner(origin: Origin) -> str:
    """Return the name of the unit of a plugin."""
    if origin.distribution or origin.found is None:
        return origin.distribution or _PROGRAM
    return f"files of [plugins.{origin.found_by}]"


def _targets(choices: Sequence[PluginChoice], modules: Modules) -> tuple[list[str], list[Path]]:
    """Return the modules to import, and the files to run, that load plugins."""
    names: list[str] = []
    files: list[Path] = []
    for origin in [choice.origin for choice in choices]:
        if origin.module:
            names.append(origin.module)
            continue
        texts = [text if text.endswith(".py") else text.rpartition(":")[0] for text in origin.target.split(", ")]
        if origin.distribution:
            names += [name for name, module in modules.items() if module.__file__ in texts]
        else:
            files += map(Path, texts)
    return names, files


def _names_of(owner: str, plugins: Iterable[PluginChoice | LoadedPlugin]) -> set[str]:
    return {owner} | {plugin.origin.name for plugin in plugins}


def _check_names(names: Collection[str], choices: Sequence[PluginChoice]) -> None:
    known = {text for choice in choices for text in (choice.origin.name, choice.origin.distribution)}
    for name in names:
        if name not in known:
            raise PluginError(f"no plugin or toolkit with this name is installed: {name!r}{did_you_mean(name, known)}")


def own_modules(origin: Origin) -> Modules:
    """Return the imported modules of a plugin's distribution, or of the files in which a plugin found it."""
    if origin.distribution:
        return modules_of_distribution(origin.distribution, origin.module)
    return {} if origin.found is None else modules_in({os.path.realpath(folder) for folder in origin.found.folders})


def own_folders(plugins: Iterable[LoadedPlugin], files: Iterable[Path]) -> set[str]:
    """Return the folders with the code of plugins and files, without the folders of all installed distributions."""
    folders = {str(file.resolve().parent) for file in files}
    for origin in (plugin.origin for plugin in plugins if not is_built_in(plugin.origin)):
        folders |= {os.path.realpath(folder) for folder in origin.found.folders} if origin.found else set()
        folders |= folders_of(own_modules(origin))
    return folders
