"""`pegboard list`. It starts the host only if a plugin adds tools at run time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from typing_extensions import TypedDict  # pydantic reads those of `typing` only from Python 3.12

from pegboard import Host
from pegboard.plugin import CommandContext, Finding
from pegboard.terminal import first_line, flush, print_json, print_table, say


class ListedTool(TypedDict):
    """A tool of `pegboard list`. `needs` has the secrets and tokens that the host does not have."""

    name: str
    toolkit: str
    description: str
    tags: list[str]
    needs: list[str]


ListOutput = list[ListedTool]


def run_list(command: CommandContext) -> int:
    """List the tools that are served."""
    host = command.host
    missing = command.missing_items(host).values()
    tools = host.assembly.tools.values()
    if command.options.json:
        print_json([_listed(bound) for bound in tools])
        return exit_code(host, missing)
    columns = [column for column in zip(*map(_row, tools), strict=True) if any(column)]
    print_table([*zip(*columns, strict=True)])
    flush()  # messages follow the list if both go to the same file
    if unserved := [item.name for item in host.assembly.unserved if item.kind == "tools"]:
        more = "1 more is" if len(unserved) == 1 else f"{len(unserved)} more are"
        say(f"{more} not served (`pegboard why NAME` explains it): {', '.join(unserved)}")
    if later := host.report.adding_later():
        say(f"tools of {', '.join(later)} may change while the host runs")
    elif not (tools or unserved or any(problem.fatal for problem in host.problems)):
        ways = ": install a toolkit, pass a file with --file, or see `pegboard plugins` for disabled ones"
        say("there are no tools" + ("" if command.options.file else ways))
    for finding in (each for check in command.checks(host, "list") for each in check.run()):
        say("; ".join(filter(None, (finding.message, finding.fix))))
    return exit_code(host, missing)


def exit_code(host: Host, missing: Iterable[Finding] = ()) -> int:
    """Print why tools are missing. Return 1 if one of them is not optional, or if a problem prevents the start."""
    for finding in missing:
        say(f"{finding.level}: {finding.message}")
    is_complete = not any(finding.level == "error" for finding in missing)
    return 0 if is_complete and not any(problem.fatal for problem in host.problems) else 1


def _listed(bound: Any) -> dict[str, Any]:
    tool = bound.tool
    about = {"name": tool.name, "toolkit": tool.owner, "description": tool.description, "tags": tool.tags}
    return {**about, "needs": bound.requirements.needs}


def _row(bound: Any) -> tuple[str, str, str, str]:
    """Return the name of a tool, its tags, what it needs, and its description."""
    tool = bound.tool
    return tool.name, ", ".join(tool.tags), needing(bound.requirements.needs), first_line(tool.description)


def needing(needs: Collection[str]) -> str:
    """Return the mark of tools that need secrets and tokens that the host does not have, or ""."""
    return f"needs {', '.join(needs)}" if needs else ""
