"""`pegboard list`, `show` and `plugins`. These commands start the host only if a plugin adds tools at run time."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pegboard.calls.served_item import ServedItem
from pegboard.catalogue.lists import needed_scopes
from pegboard.catalogue.pages import needs_of
from pegboard.cli import FAILED, OK
from pegboard.cli.host_setup import code_of_inspection, loaded_host
from pegboard.cli.inspection.secret_report import missing_needs, required_tokens, secrets_as_json
from pegboard.cli.inspection.tool_lookup import find_tool, let_plugins_add_tools
from pegboard.errors import NotFoundError
from pegboard.host import Host
from pegboard.loading.plugins import PluginChoice
from pegboard.plugin.commands import CommandContext
from pegboard.plugin.origin import Origin
from pegboard.secrets.secret_lookup import granted
from pegboard.terminal.fitted_lines import fitted
from pegboard.terminal.printing import first_line, flush, print_json, print_lines, print_table, print_text, say
from pegboard.types.catalogue import Tool
from pegboard.wire.codec import encode

if TYPE_CHECKING:
    from pegboard.cli.reloads.running_hosts import OutdatedPlugin


def run_list(command: CommandContext) -> int:
    """List the tools that are served."""
    host = command.host
    later = let_plugins_add_tools(host, waits=not command.options.no_wait)
    assembly = host.assembly
    tools = assembly.tools.values()
    if command.options.json:
        print_json([_listed(bound) for bound in tools])
        return FAILED if later.say_missing() else code_of_inspection(host)
    columns = [column for column in zip(*map(_row, tools), strict=True) if any(column)]
    print_table([*zip(*columns, strict=True)])
    flush()  # messages follow the list if both go to the same file
    if unserved := [item.name for item in assembly.unserved if item.kind == "tools"]:
        more = "1 more is" if len(unserved) == 1 else f"{len(unserved)} more are"
        say(f"{more} not served (`pegboard why NAME` explains it): {', '.join(unserved)}")
    if later.plugins:
        say(f"tools of {', '.join(later.plugins)} may change while the host runs")
    elif not tools and not unserved:
        ways = ": install a toolkit, pass a file with --file, or see `pegboard plugins` for disabled ones"
        say("there are no tools" + ("" if command.options.file else ways))
    for finding in (each for check in command.checks(host, "list") for each in check.run()):
        say("; ".join(filter(None, (finding.message, finding.fix))))
    return FAILED if later.say_missing() else code_of_inspection(host)


def _listed(bound: ServedItem) -> dict[str, Any]:
    tool = bound.tool
    about = {"name": tool.name, "toolkit": tool.owner, "description": tool.description, "tags": tool.tags}
    return {**about, "needs": needs_of(bound)}


def _row(bound: ServedItem) -> tuple[str, str, str, str]:
    """Return the name of a tool, its tags, what it needs, and its description."""
    tool = bound.tool
    return tool.name, ", ".join(tool.tags), needing(needs_of(bound)), first_line(tool.description)


def run_show(command: CommandContext) -> int:
    """Show one tool."""
    host = command.host
    try:
        bound = find_tool(host.assembly, command.options.tool)
    except NotFoundError:
        later = let_plugins_add_tools(host, name=command.options.tool, waits=not command.options.no_wait)
        later.say_missing()
        bound = find_tool(host.assembly, command.options.tool, later.plugins)
    assembly = host.assembly
    scopes = sorted(needed_scopes(assembly, bound))
    if command.options.json:
        print_json(tool_detail(bound.tool) | _requirements(bound) | {"scopes": scopes})
        return code_of_inspection(host)
    _print_tool(bound.tool)
    _print_requirements(bound)
    if scopes:
        print_text("\nscopes of the caller: " + ", ".join(scopes))
    return code_of_inspection(host)


def tool_detail(tool: Tool) -> dict[str, Any]:
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


def _secrets(bound: ServedItem) -> list[str]:
    return sorted(bound.requirements.secrets) if bound.requirements else []


def _print_tool(tool: Tool) -> None:
    from pegboard.terminal.schema_words import parameter_rows, type_name  # `list` does not need json

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
        print_text(f"\nreturns: {type_name(tool.output_schema, tool.output_schema.get('$defs', {}))}")
    if hints := tool_detail(tool)["annotations"]:
        print_text("\n" + ", ".join(f"{name}: {encode(value).decode()}" for name, value in hints.items()))


def _requirements(bound: ServedItem) -> dict[str, Any]:
    metadata = sorted(bound.requirements.metadata) if bound.requirements else []
    return {"requires_secrets": _secrets(bound), "requires_metadata": metadata, "needs": needs_of(bound)}


def _print_requirements(bound: ServedItem) -> None:
    if (required := bound.requirements) is None:
        return
    if required.secrets:
        print_text("\nsecrets: " + ", ".join(_secrets(bound)))
    if required.metadata:
        print_text("\nmetadata: " + ", ".join(sorted(required.metadata)))
    if required.authorization is not None:
        scopes = ", ".join(required.authorization.scopes)
        print_text(f"\ntoken of: {required.authorization.name}" + (f" ({scopes})" if scopes else ""))
    if required.needs:
        print_text(f"\n{needing(required.needs)}: not set, so clients over stdio are not offered this tool")


def needing(needs: Collection[str]) -> str:
    """Return the mark of tools that need secrets and tokens that the host does not have, or ""."""
    return f"needs {', '.join(needs)}" if needs else ""


def run_plugins(command: CommandContext) -> int:
    """List plugins and toolkits."""
    from pegboard.cli.reloads.running_hosts import outdated_hosts, say_outdated_hosts  # `list` does not need json

    host = loaded_host(command.options)
    choices = host.report.choices
    if not command.options.json:
        columns = ("name", "kind", "state", "source", "reason")
        details = [_with_source(plugin_detail(host, choice)) for choice in choices]
        print_table([tuple(detail[column] for column in columns) for detail in details])
        flush()  # messages follow the table if both go to the same file
        say_outdated_hosts(host)
        return OK
    outdated = [(pid, plugin) for pid, changed in outdated_hosts(host, os.environ) for plugin in changed]
    removed = list(dict.fromkeys(plugin.origin for _, plugin in outdated if plugin.now is None))
    gone = [PluginChoice(origin, False, "it was removed while a host runs it") for origin in removed]
    rows = [plugin_detail(host, choice) | {"outdated": _processes(outdated, choice.origin)} for choice in choices]
    rows += [
        plugin_detail(host, choice) | {"state": "removed", "outdated": _processes(outdated, choice.origin)}
        for choice in gone
    ]
    print_json(rows)
    return OK


def _processes(outdated: Sequence[tuple[int, OutdatedPlugin]], origin: Origin) -> list[int]:
    """Return the running hosts that have another version of a plugin."""
    return [pid for pid, plugin in outdated if (plugin.now or plugin.origin) == origin]


def _with_source(detail: dict[str, Any]) -> dict[str, Any]:
    source = f"{detail['distribution']} {detail['version']}".strip()
    secrets = ", ".join(secret["name"] + ("" if secret["set"] else " (not set)") for secret in detail["secrets"])
    tokens = ", ".join(token["provider"] for token in detail["tokens"])
    requirements = [f"{noun}: {names}" for noun, names in (("secrets", secrets), ("tokens", tokens)) if names]
    reasons = [detail["reason"], *detail["remarks"], *requirements, *filter(None, [needing(detail["needs"])])]
    return detail | {"source": source, "reason": "; ".join(reasons)}


def plugin_detail(host: Host, choice: PluginChoice) -> dict[str, Any]:
    """Return a plugin as JSON."""
    origin = choice.origin
    loaded = next((plugin for plugin in host.report.plugins if plugin.origin is origin), None)
    return {
        "name": origin.name,
        "kind": origin.kind,
        "state": "off" if not choice.on else "failed" if loaded is None else "on",
        "reason": choice.reason,
        "remarks": loaded.remarks if loaded else [],
        "distribution": origin.distribution,
        "version": origin.version,
        "target": origin.target,
        "tools": [name for name, bound in host.assembly.tools.items() if bound.origin == origin],
        "middleware": [
            {"name": link.name, "place": place, "wraps": link.wraps()}
            for place, link in enumerate(host.assembly.middleware, 1)
            if link.owner == str(origin)
        ],
        "secrets": secrets_as_json(host, origin),
        "may_receive": granted(host.config, origin, "secrets"),
        "tokens": required_tokens(host, origin),
        "may_receive_tokens": granted(host.config, origin, "providers"),
        "needs": missing_needs(host, origin),
        "import_ms": round(loaded.import_seconds * 1000, 1) if loaded else None,
        "problems": [
            {"stage": problem.stage, "level": problem.level, "message": problem.message}
            for problem in host.problems
            if problem.origin is origin or str(origin) in problem.message
        ],
    }
