"""Names of other frameworks that pegboard does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def missing_names(module: str) -> Callable[[str], NoReturn]:
    """Return the `__getattr__` of a module. Its ImportError names what a server with the import can do."""

    def refuse(name: str) -> NoReturn:
        if name.startswith("_"):  # Python asks for such names
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise ImportError(
            f"{module} has no {name!r}: see docs/migration.md, or mount the unchanged server with "
            "[plugins.upstreams.servers.NAME] in hostconfig.toml",
            name=module,
        )

    return refuse
