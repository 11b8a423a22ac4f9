"""`pegboard show`. It starts the host only if a plugin adds tools at run time."""

from __future__ import annotations

from typing import Any

from pegboard import NotFoundError
from pegboard.plugin import CommandContext, encode
from pegboard.terminal import fitted, parameter_rows, print_json, print_lines, print_table, print_text, say
from pegboard.types import Tool
from pegboard_plugins.authoring.tool_commands.listing import ListedTool, exit_code, needing


class ShowOutput(ListedTool):
    """The output of `pegboard show`."""

    title: str | None
    version: str | None
    deprecated: str | None
    annotations: dict[str, Any]
    meta: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    requires_secrets: list[str]
    requires_metadata: list[str]
    scopes: list[str]


def run_show(command: CommandContext) -> int:
    """Show one tool."""
    host, name = command.host, command.options.tool
    try:
        bound = command.find_tool(host, name)
    except NotFoundError:
        for finding in command.missing_items(host, name).values():
            say(f"{finding.level}: {finding.message}")
        bound = command.find_tool(host, name)
    scopes = host.assembly.scopes_of(bound)
    if command.options.json:
        print_json(_detail(bound.tool) | _requirements(bound) | {"scopes": scopes})
        return exit_code(host)
    _print_tool(bound.tool)
    _print_requirements(bound)
    if scopes:
        print_text("\nscopes of the caller: " + ", ".join(scopes))
    return exit_code(host)


def _detail(tool: Tool) -> dict[str, Any]:
    """Return a tool as JSON."""
    hints = tool.annotations
    names = ("read_only", "destructive", "idempotent", "open_world")
    hint_values = {name: getattr(hints, name) for name in names if hints and getattr(hints, name) is not None}
    return {
        "name": tool.name,
        "toolkit": tool.owner,
        "title": tool.title,
        "description": tool.description,
        "version": tool.version,
        "deprecated": tool.deprecated,
        "annotations": {**hint_values, **(hints.extra if hints else {})},
        "tags": tool.tags,
        "meta": tool.meta or {},
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def _print_tool(tool: Tool) -> None:
    print_text(f"{tool.name}" + (f" - {tool.title}" if tool.title else ""))
    if tool.deprecated:
        print_text(f"\ndeprecated: {tool.deprecated}")
    print_text("")
    print_lines(line for paragraph in tool.description.splitlines() for line in fitted(paragraph))
    print_text("")
    if tool.tags:
        print_text(f"tags: {', '.join(tool.tags)}\n")
    rows = parameter_rows(tool.input_schema)
    print_table(rows) if rows else print_text("  no parameters")
    if tool.output_schema is not None:
        result = {"properties": {"": tool.output_schema}, "$defs": tool.output_schema.get("$defs", {})}
        print_text(f"\nreturns: {parameter_rows(result)[0][1]}")
    if hints := _detail(tool)["annotations"]:
        print_text("\n" + ", ".join(f"{name}: {encode(value).decode()}" for name, value in hints.items()))


def _requirements(bound: Any) -> dict[str, Any]:
    required = bound.requirements
    secrets, metadata = sorted(required.secrets), sorted(required.metadata)
    return {"requires_secrets": secrets, "requires_metadata": metadata, "needs": required.needs}


def _print_requirements(bound: Any) -> None:
    required = bound.requirements
    if required.secrets:
        print_text("\nsecrets: " + ", ".join(sorted(required.secrets)))
    if required.metadata:
        print_text("\nmetadata: " + ", ".join(sorted(required.metadata)))
    if required.authorization is not None:
        scopes = ", ".join(required.authorization.scopes)
        print_text(f"\ntoken of: {required.authorization.name}" + (f" ({scopes})" if scopes else ""))
    if required.needs:
        print_text(f"\n{needing(required.needs)}: not set, so clients over stdio are not offered this tool")
