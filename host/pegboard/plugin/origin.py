"""The place that a plugin or a toolkit comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import importlib_metadata

PluginKind = Literal["plugin", "toolkit"]


class Origin(NamedTuple):
    """Where a plugin comes from.

    Attributes:
        kind: by which group it was found.
        name: its entry point's name, which is its name everywhere.
        target: the entry point's value, `module:attribute`.
        distribution: the distribution that brings it, "" for one that a program passed in itself.
        version: that distribution's version.
        entry_point: what loads it; None for one that a program passed in itself.
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
