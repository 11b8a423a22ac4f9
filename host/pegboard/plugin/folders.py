"""Folders of files that toolkits and plugins ship for other plugins."""

from typing import NamedTuple

from pegboard.types.catalogue import ToolkitInfo


class ContentFolder(NamedTuple):
    """A folder of files of one kind.

    Attributes:
        kind: the kind of files, such as "skills".
        path: the path of the folder. A relative path begins at the folder of the file that has the toolkit or plugin.
            `PluginContext.folders` returns absolute paths.
        toolkit: the toolkit or plugin that ships the folder. The host sets it.
    """

    kind: str
    path: str
    toolkit: ToolkitInfo | None = None
