"""Definitions with invisible characters. A host refuses them, and `pegboard lock` shows them."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.plugin import text_problems
from pegboard_plugins.support.catalogue_lock import LOCKED_KINDS, CatalogueLock, LockedDefinition, LockedOwner


def with_hidden_text(lock: CatalogueLock) -> CatalogueLock:
    """Return a lock with only the definitions that have invisible characters."""
    owners = {name: _refused(owner) for name, owner in lock.owners.items()}
    return CatalogueLock({name: owner for name, owner in owners.items() if any(map(owner.items, LOCKED_KINDS))})


def _refused(owner: LockedOwner) -> LockedOwner:
    return LockedOwner(tools=_hidden(owner.tools), resources=_hidden(owner.resources), prompts=_hidden(owner.prompts))


def _hidden(items: Mapping[str, LockedDefinition]) -> Mapping[str, LockedDefinition]:
    return {name: locked for name, locked in items.items() if any(text_problems(locked.definition))}
