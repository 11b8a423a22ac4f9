"""`pegboard list` and `show`. These commands start the host only if a plugin adds tools at run time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host, NotFoundError
from pegboard.plugin import CommandContext, Finding, Gate, encode
from pegboard.terminal import (
    first_line,
    fitted,
    flush,
    parameter_rows,
    print_json,
    print_lines,
    print_table,
    print_text,
    say,
)
from pegboard.types import Tool


class ListedTool(TypedDict):
    """A tool of `pegboard list`. `needs` has the secrets and tokens that the host does not have."""

    name: str
    toolkit: str
    description: str
    tags: list[str]
    needs: list[str]


ListOutput = list[ListedTool]


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


def run_list(command: CommandContext) -> int:
    """List the tools that are served."""
    host = command.host
    missing = command.missing_items(host).values()
    tools = host.assembly.tools.values()
    if command.options.json:
        print_json([_listed(bound) for bound in tools])
        return _code(host, missing)
    columns = [column for column in zip(*map(_row, tools), strict=True) if any(column)]
    print_table([*zip(*columns, strict=True)])
    flush()  # messages follow the list if both go to the same file
    if unserved := [item.name for item in host.assembly.unserved if item.kind == "tools"]:
        more = "1 more is" if len(unserved) == 1 else f"{len(unserved)} more are"
        say(f"{more} not served (`pegboard why NAME` explains it): {', '.join(unserved)}")
    if later := [plugin.origin.name for plugin in host.report.plugins if _adds_tools(plugin.instance)]:
        say(f"tools of {', '.join(later)} may change while the host runs")
    elif not tools and not unserved:
        ways = ": install a toolkit, pass a file with --file, or see `pegboard plugins` for disabled ones"
        say("there are no tools" + ("" if command.options.file else ways))
    for finding in (each for check in command.checks(host, "list") for each in check.run()):
        say("; ".join(filter(None, (finding.message, finding.fix))))
    return _code(host, missing)


def _adds_tools(plugin: Any) -> bool:
    """Return True if a plugin adds tools while the host runs."""
    return "tools" in getattr(plugin, "offers", ())


def _code(host: Host, missing: Iterable[Finding] = ()) -> int:
    """Print why tools are missing. Return 1 if one of them is not optional, or if a problem prevents the start."""
    for finding in missing:
        say(f"{finding.level}: {finding.message}")
    is_complete = not any(finding.level == "error" for finding in missing)
    return 0 if is_complete and not any(problem.fatal for problem in host.problems) else 1


def _listed(bound: Any) -> dict[str, Any]:
    tool = bound.tool
    about = {"name": tool.name, "toolkit": tool.owner, "description": tool.description, "tags": tool.tags}
    return {**about, "needs": _needs(bound)}


def _row(bound: Any) -> tuple[str, str, str, str]:
    """Return the name of a tool, its tags, what it needs, and its description."""
    tool = bound.tool
    return tool.name, ", ".join(tool.tags), _needing(_needs(bound)), first_line(tool.description)


def run_show(command: CommandContext) -> int:
    """Show one tool."""
    host, name = command.host, command.options.tool
    try:
        bound = command.find_tool(host, name)
    except NotFoundError:
        for finding in command.missing_items(host, name).values():
            say(f"{finding.level}: {finding.message}")
        bound = command.find_tool(host, name)
    scopes = _scopes(host, bound)
    if command.options.json:
        print_json(_detail(bound.tool) | _requirements(bound) | {"scopes": scopes})
        return _code(host)
    _print_tool(bound.tool)
    _print_requirements(bound)
    if scopes:
        print_text("\nscopes of the caller: " + ", ".join(scopes))
    return _code(host)


def _scopes(host: Host, bound: Any) -> list[str]:
    """Return the scopes that a tool requires of its caller, including those of gates."""
    gates = [link.middleware for link in host.assembly.middleware if isinstance(link.middleware, Gate)]
    own = bound.requirements.scopes if bound.requirements else frozenset()
    return sorted(own.union(*(gate.asks("tools", bound.name) for gate in gates)))


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


def _secrets(bound: Any) -> list[str]:
    return sorted(bound.requirements.secrets) if bound.requirements else []


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
    metadata = sorted(bound.requirements.metadata) if bound.requirements else []
    return {"requires_secrets": _secrets(bound), "requires_metadata": metadata, "needs": _needs(bound)}


def _print_requirements(bound: Any) -> None:
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
        print_text(f"\n{_needing(required.needs)}: not set, so clients over stdio are not offered this tool")


def _needs(bound: Any) -> Collection[str]:
    """Return the secrets and tokens of a tool that the host does not have and cannot obtain."""
    return bound.requirements.needs if bound.requirements else ()


def _needing(needs: Collection[str]) -> str:
    """Return the mark of tools that need secrets and tokens that the host does not have, or ""."""
    return f"needs {', '.join(needs)}" if needs else ""
