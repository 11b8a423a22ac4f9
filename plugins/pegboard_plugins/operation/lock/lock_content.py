"""The lock of the items that a host serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

from pegboard import Host
from pegboard.plugin import CheckedDefinition
from pegboard.types import ItemKind
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.catalogue_lock import LOCKED_KINDS, CatalogueLock, LockedDefinition, LockedOwner
from pegboard_plugins.operation.lock.definition_objects import definition_object
from pegboard_plugins.operation.lock.lock_text import locked_definition


def lock_of(host: Host) -> CatalogueLock:
    """Return the lock of all items that a host serves.

    Raises:
        TypeError: JSON cannot express a definition.
    """
    groups: dict[str, list[CheckedDefinition]] = {}
    for checked in host.definitions():
        groups.setdefault(checked.owner, []).append(checked)
    owners = {name: _locked_owner(definitions) for name, definitions in groups.items()}
    for plugin in host.report.plugins:
        name = plugin.origin.name
        key = f"{plugin.origin.kind}:{name}"
        if owner := owners.get(key):
            # the facts that a host needs before it imports the plugin
            section = host.config.definition_settings("plugins" if plugin.origin.kind == "plugin" else "toolkits", name)
            owners[key] = owner._replace(
                hooks=plugin.other_hooks(),
                settings_schema=_schema(plugin.context.config),
                settings_digest=digest_of(section),
            )
    return CatalogueLock(owners, digest_of(host.config.definition_settings("host")))


def _locked_owner(definitions: Sequence[CheckedDefinition]) -> LockedOwner:
    items: dict[ItemKind, dict[str, LockedDefinition]] = {kind: {} for kind in LOCKED_KINDS}
    for definition in definitions:
        items[definition.kind][definition.name] = locked_definition(definition_object(definition.item))
    texts = (getattr(definition.item, "owner_description", None) for definition in definitions)
    return LockedOwner(
        distribution=definitions[0].distribution,
        version=definitions[0].version,
        description=next(filter(None, texts), ""),
        tools=items["tools"],
        resources=items["resources"],
        prompts=items["prompts"],
    )


def _schema(settings: Any) -> Mapping[str, Any] | None:
    """Return the JSON Schema of a plugin's settings."""
    try:
        return settings.model_json_schema() if isinstance(settings, BaseModel) else None
    except PydanticInvalidForJsonSchema:
        return None
