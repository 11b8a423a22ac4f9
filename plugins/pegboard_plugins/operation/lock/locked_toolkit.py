"""A toolkit that is served from the lock, and the reasons to import a toolkit at the start instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pegboard import Context, MCPError
from pegboard.errors import RepeatCallError
from pegboard.plugin import (
    FoundToolkit,
    LateToolkit,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
)
from pegboard_plugins.operation.lock.canonical import digest_of
from pegboard_plugins.operation.lock.definition_objects import HOST_MEMBERS, host_options
from pegboard_plugins.operation.lock.verification import unlocked_reason
from pegboard_plugins.support.catalogue_lock import CatalogueLock, LockedDefinition, LockedOwner
from pegboard_plugins.support.json_types import wrong_type

_VERSION = "pegboard/version"
_TAGS = "pegboard/tags"


def reason_to_import(lock: CatalogueLock, toolkit: FoundToolkit) -> str | None:
    """Return the reason why a toolkit cannot be served from the lock, or None."""
    owner = lock.owners.get(f"toolkit:{toolkit.name}")
    if owner is None:
        return "pegboard.lock does not have it"
    if (owner.distribution, owner.version) != (toolkit.distribution, toolkit.version):
        return f"pegboard.lock has it from {owner.distribution} {owner.version}".rstrip()
    if hooks := [hook for hook in owner.hooks if hook != "lifespan"]:
        return f"it has hooks that run at the start ({', '.join(hooks)})"
    of_host = toolkit.host_settings or {}
    if any(key.startswith("host.tools.") or (key == "host.tools" and value) for key, value in of_host.items()):
        return "[host.tools] changes tools"
    if (digest_of(of_host), digest_of(toolkit.settings)) != (lock.host_digest, owner.settings_digest):
        return "its settings differ from those of pegboard.lock"
    if wrong := damage(owner):
        return f"pegboard.lock is damaged: {wrong}; restore the file, or remove it and run `pegboard lock`"
    return None


def locked_toolkit(lock: CatalogueLock, toolkit: FoundToolkit) -> LateToolkit:
    """Return the toolkit with the definitions of the lock.

    Its settings are those of the lock, which the toolkit has accepted. Only secrets may have changed. The host then
    validates the settings.
    """
    owner = lock.owners[f"toolkit:{toolkit.name}"]
    schema = owner.settings_schema
    return LateToolkit(
        toolkit.name,
        [*_tools(owner), *_resources(owner), *_prompts(owner)],
        partial(unlocked_reason, lock),
        settings_schema=schema if schema is None or toolkit.has_secrets else {},
        description=owner.description or None,
        version=_own_version(owner),
    )


def _own_version(owner: LockedOwner) -> str | None:
    """Return the version of the toolkit if it differs from the version of its distribution."""
    of_tools = [tool.definition for tool in owner.tools.values() if _VERSION not in tool.definition.get("_meta", {})]
    version = next(filter(None, (tool.get("version") for tool in of_tools)), None)
    return None if version == owner.version else version


async def _imported_first(called: Any, context: Context) -> MCPError:
    """Repeat a call that began with a definition of the lock, while the import of the toolkit ended."""
    raise RepeatCallError("The host has imported the toolkit: repeat the call.")


def _tools(owner: LockedOwner) -> Iterator[ToolDefinition]:
    for name, locked in owner.tools.items():
        definition = locked.definition
        version = definition.get("_meta", {}).get(_VERSION)
        raw = {member: value for member, value in definition.items() if member not in HOST_MEMBERS}
        own = host_options(definition)
        yield ToolDefinition(_imported_first, name=name, version=version, tags=_tags(locked), raw=raw, **own)


def _resources(owner: LockedOwner) -> Iterator[ResourceDefinition]:
    for uri, locked in owner.resources.items():
        yield ResourceDefinition(uri, _imported_first, tags=_tags(locked), raw=locked.definition)


def _prompts(owner: LockedOwner) -> Iterator[PromptDefinition]:
    for name, locked in owner.prompts.items():
        yield PromptDefinition(_imported_first, name=name, tags=_tags(locked), raw=locked.definition)


def _tags(locked: LockedDefinition) -> Sequence[str]:
    tags: Sequence[str] = locked.definition.get("_meta", {}).get(_TAGS, ())
    return tags


# --- Wrong types in the definitions of a lock, found before a toolkit is served from them.

_META: Mapping[str, Any] = {"pegboard/version": str, "pegboard/tags": list}
_TOOL: Mapping[str, Any] = {
    "title": str,
    "description": str,
    "inputSchema": {"type": str, "properties": dict, "required": list},
    "outputSchema": dict,
    "annotations": dict,
    "_meta": _META,
    **HOST_MEMBERS,
}
"""The types of the members with which a host serves a tool. A list has strings."""
_OTHER: Mapping[str, Any] = {"_meta": _META}
"""The types of such members of a resource or prompt. The host checks all others when it compiles the definition."""


def damage(owner: LockedOwner) -> str | None:
    """Return the first member of a toolkit's definitions that has a wrong type, and its right type, or None."""
    others = {**owner.resources, **owner.prompts}
    definitions = [(name, {"inputSchema": None, **tool.definition}, _TOOL) for name, tool in owner.tools.items()]
    definitions += [(name, dict(item.definition), _OTHER) for name, item in others.items()]
    for name, members, types in definitions:
        if (wrong := wrong_type(members, types)) is not None:
            return f"{name}: {'.'.join(wrong.path)} {wrong.problem}"
    return None
