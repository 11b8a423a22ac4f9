"""Checks of plugins and of the definitions that are served."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pegboard.catalogue.tool_compiler import definition_label, location_of, unknown_parameters
from pegboard.cli.diagnosis.client_rules import LIMITS, RULES
from pegboard.errors import ToolDefinitionError
from pegboard.hookspecs import register_prompts, register_tools
from pegboard.host import Host
from pegboard.loading.plugins import NEEDS_SETTING, OF_SETTINGS
from pegboard.messages.texts import text_problems
from pegboard.names import nearest
from pegboard.plugin.commands import Finding
from pegboard.schemas.functions import parameters_of

SLOW_IMPORT_SECONDS = 0.5
"""The time to load a plugin from which it is reported. Clients wait for the start."""


def check_plugins(host: Host) -> Iterator[Finding]:
    """Report each problem of a plugin or toolkit, apart from its settings and secrets."""
    for problem in host.problems:
        if problem.stage not in {NEEDS_SETTING, OF_SETTINGS}:
            yield Finding(problem.level, str(problem), problem=problem)


def check_missing_secrets(host: Host) -> Iterator[Finding]:
    """Report each secret that a tool requires and no store has."""
    for problem in host.problems:
        if problem.stage == NEEDS_SETTING:
            yield Finding("warning", str(problem))


def check_import_times(host: Host) -> Iterator[Finding]:
    """Report each plugin that takes long to load."""
    for plugin in host.report.plugins:
        if plugin.import_seconds > SLOW_IMPORT_SECONDS:
            took = f"{plugin.origin} takes {plugin.import_seconds * 1000:.0f} ms to load"
            yield Finding(
                "warning", took, "import large libraries in the functions that use them, not at the top of the module"
            )


def check_client_rules(host: Host) -> Iterator[Finding]:
    """Report names and schemas that known clients reject."""
    tools = [bound.tool for bound in host.assembly.tools.values()]
    for tool in tools:
        for rule in RULES:
            if problem := rule.broken(tool):
                message = f"{rule.clients} may reject the tool {tool.name}: {problem}"
                yield Finding("warning", message, rule.fix, rule.source)
    for limit in LIMITS:
        if len(tools) > limit.max_tools:
            message = (
                f"{limit.client} accepts {limit.max_tools} tools from all servers; this host alone has {len(tools)}"
            )
            yield Finding("warning", message, "serve fewer tools with --only, or with a profile", limit.source)


def check_docstrings(host: Host) -> Iterator[Finding]:
    """Report parameters that the docstring of a tool or prompt describes and its function does not have."""
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
        close = nearest(name, [one.name for one in parameters_of(definition.function)])
        fix = f"did you mean {close!r}?" if close else "remove it, or add the parameter"
        where = f"{definition_label(definition)}{location_of(definition.function)}"
        yield Finding("warning", f"{where}: its docstring describes {name!r}, which is not a parameter", fix)


def check_hidden_text(host: Host) -> Iterator[Finding]:
    """Report invisible characters in definitions: people do not see them, but models read them."""
    assembly = host.assembly
    tools = {f"tool {name}": bound.tool for name, bound in assembly.tools.items()}
    resources = {f"resource {uri}": one for uri, (one, _) in assembly.resources.items()}
    prompts = {f"prompt {name}": one for name, (one, _) in assembly.prompts.items()}
    for label, item in {**tools, **resources, **prompts}.items():
        shown = {name: getattr(item, name, None) for name in ("title", "description", "input_schema", "output_schema")}
        for path, problem in text_problems(shown):
            place = ".".join(map(str, path))
            yield Finding(
                "error", f"{label}: {place} {problem}", "disable the item until its author has removed the characters"
            )
