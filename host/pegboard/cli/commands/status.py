"""`pegboard` without a command: the state of this host."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pegboard.cli import OK
from pegboard.cli.host_setup import host_from_options
from pegboard.loading.discovery import naming, own_version
from pegboard.terminal.failures import problem_fields
from pegboard.terminal.fitted_lines import fitted
from pegboard.terminal.printing import diverted, print_json, print_lines, tool_count
from pegboard.terminal.schema_words import tool_tokens

if TYPE_CHECKING:
    from pegboard.config import ConfigProblem
    from pegboard.config.trust import Untrusted
    from pegboard.host import Host
    from pegboard.plugin.origin import Origin


def run_status(options: Namespace) -> int:
    """Print what is enabled, the number of tools and the next useful command."""
    state = _state(options)
    print_json(state) if options.json else print_lines(_lines(state))
    return OK


def _state(options: Namespace) -> dict[str, Any]:
    """Return the state of the host as JSON. The host is loaded, but not started."""
    untrusted: list[ConfigProblem] = []

    def note(file: Untrusted) -> bool:
        untrusted.append(file.problem)
        return False

    host = host_from_options(options, collect=True, on_untrusted=note)
    with diverted():
        host.load()
    tools = {name: tool_tokens(bound.tool) for name, bound in host.assembly.tools.items()}
    owners = {name: bound.tool.owner for name, bound in host.assembly.tools.items()}
    enabled: list[dict[str, Any]] = []
    for plugin in host.report.plugins:
        origin = plugin.origin
        own = [name for name, bound in host.assembly.tools.items() if bound.origin == origin]
        enabled.append(
            {
                "name": origin.name,
                "kind": origin.kind,
                "source": _source(host, origin),
                "tools": len(own),
                "tokens": sum(tools[name] for name in own),
            }
        )
    problems = [
        problem_fields(problem, str(problem)) for problem in (*untrusted, *host.config.problems, *host.problems)
    ]
    return {
        "version": own_version(),
        "file": str(host.config.file) if host.config.file else None,
        "enabled": enabled,
        "toolkits": len(set(owners.values())),
        "tools": len(tools),
        "tokens": sum(tools.values()),
        "later": host.report.adding_later(),
        "problems": problems,
        "next": _next(len(tools), bool(problems)),
    }


def _source(host: Host, origin: Origin) -> str:
    """Return the place that enables a plugin: the file and line of its section or its list, or "default"."""
    named = naming(origin, host.config)
    return str(named[1]) if named and named[1].by_operator else "default"


def _next(tools: int, problems: bool) -> str:
    if problems:
        return "pegboard doctor"
    return "pegboard configure CLIENT" if tools else "pegboard new server notes"


_PURPOSE = {
    "pegboard doctor": "runs all checks and explains how to correct each problem",
    "pegboard configure CLIENT": "adds these tools to an MCP client",
    "pegboard new server notes": "writes a first server; `pegboard demo` shows one",
}


def _lines(state: Mapping[str, Any]) -> Iterator[str]:
    file = state["file"] or "without a configuration file: the defaults apply"
    yield from fitted(f"pegboard {state['version']}, {file}", 2)
    toolkits = [plugin for plugin in state["enabled"] if plugin["tools"] or plugin["kind"] == "toolkit"]
    yield f"{tool_count(state['tools'])}, about {state['tokens']} tokens in each request of a model"
    for toolkit in toolkits:
        yield (
            f"  {toolkit['kind']} {toolkit['name']}: {tool_count(toolkit['tools'])}, "
            f"{toolkit['tokens']} tokens ({_place(toolkit)})"
        )
    for name in state["later"]:
        yield f"  tools of {name} are not included: `pegboard cost` counts them"
    plugins = [plugin for plugin in state["enabled"] if plugin["kind"] == "plugin"]
    built_in = [plugin["name"] for plugin in plugins if plugin["source"] == "default"]
    if built_in:
        yield from _wrapped(f"  plugins by default: {', '.join(built_in)}")
    for plugin in plugins:
        if plugin["name"] not in built_in and plugin not in toolkits:
            yield f"  plugin {plugin['name']} ({_place(plugin)})"
    for problem in state["problems"]:
        yield from fitted(f"problem: {problem['message']}", 9)
    yield from fitted(f"next: `{state['next']}` {_PURPOSE[state['next']]}", 6)
    listing = "`pegboard list` lists the tools, " if state["tools"] else ""
    yield from fitted(f"      {listing}`pegboard --help` lists all commands", 6)


def _wrapped(line: str) -> list[str]:
    """Return a line as lines that fit the terminal, up to 100 characters. Further lines are indented."""
    width = min(get_terminal_size().columns, 100)
    return wrap(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _place(plugin: Mapping[str, Any]) -> str:
    return "installed" if plugin["source"] == "default" else str(plugin["source"])
