"""Toolkits that are imported after the start: their settings before the import, and the import."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.config import ConfigProblem, HostConfig, validate_section
from pegboard.config.references import MASK, masked, references, resolve, unset_variables
from pegboard.errors import PluginError
from pegboard.loading.plugins import LoadedPlugin
from pegboard.loading.source_files import forget_outdated
from pegboard.messages.error_fields import failure_location, failure_text
from pegboard.messages.schema_errors import problems
from pegboard.plugin.origin import Origin
from pegboard.plugin.toolkit_loading import FoundToolkit, ToolkitLoader
from pegboard.wire.codec import encode

logger = logging.getLogger("pegboard.loading.loader")

_LATE_HOOKS = frozenset(("lifespan",))
"""The other hooks of a toolkit that may be imported late."""


class ToolkitLoaders:
    """The loaders of plugins, with the facts that they need about each toolkit.

    Args:
        config: the configuration of the host.
        loaders: the loaders.
    """

    def __init__(self, config: HostConfig, loaders: Sequence[ToolkitLoader]) -> None:
        self._config = config
        self._loaders = loaders
        self._host_settings = config.definition_settings("host")

    def load(self, origin: Origin, remark: Callable[[str], None]) -> Any | None:
        """Return the object of the first loader that loads a toolkit, or None."""
        toolkit = origin.found or FoundToolkit(
            origin.name, origin.target, origin.load, origin.distribution, origin.version
        )
        described = toolkit._replace(
            settings=self._config.definition_settings("toolkits", origin.name),
            has_secrets=_has_secrets(self._config, origin.name),
            host_settings=self._host_settings,
            remark=remark,
        )
        return next((made for loader in self._loaders if (made := loader.load(described)) is not None), None)


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


def import_late(plugin: LoadedPlugin, load: Callable[[], LoadedPlugin]) -> LoadedPlugin:
    """Import a toolkit that is served by its definitions, and return it with its contributions.

    Args:
        plugin: the toolkit as it was loaded at the start.
        load: loads the toolkit completely.

    Raises:
        PluginError: the toolkit failed, or contributes more than a lifespan, tools, resources and prompts.
    """
    try:
        forget_outdated(plugin.origin)
        fresh = load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        logger.debug("%s failed", plugin.origin, exc_info=True)
        place = failure_location(error, plugin.origin.module)
        raise PluginError(f"{plugin.origin} failed: {failure_text(error)}{place}") from error
    if others := {*fresh.other_hooks()} - _LATE_HOOKS:
        fix = "update the file from which it is listed, so that it is imported at the start"
        raise PluginError(f"{plugin.origin} now has {', '.join(sorted(others))}: {fix}")
    return fresh
