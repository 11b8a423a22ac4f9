"""Toolkits that plugins find, and plugins that decide how toolkits are loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from pegboard.authoring.late_toolkit import LateToolkit
    from pegboard.plugin.base import Plugin
    from pegboard.toolkit import Toolkit


def _ignore(remark: str) -> None:
    """Ignore a remark. Used outside of a host."""


class FoundToolkit(NamedTuple):
    """A toolkit that is not imported yet.

    Attributes:
        name: its name, which is also the name of its section `[toolkits.NAME]`.
        target: the place of its code, such as "weather.py:kit", for people.
        load: a function that imports the toolkit and returns it: a `Toolkit`, or a module with hooks.
        distribution: the distribution that contains it; "" for none.
        version: the version of the distribution.
        folders: folders from which its code imports modules. The host adds them at the end of the module path, and
            `--reload` watches their Python files, but no other files.
        settings: its section `[toolkits.NAME]` by dotted key, with secrets masked. The host sets it for loaders.
        has_secrets: True if `settings` lacks values of the section: secrets, and values of environment variables. The
            host sets it for loaders.
        host_settings: the keys of `[host]` that change definitions, like `settings`. The host sets it for loaders.
        remark: a function to which a loader passes a sentence for `pegboard plugins`.
    """

    name: str
    target: str
    load: Callable[[], Any]
    distribution: str = ""
    version: str = ""
    folders: tuple[str, ...] = ()
    settings: Mapping[str, Any] | None = None
    has_secrets: bool = True
    host_settings: Mapping[str, Any] | None = None
    remark: Callable[[str], None] = _ignore


class ToolkitLoader(ABC):
    """Loads toolkits in another way than by an import in this process at the start of the host.

    Attributes:
        files_read: the paths of files that the loader read. A reload loads its plugin again if one of them has changed.
    """

    files_read: Sequence[str] = ()

    @abstractmethod
    def load(self, toolkit: FoundToolkit) -> Toolkit | LateToolkit | Plugin | ModuleType | None:
        """Return an object that serves the toolkit: a `Toolkit`, a `LateToolkit`, a `Plugin` or a module with hooks.

        Return None to leave the toolkit to the next loader, and finally to the host, which calls `toolkit.load`. An
        exception disables the toolkit.
        """
