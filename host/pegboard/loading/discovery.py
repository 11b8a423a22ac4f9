"""Discovery of installed plugins and toolkits, and the decision whether each is enabled. No plugin is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import importlib_metadata

from pegboard.authoring.toolkit_base import ToolkitBase
from pegboard.config import ConfigProblem, HostConfig, Source
from pegboard.config.environment import HOST_VARIABLES
from pegboard.errors import ConfigError
from pegboard.hookspecs import register_toolkits
from pegboard.loading.fact_models import PluginFacts
from pegboard.loading.plugin_facts import OWN_DISTRIBUTION, facts_of, own_facts
from pegboard.loading.plugins import (
    GROUPS,
    SECTION_OF_KIND,
    LoadedPlugin,
    LoadProblem,
    PluginChoice,
    contributions_of,
)
from pegboard.names import Patterns
from pegboard.plugin.origin import Origin, PluginKind
from pegboard.types.callers import EMPTY

LEFT_OUT = "left out by --only"
LEFT_OUT_BY_COMMAND = "left out by this command"
WILD = set("*?[")
"""The characters that make a name a glob."""
_NAMING_LISTS: Mapping[PluginKind, Sequence[str]] = {
    "toolkit": ("required",),
    "plugin": (
        *("required", "plugins", "transports", "middleware", "error_adapters"),
        *("token_sources", "secret_stores"),
    ),
}
"""The lists of `[host]` that name plugins or toolkits."""


class Selection(NamedTuple):
    """Command-line choices that override the configuration.

    Attributes:
        only: names, globs or `distribution:name` of the toolkits to run. Other toolkits are disabled. Empty runs all.
        safe: True to run only the built-in plugins that are enabled by default.
        strict: True to prevent the start of the host after any failure.
        autoload: False to leave installed toolkits disabled, even if `[host] autoload` is true.
        word: the reason that `pegboard why` shows for plugins that a program passes.
        without: the kinds and names of plugins and toolkits that a command leaves out.
        files: the Python files of the toolkits that a program passes. A reload runs changed files again.
        watch: runs the load of each plugin, and lists the changes that the load makes to the process.
        hidden_text: True to accept definitions with invisible characters, to show them to the operator.
        masks_after_stop: True to mask the secrets of the host as long as it exists. Commands print after its stop.
    """

    only: tuple[str, ...] = ()
    safe: bool = False
    strict: bool = False
    autoload: bool = True
    word: str = "passed by the program"
    without: tuple[tuple[PluginKind, str], ...] = ()
    files: tuple[Path, ...] = ()
    watch: Callable[[list[str]], AbstractContextManager[object]] = nullcontext
    hidden_text: bool = False
    masks_after_stop: bool = False


class ProgramPlugins(NamedTuple):
    """Plugins and toolkits that a program passes to the host. These plugins and toolkits are always enabled."""

    plugins: Mapping[str, Any] = EMPTY
    toolkits: Mapping[str, Any] = EMPTY


class FoundPlugins(NamedTuple):
    """Installed plugins and toolkits, and problems with reading their metadata."""

    origins: tuple[Origin, ...]
    problems: tuple[LoadProblem, ...] = ()


def own_version() -> str:
    """Return the version of pegboard, or "0" if it is not installed as a distribution."""
    try:
        return importlib_metadata.version(OWN_DISTRIBUTION)
    except importlib_metadata.PackageNotFoundError:
        return "0"


def untested_platform() -> str:
    """Return a sentence if the Python or the system of this process is not in the classifiers of pegboard, else ""."""
    tested = {
        line.rpartition(" :: ")[2]
        for distribution in importlib_metadata.distributions(name=OWN_DISTRIBUTION)
        for line in distribution.metadata.get_all("Classifier", [])
    }
    here = (f"{sys.version_info.major}.{sys.version_info.minor}", sys.platform.title())
    return (
        f"pegboard is untested on Python {' on '.join(here)}; if something fails, use a platform of docs/platforms.md"
        if tested and not tested.issuperset(here)
        else ""
    )


def find_plugins(given: ProgramPlugins | None = None) -> FoundPlugins:
    """Return every plugin and toolkit, sorted by name, then by distribution."""
    origins, problems = read_entry_points()
    handed: Sequence[tuple[PluginKind, Mapping[str, Any]]] = (
        ("plugin", given.plugins if given else {}),
        ("toolkit", given.toolkits if given else {}),
    )
    for kind, targets in handed:
        origins += [Origin(kind, name, _target(target), given=target) for name, target in targets.items()]
    return FoundPlugins(tuple(sorted(origins, key=lambda origin: (origin.name, origin.distribution))), tuple(problems))


def with_found(installed: Iterable[Origin], plugins: Iterable[LoadedPlugin]) -> list[Origin]:
    """Return the installed toolkits and those that plugins found, each with the name of the plugin.

    A found toolkit replaces an installed toolkit, or one of an earlier plugin, with the same name and distribution.
    """
    found = [
        Origin(
            "toolkit",
            toolkit.name,
            toolkit.target,
            toolkit.distribution,
            toolkit.version,
            found=toolkit,
            found_by=plugin.origin.name,
        )
        for plugin, toolkit in contributions_of(plugins, register_toolkits)
    ]
    more = {(origin.name, origin.distribution or origin.target): origin for origin in found}
    kept = [
        origin for origin in installed if origin.kind == "toolkit" and (origin.name, origin.distribution) not in more
    ]
    return sorted([*kept, *more.values()], key=lambda origin: (origin.name, origin.distribution))


def _target(target: object) -> str:
    if isinstance(target, ModuleType):
        return target.__name__
    if isinstance(target, ToolkitBase):
        return f"Toolkit({target.name!r})"
    module = getattr(target, "__module__", type(target).__module__)
    return f"{module}:{getattr(target, '__qualname__', type(target).__name__)}"


@cache
def defaults() -> Mapping[str, Any]:
    """Return the lowest layer of configuration: the defaults of built-in plugins, and the variables that set keys.

    No plugin is imported. Without installed built-in plugins, only variables of the `[host]` section are known.
    """
    lists: dict[str, list[str]] = {}
    environment = {kind: dict(variables) for kind, variables in HOST_VARIABLES.items()}
    for name, facts in sorted(own_facts().items(), key=lambda plugin: plugin[1].place):
        if isinstance(facts.default, str):
            lists.setdefault(facts.default, []).append(name)
        for variable, kind, text in facts.variables(name):
            environment.setdefault(kind, {})[variable] = text
    plugins: dict[str, dict[str, Any]] = {
        name: {} for name, facts in sorted(own_facts().items()) if facts.default is True
    }
    return {"host": lists, "plugins": plugins, "environment": environment}


def named_facts(config: HostConfig) -> Mapping[str, PluginFacts]:
    """Return the facts of built-in plugins, and those of third-party plugins that the configuration names."""
    facts_by_name = dict(own_facts())
    if third_party := {*config.plugins, *config.host.plugins, *config.host.transports} - facts_by_name.keys():
        named = ((origin.name, facts_of(origin)) for origin in find_plugins().origins if origin.name in third_party)
        facts_by_name |= {name: facts for name, facts in named if facts is not None}
    return facts_by_name


def other_variables(config: HostConfig) -> Mapping[str, Mapping[str, str]]:
    """Return the variables of other systems by kind. A variable of pegboard has no second meaning."""
    variables = {kind: dict(names) for kind, names in defaults()["environment"].items()}
    known = {name for names in variables.values() for name in names}
    for plugin, facts in named_facts(config).items():
        for variable, kind, text in facts.variables(plugin):
            if variable not in known:
                variables.setdefault(kind, {})[variable] = text
    return variables


def provided(kind: Literal["commands", "transports"]) -> Mapping[str, str]:
    """Return the commands or transports of built-in plugins by name, each with its plugin."""
    if kind == "transports":
        return {name: plugin for plugin, facts in own_facts().items() for name in facts.transports}
    commands = ((name, plugin, of) for plugin, facts in own_facts().items() for name, of in facts.commands.items())
    return {name: plugin for name, plugin, of in commands if of.is_own}


def config_of(given: HostConfig | Mapping[str, Any] | None, mount: Mapping[str, Any]) -> HostConfig:
    """Return the configuration of a host that a program makes.

    Args:
        given: the configuration, or a mapping with the structure of `hostconfig.toml`.
        mount: the servers of the program, for the section of the plugin that mounts servers.

    Raises:
        ConfigError: the configuration is invalid, or no built-in plugin mounts servers.
    """
    config = given if isinstance(given, HostConfig) else HostConfig.of(given or {}, defaults=defaults())
    if not mount:
        return config
    plugin = next((name for name, facts in own_facts().items() if facts.mounts), None)
    if plugin is None:
        raise ConfigError(["the built-in plugin that mounts servers is not installed: omit mount"])
    if not isinstance(mount, Mapping):
        raise ConfigError([f"mount must be a mapping of names to servers, not {type(mount).__name__}"])
    servers = {name: {"object": server} for name, server in mount.items()}
    return config.with_section(plugin, {"servers": servers})


def choose_plugins(origins: Sequence[Origin], config: HostConfig, selection: Selection) -> list[PluginChoice]:
    """Return the choice for each plugin: enabled or not, and the reason."""
    built_in = {_folded(origin.name) for origin in origins if is_built_in(origin)}
    choices = [_choose(origin, config, selection, built_in) for origin in origins]
    selected = {
        (choice.origin.kind, choice.origin.name): choice.origin for choice in choices if choice.on and choice.selected
    }
    return [_unless_another_is_selected(choice, selected) for choice in choices] if selected else choices


def _unless_another_is_selected(
    choice: PluginChoice, selected: Mapping[tuple[PluginKind, str], Origin]
) -> PluginChoice:
    other = selected.get((choice.origin.kind, choice.origin.name))
    if other is None or choice.selected or not choice.on:
        return choice
    return PluginChoice(choice.origin, False, f"{f'{other.distribution}:{other.name}'!r} is selected instead")


def unused_options(choices: Sequence[PluginChoice], config: HostConfig) -> Iterator[ConfigProblem]:
    """Yield a problem for each option of the command line whose plugin is disabled."""
    on = {choice.origin.name for choice in choices if choice.on}
    for choice in choices:
        name, path = choice.origin.name, (SECTION_OF_KIND[choice.origin.kind], choice.origin.name)
        if name not in on and any(config.source((*path, key)).kind == "command line" for key in config.section(*path)):
            fix = "enable the plugin, or omit the option"
            yield config.problem(f"an option sets this section, but the plugin is {choice.reason}; {fix}", path)


def names_origin(text: str, origin: Origin) -> bool:
    """Return True if an entry of a `[host]` list is the plugin's name or its `distribution:name`."""
    return text == origin.name or selects(text, origin)


def selects(text: str | None, origin: Origin) -> bool:
    """Return True if a string is exactly the plugin's `distribution:name`."""
    return (
        text is not None
        and ":" in text
        and not set(text) & WILD
        and Patterns((text,)).match_plugin(origin.name, origin.distribution)
    )


def _folded(name: str) -> str:
    """Return a name in the form for comparisons with the names of built-in plugins."""
    return name.strip().casefold().replace("-", "_")


def is_built_in(origin: Origin) -> bool:
    """Return True if the plugin is part of pegboard."""
    return origin.kind == "plugin" and origin.distribution == OWN_DISTRIBUTION


def _choose(origin: Origin, config: HostConfig, selection: Selection, built_in: Container[str]) -> PluginChoice:
    by_default = is_built_in(origin) and origin.name in defaults().get("plugins", {})
    if selection.safe and is_built_in(origin) and origin.name in config.host.transports:
        return PluginChoice(origin, True, "the transport that was asked for", named=True)
    if selection.safe:
        by_default = by_default or (is_built_in(origin) and origin.name in defaults()["host"]["secret_stores"])
        reason = "on by default" if by_default else "--safe starts with the built-in defaults alone"
        return PluginChoice(origin, by_default, reason)
    if (origin.kind, origin.name) in selection.without:
        return PluginChoice(origin, False, LEFT_OUT_BY_COMMAND)
    if disabled := _disabled_by(origin, config):
        return PluginChoice(origin, False, disabled)
    if origin.kind == "plugin" and not is_built_in(origin) and _folded(origin.name) in built_in:
        return PluginChoice(
            origin, False, "it has the name of a built-in plugin, so it is refused; rename it", refused=True
        )
    pattern = Patterns(selection.only).which_plugin(origin.name, origin.distribution)
    if selection.only and origin.kind == "toolkit" and pattern is None:
        return PluginChoice(origin, False, LEFT_OUT)
    given = origin.entry_point is None and origin.found is None
    if source := _named_by(origin, config, pattern) or (selection.word if given else ""):
        lists = (*config.host.required, *config.host.plugins, *selection.only)
        return PluginChoice(origin, True, source, named=True, selected=any(selects(text, origin) for text in lists))
    if origin.found is not None:
        return PluginChoice(origin, True, f"found by [plugins.{origin.found_by}]")
    if origin.kind == "toolkit" and not selection.autoload:
        return PluginChoice(
            origin,
            False,
            f"only the named file or package is served; a section [toolkits.{origin.name}] enables it too",
        )
    return _unnamed(origin, config, by_default)


def _unnamed(origin: Origin, config: HostConfig, by_default: bool) -> PluginChoice:
    if by_default:
        return PluginChoice(origin, True, "on by default")
    if origin.kind == "plugin":
        return PluginChoice(origin, False, f"no section [plugins.{origin.name}] and no list in [host] names it")
    if config.host.autoload:
        return PluginChoice(origin, True, "installed")
    return PluginChoice(origin, False, f"[host] autoload is false; a section [toolkits.{origin.name}] turns it on")


def _disabled_by(origin: Origin, config: HostConfig) -> str | None:
    key = f"disabled_{origin.kind}s"
    patterns: Patterns = getattr(config, key)
    pattern = patterns.which_plugin(origin.name, origin.distribution)
    if pattern is None:
        return None
    return f"disabled by {pattern!r} in [host] {key} ({config.source(('host', key))})"


def _named_by(origin: Origin, config: HostConfig, pattern: str | None) -> str | None:
    """Return the section, list or option that names a plugin, in words. Return None if nothing does."""
    if named := naming(origin, config):
        place, source = named
        return f"named by {place} ({source})" if source.by_operator else "on by default"
    if origin.kind == "toolkit" and pattern is not None and not set(pattern) & WILD:
        return "named by --only"
    return None


def naming(origin: Origin, config: HostConfig) -> tuple[str, Source] | None:
    """Return the section or the list of `[host]` that names a plugin, and its source.

    Return None if nothing names it.
    """
    section = (f"{origin.kind}s", origin.name)
    if (source := config.source(section)).by_operator:
        return f"[{'.'.join(section)}]", source
    for key in _NAMING_LISTS[origin.kind]:
        for place, name in enumerate(getattr(config.host, key)):
            if names_origin(name, origin):
                return f"[host] {key}", config.source(("host", key, place))
    return None


def read_entry_points() -> tuple[list[Origin], list[LoadProblem]]:
    """Return the installed plugins and toolkits, and the problems with damaged and hidden distributions.

    If two distributions have the same name, the first on the module path is used, as for imports.
    """
    origins: list[Origin] = []
    errors: list[LoadProblem] = []
    warnings: list[LoadProblem] = []
    for distribution in importlib_metadata.distributions():
        try:
            readable, warning = _read(distribution)
        except Exception as error:  # noqa: BLE001 - a damaged file may raise anything
            errors.append(LoadProblem("find", _damage(distribution, error)))
            continue
        origins += readable
        if warning:
            warnings.append(LoadProblem("find", warning, level="warning"))
    return [*dict.fromkeys(origins)], [*dict.fromkeys(errors + warnings)]  # a folder may be on the module path twice


def _read(distribution: Any) -> tuple[list[Origin], str]:
    """Return the plugins and toolkits of a distribution, or a warning that they are ignored."""
    entries = [entry for entry in distribution.entry_points if entry.group in GROUPS]
    if not entries:
        return [], ""
    folder, metadata = _folder(distribution), distribution.metadata
    name, version = metadata["Name"], metadata["Version"]
    if os.path.basename(folder).startswith("~"):  # pip renames what it removes
        return [], f"{folder} is left over from an interrupted uninstallation and is ignored; remove it"
    first = next(iter(importlib_metadata.distributions(name=name)), distribution)
    if (there := _folder(first)) == folder:
        return [Origin(GROUPS[entry.group], entry.name, entry.value, name, version, entry) for entry in entries], ""
    if folder.endswith(".egg-info") and version == first.version:
        return [], ""  # the source of an editable installation
    return [], (
        f"{name} {version} in {os.path.dirname(folder)} is hidden by {name} {first.version} in "
        f"{os.path.dirname(there)}, which comes first on the module path; uninstall one of them"
    )


def _folder(distribution: Any) -> str:
    """Return the metadata folder of a distribution, or the nearest known path if the folder is unknown."""
    return os.path.realpath(str(getattr(distribution, "_path", None) or distribution.locate_file("")))


def _damage(distribution: Any, error: Exception) -> str:
    folder = _folder(distribution)
    owner, reason = os.path.basename(folder), f"{type(error).__name__}: {error}"
    with suppress(Exception):
        owner = f"{distribution.name} {distribution.version}"
    if isinstance(error, TypeError):  # the message of the library names its classes
        reason = "a line of entry_points.txt is not of the form `name = module:attribute`"
    return f"the entry points of {owner} cannot be read: {reason}; install it again, or remove {folder}"
