"""Changes of source files."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Collection
from contextlib import aclosing, suppress
from typing import NamedTuple

MAX_WATCHED_FOLDERS = 500
SETTLE_MS = 100
"""The time for which files must stay unchanged, because an editor or an installer writes more than once."""

logger = logging.getLogger("pegboard")


class WatchedPlaces(NamedTuple):
    """The files whose changes are reported.

    Attributes:
        folders: folders, for their Python files.
        files: other files.
        installed: folders of the module path, for their distributions.
    """

    folders: Collection[str]
    files: Collection[str]
    installed: Collection[str] = frozenset()

    def has(self, path: str) -> bool:
        """Return True if changes of a path are reported."""
        folder, name = os.path.split(path)
        if name.endswith(".py"):
            return folder in self.folders
        return path in self.files or (name.endswith(".dist-info") and folder in self.installed)

    def watched(self) -> set[str]:
        """Return the folders to watch. They are watched without the folders below them."""
        return {
            folder
            for folder in (*self.folders, *self.installed, *map(os.path.dirname, self.files))
            if os.path.isdir(folder)
        }


def with_packages(folders: Collection[str]) -> frozenset[str]:
    """Return folders, and the folders with modules below them. Skip hidden folders and environments."""
    all_folders = set(folders)
    waiting = deque(sorted(folders))
    for _ in range(MAX_WATCHED_FOLDERS):
        if not waiting:
            break
        folder = waiting.popleft()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    all_folders.add(folder)
                elif entry.is_dir(follow_symlinks=False) and _may_have_modules(entry.name):
                    waiting.append(entry.path)
    return frozenset(all_folders)


def _may_have_modules(name: str) -> bool:
    return name.isidentifier() and name not in ("__pycache__", "node_modules")


async def watch_sources(folders: Collection[str], files: Collection[str], changed: Callable[[], None]) -> None:
    """Call a function once sources are watched, and after each change, until this is cancelled.

    Without the extra `reload`, call the function once and return.

    Args:
        folders: folders, for their Python files and those of the packages in them.
        files: other files.
        changed: the function.
    """

    def places() -> WatchedPlaces:
        return WatchedPlaces(folders=with_packages(folders), files={os.path.realpath(file) for file in files})

    await watch_places(places, changed)


async def watch_places(find: Callable[[], WatchedPlaces], changed: Callable[[], None]) -> None:
    """Call a function once the places are watched, and after each change, until this is cancelled.

    Without the extra `reload`, call the function once and return.

    Args:
        find: returns the places. New folders are found after a change.
        changed: the function.
    """
    try:
        from watchfiles import Change, awatch
    except ImportError:
        changed()
        logger.error(
            "changes of files are not noticed: watchfiles is not installed; install it with: pip install watchfiles"
        )
        return

    def counts(change: Change, path: str) -> bool:
        return places.has(path) or (change is Change.added and os.path.isdir(path))

    loop = asyncio.get_running_loop()
    while True:
        places = await asyncio.to_thread(find)
        loop.call_soon(changed)  # called after the watch has begun, so that no change is missed
        try:
            async with aclosing(
                awatch(
                    *places.watched(),
                    watch_filter=counts,
                    step=SETTLE_MS,
                    recursive=False,
                    ignore_permission_denied=True,
                )
            ) as batches:
                async for changes in batches:
                    if await asyncio.to_thread(find) != places:
                        break
                    if any(places.has(path) for _, path in changes):
                        changed()
        except OSError as error:
            logger.error("changes of files are not noticed: %s; set WATCHFILES_FORCE_POLLING=true", error)
            return
