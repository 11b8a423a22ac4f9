"""Changed copies of tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from pegboard.authoring import as_definition, tool_fields
from pegboard.authoring.argument_changes import combined
from pegboard.plugin.definitions import ToolDefinition
from pegboard.types.options import ToolOptions


def transformed(tool: Callable[..., Any] | ToolDefinition, /, **options: Unpack[ToolOptions]) -> ToolDefinition:
    """Return a copy of a tool with other options, for `Toolkit.add` and `register_tools`. The tool stays unchanged.

    Args:
        tool: a function, a result of `@tool`, or a definition.
        options: the options to replace. `arguments` changes single arguments, named as clients of the tool see them.

    Raises:
        TypeError: an option does not exist.
        ToolDefinitionError: an argument does not exist.
    """
    definition = as_definition(tool)
    fields = tool_fields(options)
    if definition.arguments and "arguments" in fields:
        fields["arguments"] = combined(definition.arguments, fields["arguments"])
    return definition._replace(**fields)
