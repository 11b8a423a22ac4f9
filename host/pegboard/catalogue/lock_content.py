"""The lock of the items that a host serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

from pegboard.catalogue.assembly import Assembly
from pegboard.catalogue.bound_definitions import SINGULAR
from pegboard.catalogue.item_checks import checked_definition
from pegboard.config import HostConfig
from pegboard.loading.late_toolkits import other_hooks
from pegboard.loading.plugins import SECTION_OF_KIND, LoadedPlugin
from pegboard.lockfile.catalogue_lock import CatalogueLock, LockedDefinition, LockedOwner
from pegboard.lockfile.definition_objects import definition_object
from pegboard.lockfile.lock_text import locked_definition
from pegboard.lockfile.settings_digests import host_digest, settings_digest
from pegboard.plugin.definition_checks import CheckedDefinition
from pegboard.records import NamedTuple
from pegboard.types.catalogue import ItemKind


def lock_of(assembly: Assembly, plugins: Iterable[LoadedPlugin], config: HostConfig) -> CatalogueLock:
    """Return the lock of all items of an assembly.

    Args:
        assembly: the assembly.
        plugins: the loaded plugins.
        config: the configuration of the host.

    Raises:
        TypeError: JSON cannot express a definition.
    """
    loaded = {(one.origin.kind, one.origin.name): one for one in plugins}
    groups: dict[str, _Group] = {}
    for kind in SINGULAR:
        bound: Mapping[str, Any] = getattr(assembly, kind)
        for name, value in bound.items():
            origin = assembly.origins[kind][name]
            checked = checked_definition(kind, name, origin, value)
            group = groups.setdefault(checked.owner, _Group([], loaded.get((origin.kind, origin.name))))
            group.definitions.append(checked)
    owners = {owner: _locked_owner(group, config) for owner, group in groups.items()}
    return CatalogueLock(owners, host_digest(config))


class _Group(NamedTuple):
    """The definitions of one owner, and their plugin."""

    definitions: list[CheckedDefinition]
    plugin: LoadedPlugin | None


def _locked_owner(group: _Group, config: HostConfig) -> LockedOwner:
    first = group.definitions[0]
    items: dict[ItemKind, dict[str, LockedDefinition]] = {kind: {} for kind in SINGULAR}
    for one in group.definitions:
        items[one.kind][one.name] = locked_definition(definition_object(one.item))
    texts = (getattr(one.item, "owner_description", None) for one in group.definitions)
    owner = LockedOwner(
        distribution=first.distribution,
        version=first.version,
        description=next(filter(None, texts), ""),
        tools=items["tools"],
        resources=items["resources"],
        prompts=items["prompts"],
    )
    is_plugin = group.plugin is not None and first.item.owner == group.plugin.origin.name
    return _with_settings(owner, group.plugin, config) if group.plugin is not None and is_plugin else owner


def _with_settings(owner: LockedOwner, plugin: LoadedPlugin, config: HostConfig) -> LockedOwner:
    """Return the owner with the facts that a host needs before it imports the plugin: hooks and settings."""
    kind, name = SECTION_OF_KIND[plugin.origin.kind], plugin.origin.name
    return owner._replace(
        hooks=other_hooks(plugin),
        settings_schema=_schema(getattr(plugin.instance, "Config", None)),
        settings_digest=settings_digest(config, kind, name),
    )


def _schema(model: type[BaseModel] | None) -> Mapping[str, Any] | None:
    try:
        return None if model is None else model.model_json_schema()
    except PydanticInvalidForJsonSchema:
        return None
