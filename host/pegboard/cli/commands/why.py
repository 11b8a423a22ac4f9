"""`pegboard why NAME`: the reason why a plugin, toolkit or tool is served or not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import importlib_metadata

from pegboard.catalogue.pages import needs_of
from pegboard.cli import OK
from pegboard.cli.commands.plugins_command import needing, plugin_detail
from pegboard.cli.inspection.secret_report import secrets_as_json
from pegboard.cli.inspection.tool_lookup import find_tool, find_unserved, let_plugins_add_tools, plugins_adding_later
from pegboard.errors import NotFoundError
from pegboard.host import Host
from pegboard.loading.plugins import PluginChoice
from pegboard.names import nearest, normalise, same_name
from pegboard.plugin.commands import CommandContext, Finding
from pegboard.terminal.printing import print_json, print_text


def run_why(command: CommandContext) -> int:
    """Print the state, and the reason for it, of each plugin, toolkit, tool and secret with the given name."""
    options = command.options
    host = command.host
    choices = [choice for choice in host.report.choices if same_name(choice.origin.name, options.name)]
    stories = [*(_plugin_story(host, choice) for choice in choices), *_tool_stories(host, options.name)]
    stories += _secret_stories(host, options.name)
    if not stories:
        stories = list(_absent_stories(host, options.name))
    if not stories:
        added: list[str] = []
        missing = let_plugins_add_tools(host, lambda: added.extend(_added_stories(command)), waits=not options.no_wait)
        stories = [*_tool_stories(host, options.name)] or added or [*_missing_stories(options.name, missing)]
    if not stories:
        raise _unknown(host, options.name)
    if options.json:
        details = [plugin_detail(host, choice) for choice in choices]
        print_json({"name": options.name, "plugins": details, "story": stories})
    else:
        print_text("\n".join(stories))
    return OK


def _plugin_story(host: Host, choice: PluginChoice) -> str:
    detail = plugin_detail(host, choice)
    source = f"{detail['distribution']} {detail['version']}".strip() or "the program itself"
    lines = [f"{choice.origin.kind} {detail['name']}: {detail['state']}; {choice.reason}"]
    lines.append(f"  from {source}, {detail['target']}{_installed_from(choice)}")
    if detail["tools"]:
        lines.append(f"  tools: {', '.join(detail['tools'])}")
    of = len(host.assembly.middleware)
    lines += [
        f"  middleware {link['name']}, {link['place']} of {of}, outermost first: {', '.join(link['wraps'])}"
        for link in detail["middleware"]
    ]
    lines += [f"  secret {_secret_line(secret)}" for secret in detail["secrets"]]
    lines += [f"  token of {token['provider']}: {', '.join(token['tools'])}" for token in detail["tokens"]]
    for key, kind, noun in (("may_receive", "secrets", "secrets"), ("may_receive_tokens", "providers", "tokens")):
        if detail[key] is not None:
            place = host.config.source(("host", "toolkits", detail["name"], kind))
            names = ", ".join(detail[key]) or "none"
            lines.append(f"  may receive these {noun}: {names} ([host.toolkits.{detail['name']}] {kind}, {place})")
    lines += [f"  problem, {problem['stage']}: {problem['message']}" for problem in detail["problems"]]
    return "\n".join(lines)


def _secret_line(secret: Mapping[str, Any]) -> str:
    tools = f": {', '.join(secret['tools'])}" if secret["tools"] else ""
    return f"{secret['name']}, {'set' if secret['set'] else 'not set'}, {secret['given']}{tools}"


def _secret_stories(host: Host, name: str) -> Iterator[str]:
    """Yield the plugins and toolkits that receive a secret."""
    for choice in host.report.choices:
        for secret in secrets_as_json(host, choice.origin):
            if secret["name"].casefold() == name.casefold():
                yield f"{choice.origin.kind} {choice.origin.name} receives the secret {_secret_line(secret)}"


def _installed_from(choice: PluginChoice) -> str:
    """Return the URL of a distribution that does not come from a package index (PEP 610)."""
    if choice.origin.entry_point is None:
        return ""
    try:
        origin: Any = importlib_metadata.distribution(choice.origin.distribution).origin
        return f", installed from {origin.url}" if origin is not None else ""
    except (ValueError, OSError, AttributeError):
        return ", the record of its source (direct_url.json) cannot be read"


def _tool_stories(host: Host, name: str) -> Iterator[str]:
    try:
        bound = find_tool(host, name)
        tool, mark = bound.tool, needing(needs_of(bound))
        plugin = bound.origin.name
        toolkit = "" if tool.owner == plugin else f"the toolkit {tool.owner} of "
        yield f"tool {tool.name}: served; it comes from {toolkit}{plugin}" + (f"; it {mark}" if mark else "")
    except NotFoundError:
        pass
    unserved = find_unserved(host.assembly, name)
    for item in unserved:
        yield f"{item.kind[:-1]} {item.name}: not served; {item.reason}; it comes from {item.owner}"
    for problem in host.assembly.problems:
        if problem.message not in map(str, unserved) and any(
            _names(quoted, name, problem.origin) for quoted in re.findall(r"'([^']*)'", problem.message)
        ):
            yield f"problem: {problem}"


def _names(quoted: str, name: str, origin: object) -> bool:
    """Return True if a name in a problem is the requested one, with or without its toolkit's name."""
    return same_name(quoted, name) or same_name(f"{getattr(origin, 'name', '')}.{quoted}", name)


def _absent_stories(host: Host, name: str) -> Iterator[str]:
    """Yield the toolkits that did not load and may have a tool of that name."""
    for choice in host.report.choices:
        there = any(plugin.origin is choice.origin for plugin in host.report.plugins)
        if choice.origin.kind == "toolkit" and not there and normalise(name).startswith(_prefixes(choice.origin.name)):
            yield f"its tools are unknown because it did not load:\n{_plugin_story(host, choice)}"


def _added_stories(command: CommandContext) -> Iterator[str]:
    """Yield what features know about a name that the running host does not know."""
    for check in command.checks(command.host, "why"):
        yield from (finding.message for finding in check.run())


def _missing_stories(name: str, missing: Mapping[str, Finding]) -> Iterator[str]:
    """Yield the missing toolkits that may have a tool of that name."""
    for owner, finding in missing.items():
        if normalise(name).startswith(_prefixes(owner.rpartition("/")[2])):
            yield f"its tools are unknown because {finding.message}"


def _prefixes(toolkit: str) -> tuple[str, str]:
    """Return the beginnings of the normalized names of a toolkit's tools."""
    prefix = normalise(toolkit).replace(".", "_")
    return f"{prefix}_", f"{prefix}."


def _unknown(host: Host, name: str) -> NotFoundError:
    names = [choice.origin.name for choice in host.report.choices] + list(host.assembly.tools)
    close = nearest(name, names)
    hint = f"; did you mean {close!r}?" if close else "; --file FILE adds the tools of a file"
    later = ", ".join(plugins_adding_later(host))
    added = f"; tools of {later} are added while the host runs" if later else ""
    return NotFoundError(f"{name!r} is not installed{hint}{added}", data={"suggestion": close})
