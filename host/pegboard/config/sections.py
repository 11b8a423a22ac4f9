"""Validation of the sections of plugins and toolkits, and problems with names of sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from pydantic import BaseModel

from pegboard.config.environment import other_value
from pegboard.config.hostconfig import HostConfig, Kind, ListName
from pegboard.config.models import SharedKeys, StoreName, marked_fields
from pegboard.config.problems import ConfigProblem, KeyPath, dotted, in_order
from pegboard.config.references import SecretRef, references, resolve, unset_variables
from pegboard.config.sources import Layer
from pegboard.config.validation import validate
from pegboard.names import with_nearest

_M = TypeVar("_M", bound=BaseModel)

DeclaredVariable: TypeAlias = tuple[str, str, str]
"""A key of a section, the variable that sets it, and the kind of the variable (`SETTING_KINDS`)."""
Variables: TypeAlias = Sequence[DeclaredVariable]


@overload
def validate_section(
    config: HostConfig, kind: Kind, name: str, model: type[_M], variables: Variables = ...
) -> _M | list[ConfigProblem]: ...
@overload
def validate_section(
    config: HostConfig, kind: Kind, name: str, model: None, variables: Variables = ...
) -> list[ConfigProblem] | None: ...
def validate_section(
    config: HostConfig, kind: Kind, name: str, model: type[BaseModel] | None, variables: Variables = ()
) -> BaseModel | list[ConfigProblem] | None:
    """Validate the section of a plugin or toolkit. Return the settings as an object of its model, or the problems.

    References `{ env = "NAME" }` are replaced by the values of the variables. An unset or empty variable is a problem.
    `PluginConfig.folder_of` returns the base of relative paths to validators.

    Args:
        config: the configuration.
        kind: "plugins" or "toolkits".
        name: the name of the plugin or toolkit. Without a section, the model's defaults are used.
        model: the model, or None for a plugin without settings. If the section is empty too, the result is None.
        variables: the variables that set keys of the section and that the defaults do not list.
    """
    section, path = config.section(kind, name), (kind, name)
    if model is None:
        return [config.problem("takes no settings", (*path, key)) for key in section] or None
    section = {**_of_host(config, model), **section, **_from_environment(config, path, variables)}
    refs = dict(references(section, path))
    missing = [place for place, ref in refs.items() if ref.value is None]
    problems = unset_variables(config.problem, section, path)
    checked = validate(model, resolve(section), config.sources, path, _folders(config, path, section), refs)
    if isinstance(checked, list):
        # a problem of a table may follow from the unset variable in it
        unset = {dotted(place[:end]) for place in missing for end in range(len(path), len(place) + 1)}
        problems += [problem for problem in checked if problem.key not in unset]
    return in_order(problems) or checked


def _of_host(config: HostConfig, model: type[BaseModel]) -> dict[str, Any]:
    """Return the settings whose defaults are the shared state of `[host]`."""
    keys = tuple(key.get_secret_value() for key in config.host.state_keys)
    defaults: dict[str, Any] = {key: keys for key, _, _ in marked_fields(model, SharedKeys) if keys}
    return defaults | {key: config.host.state for key, _, _ in marked_fields(model, StoreName) if config.host.state}


def _from_environment(config: HostConfig, path: KeyPath, variables: Variables) -> dict[str, Any]:
    """Return the settings from variables that the defaults do not list."""
    values: dict[str, Any] = {}
    environ = config.environ or {}
    for key, variable, kind in variables if environ else ():
        text = environ.get(variable, "").strip()
        here = (*path, key)
        if not text or config.source(here).kind in ("environment", "command line", "code"):
            continue
        value = other_value(kind, variable, text)
        values[key] = SecretRef(variable, environ[variable]) if kind == "secrets" else value
        section, name = map(str, path)
        tree = {section: {name: {key: value}}}
        config.sources.lay(Layer("environment", tree, variables={here: variable}, raw={here: text}))
    return values


def _folders(config: HostConfig, path: KeyPath, section: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the base of relative paths, and the keys whose values have a different base."""
    elsewhere = (key for key in section if config.source((*path, key)).kind in ("environment", "command line"))
    return {"directory": config.directory, "folders": dict.fromkeys(elsewhere, config.working_directory)}


def unknown_sections(config: HostConfig, kind: Kind, names: Iterable[str]) -> list[ConfigProblem]:
    """Return a problem for each section of the operator's configuration with an unknown name."""
    names = set(names)
    sections = config.plugins if kind == "plugins" else config.toolkits
    unknown = [name for name in sections if name not in names and config.source((kind, name)).by_operator]
    return [
        config.problem(f"no {kind[:-1]} with this name is installed", (kind, name), close)
        for name, close in with_nearest(unknown, names)
    ]


def unmatched_patterns(
    config: HostConfig, key: ListName, unmatched: Iterable[str], forms: Iterable[str]
) -> list[ConfigProblem]:
    """Return a problem for each pattern of a list that matches nothing.

    Args:
        config: the configuration.
        key: the key of the list.
        unmatched: the patterns, from `Patterns.unmatched` or `Patterns.unmatched_plugins`.
        forms: the names that exist, for suggestions.
    """
    places = {text: place for place, text in reversed(tuple(enumerate(getattr(config.host, key))))}
    return [
        config.problem(f'"{text}" matches nothing', ("host", key, places[text]), close)
        for text, close in with_nearest(unmatched, forms)
    ]
