"""The additions of the lock to `pegboard doctor` and `pegboard why`."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard.plugin import CommandContext, Finding, StateFiles
from pegboard.terminal import same_name
from pegboard_plugins.support.catalogue_lock import LockFileError
from pegboard_plugins.support.lock_files import LOCK_FILE_NAME, lock_path, read_lock


def check_lock_file(command: CommandContext) -> Iterator[Finding]:
    """Report a lock that other users can change."""
    directory = command.host.config.trusted_directory
    if directory is None or not (file := lock_path(directory)).is_file():
        return
    if risk := StateFiles.others_can_change(file, file.stat()):
        fix = "look for changes in it, then change its owner or permissions"
        yield Finding("error", f"{file} is refused because {risk}", fix)


def explain_name(command: CommandContext) -> Iterator[Finding]:
    """Tell which owners have a tool of this name in the lock, although the running host does not list it."""
    directory = command.host.config.trusted_directory
    if directory is None or not lock_path(directory).exists():
        return
    try:
        lock = read_lock(directory)
    except LockFileError as error:
        yield Finding("error", str(error))
        return
    missing = {name for plugin in command.host.report.plugins for name in plugin.unavailable()}
    for owner, locked in lock.owners.items():
        state = "is not available now" if owner.rpartition("/")[2] in missing else "does not list it now"
        for tool in locked.tools:
            if same_name(tool, command.options.name):
                text = f"tool {tool}: not served; {LOCK_FILE_NAME} has it from {owner}, which {state}"
                yield Finding("warning", text)
