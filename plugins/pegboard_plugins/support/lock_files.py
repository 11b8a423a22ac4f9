"""Reading of `pegboard.lock`, which is beside the configuration file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from pegboard.plugin import StateFiles
from pegboard.terminal import dotted
from pegboard_plugins.support.catalogue_lock import (
    CANONICAL_FORM,
    LOCK_FORMAT,
    LOCKED_KINDS,
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


# --- The types of values in JSON that other programs may have changed.


_WORDS: Mapping[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}


class Each(NamedTuple):
    """The type of an object whose members all have one type, whatever their names."""

    type: Any


class WrongType(NamedTuple):
    """A value of a wrong type.

    Attributes:
        path: the names of the members that lead to it.
        problem: the type that it must have, as a clause such as "must be a string".
    """

    path: tuple[str, ...]
    problem: str


def wrong_type(value: Any, expected: Any) -> WrongType | None:
    """Return the first value of a wrong type, or None.

    Args:
        value: the value.
        expected: its type: `str`, `list` for a list of strings, `dict` for any object, `Each`, or the types of the
            members of an object, all of which may be missing.
    """
    kind: Any = expected if isinstance(expected, type) else dict
    if type(value) is not kind or (kind is list and not all(type(item) is str for item in value)):
        return WrongType((), f"must be {_WORDS[kind]}")
    if isinstance(expected, Each):
        expected = dict.fromkeys(value, expected.type)
    for name, member in expected.items() if isinstance(expected, Mapping) else ():
        if name in value and (wrong := wrong_type(value[name], member)) is not None:
            return WrongType((name, *wrong.path), wrong.problem)
    return None


# --- Reading of the text of a lock file.

_DEFINITIONS = Each({"digest": str, "definition": dict})
_OWNER: Mapping[str, Any] = {
    "distribution": str,
    "version": str,
    "description": str,
    "hooks": list,
    "settings_schema": dict,
    "settings_digest": str,
    **dict.fromkeys(LOCKED_KINDS, _DEFINITIONS),
}
_LOCK: Mapping[str, Any] = {"owners": Each(_OWNER), "host_digest": str}


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
    if (wrong := wrong_type(tree, _LOCK)) is not None:
        raise LockFileError(f"is damaged: {dotted(wrong.path)} {wrong.problem}")
    try:
        return CatalogueLock(
            {name: _owner(owner) for name, owner in tree["owners"].items()}, tree.get("host_digest", "")
        )
    except KeyError as error:
        raise LockFileError(f"is damaged: it has no member {error}") from None


def _owner(tree: Mapping[str, Any]) -> LockedOwner:
    members: dict[str, Any] = {name: tree[name] for name in _OWNER if name in tree}
    members["hooks"] = tuple(members.get("hooks", ()))
    for kind in LOCKED_KINDS:
        items = members.get(kind, {}).items()
        members[kind] = {name: LockedDefinition(item["digest"], item["definition"]) for name, item in items}
    return LockedOwner(**members)
