"""Checks of files: the state directory, and the modes of private files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from pegboard.plugin import CommandContext, Finding, SecretStore, StateFiles

_STATE_VARIABLE = "PEGBOARD_STATE_DIR"

_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_OTHER_STATE = f"set {_STATE_VARIABLE} to a directory that you can write"


def check_state_directory(command: CommandContext) -> Iterator[Finding]:
    """Report a state directory that is missing, not writable, full, or open to other users."""
    files = StateFiles(os.environ)
    folder = files.location
    if folder is None:
        message = "there is no state directory, because no home directory is set"
        yield Finding("warning", message, f"set HOME or {_STATE_VARIABLE}")
    elif not folder.exists():
        nearest = next(path for path in folder.parents if path.exists())
        if nearest.is_dir() and os.access(nearest, os.W_OK):
            yield Finding("warning", f"the state directory {folder} does not exist", repair=partial(_make, folder))
        else:
            yield Finding("warning", f"the state directory {folder} cannot be created", _OTHER_STATE)
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield Finding("warning", f"the state directory {folder} is not writable", _OTHER_STATE)
    else:
        yield from _state_mode(folder)
        try:
            files.probe()
        except OSError as error:
            message = f"the state directory {folder} cannot be written: {error.strerror}"
            yield Finding("warning", message, f"free some space, or {_OTHER_STATE}")
        for file in sorted(folder.iterdir()):
            if file.is_file() and not file.is_symlink():
                yield from _private(file, "the state file", stat.S_IRUSR | stat.S_IWUSR)


def _state_mode(folder: Path) -> Iterator[Finding]:
    status = folder.stat()
    mode = stat.S_IMODE(status.st_mode)
    if os.name != "posix" or not mode & (_WRITABLE_BY_OTHERS if status.st_uid != os.geteuid() else _OF_OTHERS):
        return
    level: Literal["error", "warning"] = "error" if mode & stat.S_IWOTH else "warning"
    who = "every user can write" if level == "error" else "other users can read or change"
    repair = partial(_change, folder, stat.S_IRWXU) if status.st_uid == os.geteuid() else None
    yield Finding(level, f"{who} the state directory {folder} (mode {mode:04o})", f"chmod 0700 {folder}", repair=repair)


def check_file_modes(command: CommandContext) -> Iterator[Finding]:
    """Report files of secrets that other users can read, and a configuration that other users can change."""
    host = command.host
    contributed = (each for plugin in host.report.plugins for hook in plugin.contributions.values() for each in hook)
    stores = [store for store in contributed if isinstance(store, SecretStore)]
    for read in {file for store in stores for file in store.files_read}:
        yield from _private(Path(read), "the file of secrets", stat.S_IRUSR | stat.S_IWUSR)
    refused = [Path(problem.file) for problem in host.config.problems if problem.file]
    for file in {path.absolute() for path in (host.config.file, *refused) if path is not None}:
        mode = _mode(file)
        if mode is not None and mode & _WRITABLE_BY_OTHERS:
            message = f"other users can change the configuration {file} (mode {mode:04o})"
            yield Finding("error", message, repair=partial(_change, file, mode & ~_WRITABLE_BY_OTHERS))


def _private(file: Path, label: str, wanted: int) -> Iterator[Finding]:
    mode = _mode(file)
    if mode is not None and mode & _OF_OTHERS:
        message = f"other users can read or change {label} {file} (mode {mode:04o})"
        yield Finding("warning", message, f"chmod {wanted:04o} {file}", repair=partial(_change, file, wanted))


def _mode(file: Path) -> int | None:
    """Return the mode of a file of this user. Other files cannot be changed, and Windows has no such modes."""
    if os.name != "posix":
        return None
    try:
        status = file.stat()
    except OSError:
        return None
    return stat.S_IMODE(status.st_mode) if status.st_uid == os.geteuid() else None


def _change(file: Path, mode: int) -> str:
    file.chmod(mode)
    return f"changed the mode of {file} to {mode:04o}"


def _make(folder: Path) -> str:
    folder.mkdir(mode=stat.S_IRWXU, parents=True)
    return f"created {folder}"
