"""`pegboard why NAME`: the reason why a plugin, toolkit or tool is served or not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import importlib_metadata

from pegboard import Host, MCPError, NotFoundError
from pegboard.plugin import CommandContext, Finding
from pegboard.terminal import diverted, nearest, print_json, print_text, same_name, say

_OF_ITEMS = ("assemble", "secrets")  # the stages of problems of single items, such as a tool that is not served


def run_why(command: CommandContext) -> int:
    """Print the state, and the reason for it, of each plugin, toolkit, tool and secret with the given name."""
    host, name = command.new_host(), command.options.name
    with diverted():
        host.load()
    problems = [each for each in host.problems if each.fatal or each.stage not in _OF_ITEMS or _is_about(each, name)]
    for problem in problems:
        say(f"{problem.level}: {problem}")
    if any(problem.fatal for problem in problems):
        say("the host cannot start with these problems")
    details = command.plugin_details(host)
    chosen = [detail for detail in details if same_name(detail["name"], name)]
    stories = [
        *(_plugin_story(host, detail) for detail in chosen),
        *asyncio.run(_tool_stories(command, host, name)),
        *_secret_stories(details, name),
    ]
    stories = stories or _absent_stories(host, details, name) or _toolkit_stories(host, name)
    stories = stories or [*_later_stories(command, host, name)]
    if not stories:
        raise _unknown(host, name)
    if command.options.json:
        print_json({"name": name, "plugins": chosen, "story": stories})
    else:
        print_text("\n".join(stories))
    return 0


def _plugin_story(host: Host, detail: Mapping[str, Any]) -> str:
    origin = next(choice.origin for choice in host.report.choices if _is_of(detail, choice.origin))
    given = f"the plugin {origin.found_by}" if origin.found_by else "the program itself"
    source = f"{origin.distribution} {origin.version}".strip() or given
    lines = [
        f"{detail['kind']} {detail['name']}: {detail['state']}; {detail['reason']}",
        f"  from {source}, {origin.target}{_installed_from(origin)}",
    ]
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


def _secret_stories(details: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the plugins and toolkits that receive a secret."""
    return [
        f"{detail['kind']} {detail['name']} receives the secret {_secret_line(secret)}"
        for detail in details
        for secret in detail["secrets"]
        if secret["name"].casefold() == name.casefold()
    ]


def _is_of(detail: Mapping[str, Any], origin: Any) -> bool:
    return all(getattr(origin, name) == detail[name] for name in ("kind", "name", "distribution", "version", "target"))


def _installed_from(origin: Any) -> str:
    """Return the URL of a distribution that does not come from a package index (PEP 610)."""
    if origin.entry_point is None:
        return ""
    try:
        source: Any = importlib_metadata.distribution(origin.distribution).origin
        return f", installed from {source.url}" if source is not None else ""
    except (ValueError, OSError, AttributeError):
        return ", the record of its source (direct_url.json) cannot be read"


async def _tool_stories(command: CommandContext, host: Host, name: str) -> list[str]:
    """Return the stories of a tool, and the problems that name it."""
    stories, assembly = [], host.assembly
    try:
        bound = command.find_tool(host, name)
    except NotFoundError:
        pass
    else:
        stories.append("\n  ".join([line async for line in _tool_lines(host, bound)]))
    unserved = [item for item in assembly.unserved if same_name(item.name, name)]
    stories += [
        f"{item.kind[:-1]} {item.name}: not served; {item.reason}; it comes from {item.owner}" for item in unserved
    ]
    return stories + [
        f"problem: {problem}"
        for problem in assembly.problems
        if problem.message not in map(str, unserved) and _is_about(problem, name)
    ]


async def _tool_lines(host: Host, bound: Any) -> AsyncIterator[str]:
    """Yield the origin of a tool, who can call it, and the section that changes it."""
    tool, plugin, required = bound.tool, bound.origin.name, bound.requirements
    toolkit = "" if tool.owner == plugin else f"the toolkit {tool.owner} of "
    mark = f"; it needs {', '.join(required.needs)}" if required and required.needs else ""
    yield f"tool {tool.name}: served; it comes from {toolkit}{plugin}{mark}"
    if scopes := host.assembly.scopes_of(bound):
        yield f"scopes of the caller: {', '.join(scopes)}"
    if reason := host.assembly.operator_only.get(bound.name):
        yield f"operator only, as it {reason}, and no plugin authenticates callers"
    if required and (token := required.authorization):
        allows = f" that allows {', '.join(token.scopes)}" if token.scopes else ""
        states = [await source.state(token) for _, source in host.assembly.token_sources]
        told = "; ".join(filter(None, states)) or required.token_hint
        yield f"it requires a token of {token.name}{allows}{told and f'; {told}'}"
    for section in host.config.host.tools:
        if any(same_name(form, section) for form in bound.forms):
            place = host.config.source(("host", "tools", section))
            yield f"[host.tools.{section}] changes it ({place})"


def _is_about(problem: Any, name: str) -> bool:
    """Return True if a problem quotes the requested name, with or without its toolkit's name."""
    forms = ("", f"{getattr(problem.origin, 'name', '')}.")
    return any(same_name(form + each, name) for each in re.findall(r"'([^']*)'", problem.message) for form in forms)


def _absent_stories(host: Host, details: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the toolkits that did not load and may have a tool of that name."""
    return [
        f"{_plugin_story(host, detail)}\n  its tools are unknown because it did not load"
        for detail in details
        if detail["kind"] == "toolkit" and detail["state"] != "on" and _may_have(detail["name"], name)
    ]


def _toolkit_stories(host: Host, name: str) -> list[str]:
    """Return the tools of a toolkit that is no plugin of its own, but is named by the definitions of plugins."""
    served, unserved = host.assembly.tools.values(), host.assembly.unserved
    lines = [f"  {item.tool.name} of {item.origin.name}" for item in served if same_name(item.tool.owner, name)]
    lines += [
        f"  {item.name} of {item.owner}: not served; {item.reason}"
        for item in unserved
        if any("." in form and same_name(form.partition(".")[0], name) for form in item.forms)
    ]
    return ["\n".join([f"toolkit {name}: tools of plugins", *lines])] if lines else []


def _later_stories(command: CommandContext, host: Host, name: str) -> Sequence[str]:
    """Let plugins add their tools. Return what the running host and features then know about a name."""
    later = host.report.adding_later()
    if not later or any(problem.fatal for problem in host.problems):
        return ()
    try:
        with diverted():
            return asyncio.run(_started_stories(command, host, name))
    except MCPError as error:
        problem = Finding("error", f"the host cannot start: {error}")
        return _missing_stories(name, dict.fromkeys(later, problem))


async def _started_stories(command: CommandContext, host: Host, name: str) -> list[str]:
    async with host:
        missing = await command.list_items(host)
        if stories := await _tool_stories(command, host, name):
            return stories
        known = [finding.message for check in command.checks(host, "why") for finding in check.run()]
        return known or _toolkit_stories(host, name) or _missing_stories(name, missing)


def _missing_stories(name: str, missing: Mapping[str, Finding]) -> list[str]:
    """Return the missing toolkits that may have a tool of that name."""
    return [
        f"its tools are unknown because {finding.message}"
        for owner, finding in missing.items()
        if _may_have(owner.rpartition("/")[2], name)
    ]


def _may_have(toolkit: str, name: str) -> bool:
    """Return True if a name may be that of a tool of a toolkit."""
    return any(same_name(name[: end.start()], toolkit) for end in re.finditer(r"[\s._:-]", name.strip()))


def _unknown(host: Host, name: str) -> NotFoundError:
    names = [choice.origin.name for choice in host.report.choices] + list(host.assembly.tools)
    close = nearest(name, names)
    hint = f"; did you mean {close!r}?" if close else "; --file FILE adds the tools of a file"
    later = ", ".join(host.report.adding_later())
    added = f"; tools of {later} are added while the host runs" if later else ""
    return NotFoundError(f"{name!r} is not installed{hint}{added}", data={"suggestion": close})
