"""The operator's settings that widen access. `WidensAccess` marks such settings in models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel, PlainSerializer

from pegboard.config.hostconfig import HostConfig
from pegboard.config.models import HostSection, WidensAccess, marked_fields
from pegboard.config.problems import KeyPath, dotted
from pegboard.config.references import SecretRef, masked, references

Models: TypeAlias = Mapping[str, Mapping[str, type[BaseModel] | None]]
"""The models of sections: `{"plugins": {name: model}, "toolkits": {name: model}}`. None means no settings."""


class AccessSetting(NamedTuple):
    """One setting that widens access.

    Attributes:
        key: its dotted key.
        value: its value, JSON-ready, with secrets masked.
        access: the access that the setting grants.
        source: its source.
    """

    key: str
    value: Any
    access: str
    source: str


def access_settings(config: HostConfig, models: Models) -> list[AccessSetting]:
    """Return the settings that widen access, in the order of the sections.

    Sections without an entry in `models` are ignored.
    """
    settings = list(_marked(config, ("host",), config.sources.tree.get("host", {}), HostSection))
    for kind, sections in (("plugins", config.plugins), ("toolkits", config.toolkits)):
        tree = config.sources.tree.get(kind, {})  # has also the variables of third-party plugins
        for name in dict.fromkeys((*sections, *tree)):
            section = sections.get(name, {})
            if name in models.get(kind, {}):
                settings += _marked(config, (kind, name), {**tree.get(name, {}), **section}, models[kind][name])
                settings += _referred(config, (kind, name), section)
    return settings


def unread_settings(config: HostConfig, name: str) -> Iterator[AccessSetting]:
    """Yield the operator's settings of a toolkit whose model is not imported yet. Each may widen access."""
    path, section = ("toolkits", name), config.section("toolkits", name)
    if not section:
        return
    for key, value in section.items():
        source = config.sources.around((*path, key))
        if source.by_operator and not isinstance(value, SecretRef):
            access = "may widen access; its toolkit is imported at the first call"
            yield AccessSetting(dotted((*path, key)), masked(value, (*path, key)), access, str(source))
    yield from _referred(config, path, section)


def _marked(
    config: HostConfig, path: KeyPath, section: Mapping[str, Any], model: type[BaseModel] | None
) -> Iterator[AccessSetting]:
    for name, field, mark in marked_fields(model, WidensAccess, in_parts=True) if model and section else ():
        key = field.alias or name
        if key not in section or isinstance(section[key], SecretRef):
            continue
        source = config.sources.around((*path, key))
        value = section[key]
        if source.by_operator and not _is_default(value, field.default) and not _harmless(mark, value):
            shown = masked(_as_shown(field.metadata, value), (*path, key))
            yield AccessSetting(dotted((*path, key)), shown, mark.access, str(source))


def _referred(config: HostConfig, path: KeyPath, section: Mapping[str, Any]) -> Iterator[AccessSetting]:
    for place, reference in references(section, path):
        source = config.sources.around(place)
        if source.by_operator:
            access = f"gives this {str(path[0]).removesuffix('s')} the variable {reference.env}"
            yield AccessSetting(dotted(place), {"env": reference.env}, access, str(source))


def _as_shown(metadata: Iterable[Any], value: Any) -> Any:
    """Return a value in the form of `config show`, such as a file mode in octal."""
    for mark in metadata:
        if isinstance(mark, PlainSerializer):
            serialize: Any = mark.func
            try:
                return serialize(value)
            except Exception:  # noqa: BLE001 - code of a plugin, and the value is not validated yet
                return value
    return value


def _is_default(value: Any, default: Any) -> bool:
    return bool(value == default) or (isinstance(value, list) and tuple(value) == default)


def _harmless(mark: WidensAccess, value: Any) -> bool:
    try:
        return mark.unless(value)
    except Exception:  # noqa: BLE001 - `unless` is code of a plugin, and the value is not validated yet
        return False
