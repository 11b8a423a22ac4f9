"""The settings of `[plugins.lock]`."""

from __future__ import annotations

from pydantic import Field

from pegboard import PluginConfig


class LockConfig(PluginConfig):
    """`[plugins.lock]`.

    Attributes:
        locked: serve only definitions that `pegboard.lock` has. The host does not start without this file.
        lazy: import a toolkit at the first call of its items, and answer lists from `pegboard.lock`. true for all
            toolkits, or a list of names or globs. The lifespan of a lazy toolkit begins after its import. The host
            imports toolkits with other hooks at the start, and those with another version or other settings than in the
            lock.
        import_seconds: the time that a call waits for the import of a toolkit.
    """

    locked: bool = True
    lazy: bool | tuple[str, ...] = False
    import_seconds: float = Field(60, gt=0, le=3600)
