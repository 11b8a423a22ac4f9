"""`pegboard list`, `show` and `plugins`: what there is, without starting anything."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from pegboard.cli import OK
from pegboard.cli.common import first_line, loaded_host, print_json, print_table, print_text, say
from pegboard.cli.find import find_tool
from pegboard.contracts import Tool
from pegboard.host import Host
from pegboard.plugins import Choice


def run_list(options: Namespace) -> int:
    """List the tools that are served."""
    assembly = loaded_host(options).assembly
    tools = [bound.tool for bound in assembly.tools.values()]
    if options.json:
        print_json([{"name": tool.name, "toolkit": tool.owner, "description": tool.description} for tool in tools])
        return OK
    print_table([(tool.name, first_line(tool.description)) for tool in tools])
    if assembly.withheld:
        say(
            f"{len(assembly.withheld)} more are not served; `pegboard why NAME` tells why: "
            + ", ".join(one.name for one in assembly.withheld)
        )
    if not tools:
        say("there are no tools; install a toolkit, or see `pegboard plugins` for what is off")
    return OK


def run_show(options: Namespace) -> int:
    """Show one tool."""
    bound = find_tool(loaded_host(options).assembly, options.tool)
    if options.json:
        print_json(tool_detail(bound.tool) | {"requires_secrets": sorted(bound.secrets)})
        return OK
    _print_tool(bound.tool)
    if bound.secrets:
        print_text("\nsecrets: " + ", ".join(sorted(bound.secrets)))
    return OK


def tool_detail(tool: Tool) -> dict[str, Any]:
    """A tool as JSON."""
    hints = tool.annotations
    names = ("read_only", "destructive", "idempotent", "open_world")
    return {
        "name": tool.name,
        "toolkit": tool.owner,
        "title": tool.title,
        "description": tool.description,
        "annotations": {name: getattr(hints, name) for name in names if hints and getattr(hints, name) is not None},
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def _print_tool(tool: Tool) -> None:
    print_text(f"{tool.name}" + (f" - {tool.title}" if tool.title else ""))
    print_text(f"\n{tool.description}\n")
    required = tool.input_schema.get("required", ())
    rows = [
        (
            f"  {name}",
            _type_name(schema),
            "required" if name in required else _default(schema),
            schema.get("description", ""),
        )
        for name, schema in tool.input_schema["properties"].items()
    ]
    print_table(rows) if rows else print_text("  no parameters")
    if hints := tool_detail(tool)["annotations"]:
        print_text("\n" + ", ".join(f"{name}: {str(value).lower()}" for name, value in hints.items()))


def _type_name(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(str(value) for value in schema["enum"])
    if options := schema.get("anyOf"):
        return "|".join(_type_name(option) for option in options)
    return str(schema.get("type") or schema.get("$ref", "any").rsplit("/", 1)[-1])


def _default(schema: dict[str, Any]) -> str:
    return f"={schema['default']}" if "default" in schema else ""


def run_plugins(options: Namespace) -> int:
    """List plugins and toolkits."""
    host = loaded_host(options)
    states = [(choice, _state(host, choice)) for choice in host.report.choices]
    if options.json:
        print_json([plugin_detail(host, choice) for choice, _ in states])
        return OK
    print_table(
        [
            (
                choice.origin.name,
                choice.origin.kind,
                state,
                f"{choice.origin.distribution} {choice.origin.version}".strip(),
                choice.reason,
            )
            for choice, state in states
        ]
    )
    return OK


def _state(host: Host, choice: Choice) -> str:
    if not choice.on:
        return "off"
    return "on" if any(plugin.origin is choice.origin for plugin in host.report.plugins) else "failed"


def plugin_detail(host: Host, choice: Choice) -> dict[str, Any]:
    """A plugin as JSON."""
    origin = choice.origin
    loaded = next((plugin for plugin in host.report.plugins if plugin.origin is origin), None)
    return {
        "name": origin.name,
        "kind": origin.kind,
        "state": _state(host, choice),
        "reason": choice.reason,
        "distribution": origin.distribution,
        "version": origin.version,
        "target": origin.target,
        "tools": [name for name, bound in host.assembly.tools.items() if bound.tool.owner == origin.name],
        "import_ms": round(loaded.import_seconds * 1000, 1) if loaded else None,
        "problems": [str(problem.message) for problem in host.problems if problem.origin is origin],
    }
