"""The check of docstrings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pegboard.catalogue.tool_compiler import definition_label, location_of, unknown_parameters
from pegboard.errors import ToolDefinitionError
from pegboard.hookspecs import register_prompts, register_tools
from pegboard.host import Host
from pegboard.names import nearest
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.schemas.functions import parameters_of


def check_docstrings(command: CommandContext) -> Iterator[Finding]:
    """Report parameters that the docstring of a tool or prompt describes and its function does not have."""
    return docstring_findings(command.host)


def docstring_findings(host: Host) -> Iterator[Finding]:
    """Yield the findings of `check_docstrings` for a loaded host."""
    for plugin in host.report.plugins:
        for hook in (register_tools, register_prompts):
            for definition in () if plugin.is_late else plugin.contributed(hook):
                yield from _unknown_parameters(definition)


def _unknown_parameters(definition: Any) -> Iterator[Finding]:
    try:
        unknown = unknown_parameters(definition)
    except ToolDefinitionError:  # the check of plugins reports it
        return
    for name in unknown:
        close = nearest(name, [parameter.name for parameter in parameters_of(definition.function)])
        fix = f"did you mean {close!r}?" if close else "remove it, or add the parameter"
        where = f"{definition_label(definition)}{location_of(definition.function)}"
        yield Finding("warning", f"{where}: its docstring describes {name!r}, which is not a parameter", fix)
