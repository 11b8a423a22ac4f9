"""Tools that are listed from a file before their toolkit is imported."""

from __future__ import annotations

from pegboard.calls.function import Function
from pegboard.catalogue.raw_definitions import check_raw, raw_hints, raw_signature
from pegboard.plugin.definitions import ToolDefinition
from pegboard.schemas.signature import Signature
from pegboard.types.authorization import ToolRequirements
from pegboard.types.callers import EMPTY
from pegboard.types.catalogue import Tool, ToolkitInfo


def late_tool(
    definition: ToolDefinition, name: str, toolkit: ToolkitInfo, requires: ToolRequirements | None
) -> tuple[Tool, Signature, Function]:
    """Return a tool like `compile_tool`, which checked the definition before it was written.

    Only its strings are checked again: clients receive them even if the file was changed.

    Args:
        definition: the definition, with `raw`.
        name: its name on the wire.
        toolkit: its toolkit.
        requires: its requirements.

    Raises:
        ToolDefinitionError: a string has invisible characters.
    """
    raw = definition.raw or EMPTY
    check_raw(raw)
    hints = raw_hints(raw)
    tool = Tool(
        name=name,
        description=raw.get("description", ""),
        input_schema=raw["inputSchema"],
        output_schema=raw.get("outputSchema"),
        title=raw.get("title"),
        annotations=hints,
        owner=toolkit.name,
        meta=raw.get("_meta"),
        version=definition.version or toolkit.version,
        deprecated=definition.deprecated,
        requires=requires,
        owner_description=toolkit.description,
        tags=tuple(definition.tags),
        definition=definition,
        raw=raw,
    )
    return tool, raw_signature(definition)[0], Function(definition.function, "async")
