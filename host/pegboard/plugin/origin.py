"""The origin of plugins and toolkits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import importlib_metadata

PluginKind = Literal["plugin", "toolkit"]


class Origin(NamedTuple):
    """The origin of a plugin or toolkit.

    Attributes:
        kind: "plugin" or "toolkit", by the group of its entry point.
        name: the name of its entry point, which is its name everywhere.
        target: the value of its entry point, `module:attribute`.
        distribution: the distribution that brings it; "" for one that a program passed in.
        version: the version of that distribution.
        entry_point: loads it; None for one that a program passed in.
        given: the object that a program passed in.
    """

    kind: PluginKind
    name: str
    target: str
    distribution: str = ""
    version: str = ""
    entry_point: importlib_metadata.EntryPoint | None = None
    given: Any = None

    def __str__(self) -> str:
        source = f" from {self.distribution} {self.version}".rstrip() if self.distribution else ""
        return f"{self.kind} {self.name!r}{source}"
