"""Finds plugins and toolkits by their entry points, and decides which of them run. Imports none of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import importlib_metadata

from pegboard.config import HostConfig
from pegboard.contracts import NOTHING
from pegboard.names import matches_plugin
from pegboard.plugins import GROUPS, Choice, Origin, PluginKind

OWN_DISTRIBUTION = "pegboard"


class Selection(NamedTuple):
    """What the command line says about plugins, above all configuration.

    Attributes:
        only: names, globs or `distribution:name`; toolkits that match none of them are left out. Empty means all.
        safe: the built-in plugins that are on by default, and nothing else.
        strict: every failure keeps the host from starting.
    """

    only: tuple[str, ...] = ()
    safe: bool = False
    strict: bool = False


class Given(NamedTuple):
    """Plugins and toolkits that a program hands over itself, which is consent enough."""

    plugins: Mapping[str, Any] = NOTHING
    toolkits: Mapping[str, Any] = NOTHING


def own_version() -> str:
    """The version of pegboard, "0" where it is not installed as a distribution."""
    try:
        return importlib_metadata.version(OWN_DISTRIBUTION)
    except importlib_metadata.PackageNotFoundError:
        return "0"


def find(given: Given | None = None) -> list[Origin]:
    """Every plugin and toolkit there is, sorted by name, then distribution: the same order on every machine."""
    origins = []
    for group, kind in GROUPS.items():
        for entry in importlib_metadata.entry_points(group=group):
            distribution = entry.dist
            name, version = (distribution.name, distribution.version) if distribution else ("", "")
            origins.append(Origin(kind, entry.name, entry.value, name, version, entry))
    handed: Sequence[tuple[PluginKind, Mapping[str, Any]]] = (
        ("plugin", given.plugins if given else {}),
        ("toolkit", given.toolkits if given else {}),
    )
    for kind, targets in handed:
        origins += [Origin(kind, name, _target(target), given=target) for name, target in targets.items()]
    return sorted(origins, key=lambda origin: (origin.name, origin.distribution))


def _target(target: object) -> str:
    module = getattr(target, "__module__", type(target).__module__)
    return f"{module}:{getattr(target, '__qualname__', type(target).__name__)}"


@cache
def defaults() -> Mapping[str, Any]:
    """The lowest layer of configuration: which built-in plugins run. Read without importing any of them.

    Empty where the built-in plugins are not installed.
    """
    import tomli

    spec = importlib.util.find_spec("pegboard_plugins")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "defaults.toml"
        if path.is_file():
            return tomli.loads(path.read_text("utf-8"))
    return {}


def choose(origins: Iterable[Origin], config: HostConfig, selection: Selection) -> list[Choice]:
    """For each plugin, whether it runs and by whose word."""
    return [_choose(origin, config, selection) for origin in origins]


def _choose(origin: Origin, config: HostConfig, selection: Selection) -> Choice:
    section = f"{origin.kind}s"
    by_default = (
        origin.kind == "plugin"
        and origin.distribution == OWN_DISTRIBUTION
        and origin.name in defaults().get("plugins", {})
    )
    if selection.safe:
        return Choice(
            origin, by_default, "on by default" if by_default else "--safe starts with the built-in defaults alone"
        )
    disabled = config.disabled_plugins if origin.kind == "plugin" else config.disabled_toolkits
    if pattern := disabled.which_plugin(origin.name, origin.distribution):
        where = config.source(("host", f"disabled_{section}"))
        return Choice(origin, False, f"disabled by {pattern!r} in [host] disabled_{section} ({where})")
    if (
        selection.only
        and origin.kind == "toolkit"
        and not matches_plugin(selection.only, origin.name, origin.distribution)
    ):
        return Choice(origin, False, "left out by --only")
    if source := _named_by(origin, config):
        return Choice(origin, True, source, named=True)
    if origin.given is not None:
        return Choice(origin, True, "handed over by the program", named=True)
    if by_default:
        return Choice(origin, True, "on by default")
    if origin.kind == "toolkit" and config.host.autoload:
        return Choice(origin, True, "installed")
    if origin.kind == "toolkit":
        return Choice(origin, False, f"[host] autoload is false; a section [toolkits.{origin.name}] turns it on")
    return Choice(origin, False, f"no section [plugins.{origin.name}] and no list in [host] names it")


def _named_by(origin: Origin, config: HostConfig) -> str | None:
    """The operator's word for a plugin: a section, an entry of a list, or `required`."""
    section = (f"{origin.kind}s", origin.name)
    if (source := config.source(section)).by_operator:
        return f"named by [{'.'.join(section)}] ({source})"
    lists = {"required": config.host.required}
    if origin.kind == "plugin":
        lists |= {
            "plugins": config.host.plugins,
            "transports": config.host.transports,
            "middleware": config.host.middleware,
        }
    for key, names in lists.items():
        if origin.name in names:
            return f"named by [host] {key} ({config.source(('host', key))})"
    return None
