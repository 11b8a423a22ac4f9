"""Toolkits that plugins load in another way, and the settings of those that are imported after the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.config import ConfigProblem, HostConfig, validate_section
from pegboard.config.references import MASK, masked, references, resolve, unset_variables
from pegboard.messages.schema_errors import problems
from pegboard.plugin.origin import Origin
from pegboard.plugin.toolkit_loading import FoundToolkit, ToolkitLoader
from pegboard.wire.codec import encode


def loaded_by(
    loaders: Sequence[ToolkitLoader], origin: Origin, config: HostConfig, remark: Callable[[str], None]
) -> Any | None:
    """Return the object of the first loader that loads a toolkit, or None.

    Args:
        loaders: the loaders of plugins.
        origin: the toolkit.
        config: the configuration, from which loaders receive the settings on which the definitions depend.
        remark: receives the sentences of loaders about the toolkit.
    """
    toolkit = origin.found or FoundToolkit(origin.name, origin.target, origin.load, origin.distribution, origin.version)
    described = toolkit._replace(
        settings=config.definition_settings("toolkits", origin.name),
        has_secrets=_has_secrets(config, origin.name),
        host_settings=config.definition_settings("host"),
        remark=remark,
    )
    return next((made for loader in loaders if (made := loader.load(described)) is not None), None)


def _has_secrets(config: HostConfig, name: str) -> bool:
    """Return True if the section of a toolkit has secrets, or values of environment variables."""
    section = config.section("toolkits", name)
    if not section:
        return False
    return any(references(section)) or MASK.encode() in encode(masked(section, ("toolkits", name)))


def settings_problems(config: HostConfig, name: str, schema: Mapping[str, Any] | None) -> list[ConfigProblem]:
    """Return the problems of a toolkit's settings by their JSON Schema. No toolkit is imported."""
    section, path = config.section("toolkits", name), ("toolkits", name)
    if schema is None:
        return validate_section(config, "toolkits", name, None) or []
    if not schema or not (section or schema.get("required")):
        return []
    if unset := unset_variables(config.problem, section, path):
        return unset
    from jsonschema_rs import Draft202012Validator

    value = resolve(section)
    complaints = [
        complaint
        for error in Draft202012Validator(dict(schema)).iter_errors(value)
        for complaint in problems(error, value)
    ]
    return [config.problem(text, (*path, *map(str, place))) for place, text in complaints]
