"""Reading of the text of a lock file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic_core import from_json

from pegboard_plugins.operation.lock.catalogue_lock import (
    CANONICAL_FORM,
    LOCK_FORMAT,
    CatalogueLock,
    LockedDefinition,
    LockedOwner,
    LockFileError,
)

Read = TypeVar("Read")


class _DamageError(Exception):
    """A value has the wrong type.

    Args:
        problem: the type that it must have, as a clause such as "must be a string".
        path: the members from the value that was read to the wrong one.
    """

    def __init__(self, problem: str, *path: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path


def parse_lock(data: bytes) -> CatalogueLock:
    """Return the content of a lock file.

    Raises:
        LockFileError: the text is not the text of a lock file, or has another format.
    """
    try:
        tree = from_json(data)
    except ValueError as error:
        raise LockFileError(f"is not JSON: {error}") from None
    if not isinstance(tree, dict) or "format" not in tree:
        raise LockFileError('is not a lock file: it has no member "format"')
    versions = tree["format"], tree.get("canonical_form")
    if versions != (LOCK_FORMAT, CANONICAL_FORM):
        raise LockFileError(
            f"has format {versions[0]!r:.60} and canonical form {versions[1]!r:.60}; "
            f"this host reads format {LOCK_FORMAT} and canonical form {CANONICAL_FORM}"
        )
    try:
        return CatalogueLock(_member(tree, "owners", _owners), _member(tree, "host_digest", _text, ""))
    except _DamageError as damage:
        from pegboard_plugins.operation.lock.member_paths import member_path

        raise LockFileError(f"is damaged: {member_path(damage.path)} {damage.problem}") from None


def _member(tree: Mapping[str, Any], name: str, read: Callable[[Any], Read], default: Any = None) -> Read:
    """Return a member, or the default, as `read` returns it."""
    try:
        return read(tree.get(name, default))
    except _DamageError as damage:
        raise _DamageError(damage.problem, name, *damage.path) from None


def _owners(value: object) -> dict[str, LockedOwner]:
    tree = _object(value)
    return {name: _member(tree, name, _owner) for name in tree}


def _owner(value: object) -> LockedOwner:
    tree = _object(value)
    return LockedOwner(
        distribution=_member(tree, "distribution", _text, ""),
        version=_member(tree, "version", _text, ""),
        description=_member(tree, "description", _text, ""),
        hooks=_member(tree, "hooks", _texts, []),
        settings_schema=_member(
            tree, "settings_schema", lambda settings: None if settings is None else _object(settings)
        ),
        settings_digest=_member(tree, "settings_digest", _text, ""),
        tools=_member(tree, "tools", _items, {}),
        resources=_member(tree, "resources", _items, {}),
        prompts=_member(tree, "prompts", _items, {}),
    )


def _items(value: object) -> dict[str, LockedDefinition]:
    tree = _object(value)
    return {name: _member(tree, name, _definition) for name in tree}


def _definition(value: object) -> LockedDefinition:
    tree = _object(value)
    return LockedDefinition(_member(tree, "digest", _text), _member(tree, "definition", _object))


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _DamageError("must be a list of strings")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _DamageError("must be a string")
    return value


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _DamageError("must be an object")
    return value
