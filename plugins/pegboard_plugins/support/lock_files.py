"""Reading of `pegboard.lock`, which is beside the configuration file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from pegboard.plugin import StateFiles
from pegboard.terminal import dotted
from pegboard_plugins.support.catalogue_lock import (
    CANONICAL_FORM,
    LOCK_FORMAT,
    CatalogueLock,
    LockedDefinition,
    LockedOwner,
    LockFileError,
)

LOCK_FILE_NAME = "pegboard.lock"
MAX_LOCK_BYTES = 64 * 1024 * 1024
"""The maximum size of a lock file."""
RESTORE = "restore the file, or remove it and run `pegboard lock`"


def lock_path(directory: str | Path | None) -> Path:
    """Return the path of the lock file.

    Args:
        directory: the directory of the configuration file; None without a configuration file.

    Raises:
        LockFileError: no configuration file is in use.
    """
    if directory is None:
        fix = "create hostconfig.toml, or name a file with --config"
        raise LockFileError(f"{LOCK_FILE_NAME} must be beside a configuration file, but the host uses none: {fix}")
    return Path(directory) / LOCK_FILE_NAME


def read_lock(directory: str | Path | None) -> CatalogueLock:
    """Return the lock beside the configuration file. Any problem with it is an error, so that the host fails closed.

    Args:
        directory: the directory of the configuration file, as in `PluginContext`.

    Raises:
        LockFileError: the lock is missing, other users could change it, or it cannot be read.
    """
    path = lock_path(directory)
    if not path.exists():
        raise LockFileError(f"{path} does not exist: create it with `pegboard lock`")
    data = _data(path)
    if len(data) > MAX_LOCK_BYTES:
        raise LockFileError(f"{path} has more than {MAX_LOCK_BYTES:,} bytes; {RESTORE}")
    try:
        return parse_lock(data)
    except LockFileError as error:
        raise LockFileError(f"{path} {error}; {RESTORE}") from None


def _data(path: Path) -> bytes:
    """Return the bytes of a lock, up to one more than the maximum size.

    Raises:
        LockFileError: the file cannot be read, is not a regular file, or other users could change it.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            data, risk = file.read(MAX_LOCK_BYTES + 1), StateFiles.others_can_change(path, status)
    except OSError as error:
        raise LockFileError(f"{path} cannot be read: {error.strerror}") from None
    if risk is not None:
        raise LockFileError(f"{path} is refused because {risk}; change its owner or permissions")
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


# --- Reading of the text of a lock file.

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
        raise LockFileError(f"is damaged: {dotted(damage.path)} {damage.problem}") from None


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
