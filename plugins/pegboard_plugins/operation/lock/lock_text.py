"""The text of a lock file, and its writing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pegboard_plugins.operation.lock.canonical import as_received, digest_of
from pegboard_plugins.operation.lock.visible_text import with_hidden_escaped
from pegboard_plugins.support.catalogue_lock import (
    CANONICAL_FORM,
    LOCK_FORMAT,
    LOCKED_KINDS,
    CatalogueLock,
    LockedDefinition,
    LockedOwner,
    LockFileError,
)
from pegboard_plugins.support.secret_files import replace_file


def locked_definition(definition: Mapping[str, Any]) -> LockedDefinition:
    """Return a definition with its digest.

    Raises:
        TypeError: JSON cannot express the definition.
    """
    return LockedDefinition(digest_of(definition), as_received(definition))


def wrong_digests(lock: CatalogueLock) -> Iterator[str]:
    """Yield the name of each item whose digest is not the digest of its definition."""
    for owner in lock.owners.values():
        for kind in LOCKED_KINDS:
            yield from (
                name for name, locked in owner.items(kind).items() if locked.digest != digest_of(locked.definition)
            )


def with_former_definitions(new: CatalogueLock, old: CatalogueLock) -> CatalogueLock:
    """Return a lock with the definitions of an older lock that are equal, so that the order of members is kept."""
    kept = {name: _with_former(owner, old.owners[name]) for name, owner in new.owners.items() if name in old.owners}
    return new._replace(owners={**new.owners, **kept})


def _with_former(new: LockedOwner, old: LockedOwner) -> LockedOwner:
    return new._replace(
        tools=_former(new.tools, old.tools),
        resources=_former(new.resources, old.resources),
        prompts=_former(new.prompts, old.prompts),
    )


def _former(new: Mapping[str, LockedDefinition], old: Mapping[str, LockedDefinition]) -> Mapping[str, LockedDefinition]:
    return {
        name: old[name] if name in old and old[name].digest == locked.digest else locked for name, locked in new.items()
    }


def lock_text(lock: CatalogueLock) -> bytes:
    """Return the text of a lock file. Owners and items are sorted; the members of definitions keep their order."""
    owners = {name: _owner_tree(lock.owners[name]) for name in sorted(lock.owners)}
    tree = {"format": LOCK_FORMAT, "canonical_form": CANONICAL_FORM, "host_digest": lock.host_digest, "owners": owners}
    return with_hidden_escaped(json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()


def _owner_tree(owner: LockedOwner) -> dict[str, Any]:
    tree = {name: member for name, member in owner._asdict().items() if member}
    for kind in LOCKED_KINDS:
        if items := owner.items(kind):
            tree[kind] = {name: items[name]._asdict() for name in sorted(items)}
    return tree


def write_lock(lock: CatalogueLock, path: Path, configuration: Path | None) -> None:
    """Write a lock. A new file gets the permissions and the owner of the configuration file.

    Raises:
        LockFileError: the file cannot be written.
    """
    try:
        replace_file(path, lock_text(lock), like=None if path.exists() else configuration)
    except OSError as error:
        raise LockFileError(f"{path} cannot be written: {error.strerror}") from error
