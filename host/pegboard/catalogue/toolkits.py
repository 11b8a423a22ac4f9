"""The toolkit of a definition: its plugin, or the toolkit that the definition names."""

from __future__ import annotations

from typing import Any, Literal

from pegboard.errors import ToolDefinitionError
from pegboard.loading.plugins import LoadedPlugin
from pegboard.names import spellings, wire_name, without_toolkit
from pegboard.plugin.definitions import PromptDefinition, ResourceDefinition, ToolDefinition
from pegboard.types.catalogue import ToolkitInfo


def toolkit_of(
    plugin: LoadedPlugin, definition: ToolDefinition | ResourceDefinition | PromptDefinition | None = None
) -> ToolkitInfo:
    """Return the toolkit of a plugin's definition.

    Raises:
        ToolDefinitionError: the definition names an invalid toolkit.
    """
    named: Any = None if definition is None else definition.toolkit
    if named is None:
        prefix = bool(getattr(plugin.instance, "prefix", False))
        return ToolkitInfo(plugin.origin.name, plugin.description, plugin.version, prefix)
    name: Any = getattr(named, "name", None)
    if not isinstance(named, ToolkitInfo) or not isinstance(name, str) or not name.strip():
        raise ToolDefinitionError(f'its toolkit must be ToolkitInfo(name="..."), not {named!r}')
    return ToolkitInfo(*named)


def name_in(toolkit: ToolkitInfo, own: str, style: Literal["snake", "pascal"]) -> str:
    """Return the name on the wire of a tool or prompt of a toolkit."""
    return wire_name(toolkit.name, own, style, prefix=toolkit.prefix)


def spelt(toolkit: ToolkitInfo, own: str, *, named: bool) -> tuple[str, frozenset[str]]:
    """Return the last part of a tool's name and all spellings of the name, with and without a prefix.

    Args:
        toolkit: the toolkit.
        own: the name of the tool.
        named: True if the definition names its toolkit. The toolkit's name then selects the tool even without a prefix.
    """
    last = own if toolkit.prefix else without_toolkit(toolkit.name, own)
    if named:
        forms = spellings(toolkit.name, last)
        return last, forms if toolkit.prefix else forms | spellings("", own)
    return last, spellings(toolkit.name if toolkit.prefix or last != own else "", last)
