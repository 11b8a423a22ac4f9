"""The catalogue lock: the host serves only definitions that `pegboard.lock` contains. Docs: `docs/lock.md`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import (
    CheckedDefinition,
    DefinitionCheck,
    Middleware,
    Plugin,
    PluginContext,
    ToolkitLoader,
    hookimpl,
)
from pegboard.types import Inventory, ItemKind
from pegboard_plugins.operation.lock.verification import unlocked_reason
from pegboard_plugins.support.catalogue_lock import CatalogueLock
from pegboard_plugins.support.lock_files import LOCK_FILE_NAME, read_lock

if TYPE_CHECKING:
    from pegboard_plugins.operation.lock.lazy_start import LazyStart


class LockConfig(PluginConfig):
    """`[plugins.lock]`.

    Attributes:
        locked: serve only definitions in `pegboard.lock`. The host does not start without this file.
        lazy: import a toolkit at the first call of its items, and answer lists from `pegboard.lock`: true for all
            toolkits, or a list of names or globs.
        import_seconds: the time that a call waits for the import of a toolkit.
    """

    locked: bool = True
    lazy: bool | tuple[str, ...] = False
    import_seconds: float = Field(60, gt=0, le=3600)


MAX_NAMED_ITEMS_IN_WARNING = 3
"""The maximum number of removed items that the warning names."""


class LockPlugin(Plugin):
    """The plugin of the catalogue lock."""

    Config = LockConfig
    _made: tuple[list[LockCheck], list[LazyStart]] | None = None

    def _parts(self, context: PluginContext) -> tuple[list[LockCheck], list[LazyStart]]:
        """Return the comparison with the lock and the imports before first calls, each if the settings want it."""
        if self._made is None:
            self._made = self._make(context) if self.config.locked or self.config.lazy else ([], [])
        return self._made

    def _make(self, context: PluginContext) -> tuple[list[LockCheck], list[LazyStart]]:
        lock, path = read_lock(context.directory), Path(context.directory or "", LOCK_FILE_NAME)
        checks = [LockCheck(lock, path)] if self.config.locked else []
        if not self.config.lazy:
            return checks, []
        from pegboard_plugins.operation.lock.lazy_start import LazyStart

        names = ("*",) if self.config.lazy is True else self.config.lazy
        return checks, [LazyStart(lock, path, names, self.config.import_seconds)]

    @hookimpl
    def register_toolkit_loaders(self, context: PluginContext) -> Iterable[ToolkitLoader]:
        """Return the loader that imports toolkits at their first calls."""
        return self._parts(context)[1] if self.config.lazy else []

    @hookimpl
    def register_definition_checks(self, context: PluginContext) -> Iterable[DefinitionCheck]:
        """Return the comparison with the lock."""
        return self._parts(context)[0] if self.config.locked else []

    @hookimpl
    def register_middleware(self, context: PluginContext) -> Iterable[Middleware]:
        """Return the warning about items that are only in the lock, and the imports before first calls."""
        checks, lazy = self._parts(context)
        return [*checks, *lazy]


class LockCheck(Middleware, DefinitionCheck):
    """Rejects definitions that differ from a lock, and warns about items that are only in the lock.

    Args:
        lock: the lock.
        path: its file.

    Attributes:
        files_read: the file. A reload of the host reads it again if it has changed.
    """

    def __init__(self, lock: CatalogueLock, path: Path) -> None:
        self._lock = lock
        self._path = path
        self.files_read = [str(path)]
        self._owners: set[str] = set()
        self._rejected: set[tuple[ItemKind, str]] = set()

    def rejection(self, definition: CheckedDefinition) -> str | None:
        """Return the difference between a definition and the lock, or None."""
        self._owners.add(definition.owner)
        reason = unlocked_reason(self._lock, definition)
        if reason is not None:
            self._rejected.add((definition.kind, definition.name))
        return reason

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Return a warning that names locked items which their owners no longer have."""
        served: dict[ItemKind, Iterable[str]] = {
            "tools": inventory.tools,
            "resources": inventory.resources,
            "prompts": inventory.prompts,
        }
        gone = [
            f"{kind.removesuffix('s')} {name!r}"
            for owner in sorted(self._owners & self._lock.owners.keys())
            for kind, names in served.items()
            for name in self._lock.owners[owner].items(kind)
            if name not in names and (kind, name) not in self._rejected
        ]
        if not gone:
            return
        these, them = ("this item", "it") if len(gone) == 1 else ("these items", "them")
        more = f" and {len(gone) - MAX_NAMED_ITEMS_IN_WARNING} more" if len(gone) > MAX_NAMED_ITEMS_IN_WARNING else ""
        some = ", ".join(gone[:MAX_NAMED_ITEMS_IN_WARNING]) + more
        yield (
            f"the host does not serve {these} of {self._path}: {some}; "
            f"`pegboard lock --check` shows the differences, and `pegboard lock --update` removes {them} from the file"
        )
