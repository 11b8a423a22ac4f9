"""The origin of plugins and toolkits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pegboard.errors import PluginError

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

    from pegboard.plugin.toolkit_loading import FoundToolkit

PluginKind = Literal["plugin", "toolkit"]


class Origin(NamedTuple):
    """The origin of a plugin or toolkit.

    Attributes:
        kind: "plugin" or "toolkit", by the group of its entry point.
        name: the name of its entry point. It is also the name of the plugin or toolkit.
        target: the value of its entry point, `module:attribute`.
        distribution: the distribution of the entry point; "" if a program passed the object.
        version: the version of the distribution.
        entry_point: the entry point; None if a program passed the object.
        given: the object that a program passed.
        found: the toolkit that a plugin found; None for others.
        found_by: the name of this plugin.
    """

    kind: PluginKind
    name: str
    target: str
    distribution: str = ""
    version: str = ""
    entry_point: EntryPoint | None = None
    given: Any = None
    found: FoundToolkit | None = None
    found_by: str = ""

    @property
    def module(self) -> str:
        """The module of the entry point; "" if there is no entry point."""
        return "" if self.entry_point is None else self.target.partition("[")[0].partition(":")[0].strip()

    def load(self) -> Any:
        """Import the plugin or toolkit and return it. Return the object that a program passed.

        Raises:
            PluginError: the value of the entry point is not of the form `module:attribute`.
        """
        if self.found is not None:
            return self.found.load()
        if self.entry_point is None:
            return self.given
        if not self.entry_point.pattern.match(self.target):
            raise PluginError(f"its entry point {self.target!r} is not of the form `module:attribute`")
        return self.entry_point.load()

    def __str__(self) -> str:
        source = f" from {self.distribution} {self.version}".rstrip() if self.distribution else ""
        return f"{self.kind} {self.name!r}{source}"


PROGRAM = Origin("plugin", "program", "")
"""The origin of the tools, resources and prompts that a program adds through `Host.catalogue`."""
