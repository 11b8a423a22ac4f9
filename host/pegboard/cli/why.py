"""`pegboard why NAME`: why a plugin, a toolkit or a tool is there, or is not."""

from __future__ import annotations

from argparse import Namespace

from pegboard.cli import FAILED, OK
from pegboard.cli.common import loaded_host, print_json, print_text, say
from pegboard.cli.find import find_tool
from pegboard.cli.look import plugin_detail
from pegboard.errors import NotFoundError
from pegboard.host import Host
from pegboard.names import nearest, normalise
from pegboard.plugins import Choice


def run_why(options: Namespace) -> int:
    """Tell the story of one name; every plugin, toolkit and tool that bears it."""
    host = loaded_host(options)
    wanted = normalise(options.name)
    choices = [choice for choice in host.report.choices if normalise(choice.origin.name) == wanted]
    stories = [_plugin_story(host, choice) for choice in choices]
    stories += [
        f"tool {one.name}: not served; {one.reason}" for one in host.assembly.withheld if normalise(one.name) == wanted
    ]
    try:
        tool = find_tool(host.assembly, options.name).tool
        stories.append(f"tool {tool.name}: served; it comes from {tool.owner}")
    except NotFoundError:
        pass
    if not stories:
        return _unknown(host, options.name)
    if options.json:
        print_json(
            {"name": options.name, "plugins": [plugin_detail(host, choice) for choice in choices], "story": stories}
        )
    else:
        for story in stories:
            print_text(story)
    return OK


def _plugin_story(host: Host, choice: Choice) -> str:
    detail = plugin_detail(host, choice)
    source = f"{detail['distribution']} {detail['version']}".strip() or "the program itself"
    lines = [f"{choice.origin.kind} {detail['name']}: {detail['state']}; {choice.reason}"]
    lines.append(f"  from {source}, {detail['target']}{_installed_from(choice)}")
    if detail["tools"]:
        lines.append(f"  tools: {', '.join(detail['tools'])}")
    lines += [f"  problem: {problem}" for problem in detail["problems"]]
    return "\n".join(lines)


def _installed_from(choice: Choice) -> str:
    """Where the distribution was installed from, when that was not a package index (PEP 610)."""
    entry = choice.origin.entry_point
    origin = getattr(entry.dist, "origin", None) if entry and entry.dist else None
    return f", installed from {origin.url}" if origin is not None else ""


def _unknown(host: Host, name: str) -> int:
    names = [choice.origin.name for choice in host.report.choices] + list(host.assembly.tools)
    close = nearest(name, names)
    hint = f"; did you mean {close!r}?" if close else ""
    say(f"nothing installed is called {name!r}{hint}")
    return FAILED
