"""The comparison of definitions with a lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.plugin import CheckedDefinition, encode
from pegboard_plugins.operation.lock.definition_objects import definition_object
from pegboard_plugins.support.catalogue_lock import CatalogueLock

_FIX = "`pegboard lock --update` shows the difference and accepts it"


def unlocked_reason(lock: CatalogueLock, checked: CheckedDefinition) -> str | None:
    """Return the reason why a definition is not the definition in the lock, with the fix. Return None if it is.

    Raises:
        TypeError: JSON cannot express the definition.
    """
    owner = lock.owners.get(checked.owner)
    locked = owner.items(checked.kind).get(checked.name) if owner is not None else None
    if owner is None or locked is None:
        return f"pegboard.lock has no such definition from {checked.owner}; {_FIX}"
    if (checked.distribution, checked.version) != (owner.distribution, owner.version):
        now, then = f"{checked.distribution} {checked.version}", f"{owner.distribution} {owner.version}"
        return f"it comes from {now.strip() or 'no distribution'}, pegboard.lock has {then.strip() or 'none'}; {_FIX}"
    definition = definition_object(checked.item)
    if not _is_same(definition, locked.definition):
        from pegboard_plugins.operation.lock.canonical import digest_of
        from pegboard_plugins.operation.lock.differences import definition_difference
        from pegboard_plugins.support.lock_files import RESTORE

        if digest_of(locked.definition) != locked.digest:
            return f"its digest in pegboard.lock does not match its definition there; {RESTORE}"
        if difference := definition_difference(locked.definition, definition):
            return f"it differs from pegboard.lock: {difference}; {_FIX}"
    described = getattr(checked.item, "owner_description", None) or ""
    if checked.kind == "tools" and described != owner.description:
        return f"the description of its toolkit differs from pegboard.lock; {_FIX}"
    return None


def _is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return True if two objects have the same members.

    The definitions of a toolkit that is imported later have the members of the lock.
    """
    return left.keys() == right.keys() and all(_is_equal(value, right[name]) for name, value in left.items())


def _is_equal(left: Any, right: Any) -> bool:
    """Return True if two members have the same JSON. Comparing JSON is faster than comparing the canonical form."""
    if left is right or (type(left) is str and type(right) is str and left == right):
        return True
    return encode(left) == encode(right)
