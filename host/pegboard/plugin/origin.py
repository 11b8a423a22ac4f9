"""The origin of plugins and toolkits."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from pegboard.errors import PluginError
from pegboard.records import NamedTuple

if TYPE_CHECKING:
    from pegboard.plugin.toolkit_loading import FoundToolkit

PluginKind = Literal["plugin", "toolkit"]


class EntryPoint(NamedTuple):
    """An entry point of an installed distribution.

    Attributes:
        name: its name.
        value: its object, `module:attribute`.
        group: its group, such as "pegboard.toolkits".
    """

    name: str
    value: str
    group: str

    @property
    def module(self) -> str:
        """The module of the object."""
        return self._parts()[0]

    def load(self) -> Any:
        """Import the module and return the object.

        Raises:
            PluginError: the value is not of the form `module:attribute`.
        """
        module, attributes = self._parts()
        if not all(name.isidentifier() for name in (*module.split("."), *attributes)):
            raise PluginError(f"its entry point {self.value!r} is not of the form `module:attribute`")
        loaded: Any = import_module(module)
        for attribute in attributes:
            loaded = getattr(loaded, attribute)
        return loaded

    def _parts(self) -> tuple[str, list[str]]:
        module, _, attributes = self.value.partition("[")[0].partition(":")
        return module.strip(), [name.strip() for name in attributes.split(".")] if attributes.strip() else []


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

    def load(self) -> Any:
        """Import the plugin or toolkit and return it. Return the object that a program passed."""
        if self.found is not None:
            return self.found.load()
        return self.given if self.entry_point is None else self.entry_point.load()

    def __str__(self) -> str:
        source = f" from {self.distribution} {self.version}".rstrip() if self.distribution else ""
        return f"{self.kind} {self.name!r}{source}"


PROGRAM = Origin("plugin", "program", "")
"""The origin of the tools, resources and prompts that a program adds through `Host.catalogue`."""
