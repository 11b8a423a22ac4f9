"""The current configuration for `config show`: every value with its source. Secrets are masked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from pegboard.config.hostconfig import HostConfig
from pegboard.config.problems import ABSENT, KeyPath, dotted, step
from pegboard.config.references import SecretRef, references
from pegboard.config.secret_values import masked
from pegboard.config.sources import Source


@dataclass(frozen=True, slots=True)
class ConfigView:
    """The values of a configuration, and their sources.

    Attributes:
        values: "host", "plugins" and "toolkits" as nested, JSON-ready tables. References are `{"env": NAME}`. Secrets
            are masked.
        sources: the source of each value by its dotted key, in the order of `values`. A list is one value.
        file: the configuration file, or None if no file was read.
    """

    values: Mapping[str, Any]
    sources: Mapping[str, Source]
    file: str | None


def config_show(config: HostConfig, settings: Mapping[str, Mapping[str, BaseModel | None]] | None = None) -> ConfigView:
    """Return the current configuration.

    Args:
        config: the configuration.
        settings: the validated settings of running plugins, `{"plugins": {name: model}, "toolkits": ...}`. Their
            defaults are shown too.
    """
    values: dict[str, Any] = {"host": masked(config.host.model_dump(), ("host",))}
    for kind, sections in (("plugins", config.plugins), ("toolkits", config.toolkits)):
        models = (settings or {}).get(kind, {})
        names = sorted({*sections, *(name for name, model in models.items() if model is not None)})
        values[kind] = {name: _section((kind, name), sections.get(name, {}), models.get(name)) for name in names}
    sources = {dotted(path): config.source(path) for path in _leaves(values)}
    return ConfigView(values, sources, str(config.file) if config.file else None)


def _section(path: KeyPath, section: Mapping[str, Any], model: BaseModel | None) -> Any:
    if model is None:
        return masked(section, path)
    dump = model.model_dump(mode="json", by_alias=True, fallback=str)
    for way, ref in references(section):
        _put(dump, way, ref)
    return masked(dump, path)


def _put(value: Any, way: KeyPath, ref: SecretRef) -> None:
    """Replace the value of a reference by the reference, unless the model changed the structure of its values."""
    for part in way[:-1]:
        value = step(value, part)
    if step(value, way[-1]) is not ABSENT:
        value[way[-1]] = ref


def _leaves(value: Mapping[str, Any], path: KeyPath = ()) -> Iterator[KeyPath]:
    for key, item in value.items():
        if isinstance(item, Mapping) and item and not (len(path) >= 2 and item.keys() == {"env"}):
            yield from _leaves(item, (*path, key))
        elif len(path) >= 1:
            yield (*path, key)
