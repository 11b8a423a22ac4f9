"""The additions of mounted servers to `pegboard why` and `pegboard list`."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard import NotFoundError
from pegboard.plugin import CommandContext, Finding
from pegboard.terminal import same_name
from pegboard_plugins.servers.upstreams import UpstreamsPlugin
from pegboard_plugins.servers.upstreams.mounted import wire_form
from pegboard_plugins.servers.upstreams.upstream_server import UpstreamServer


def explain_name(command: CommandContext) -> Iterator[Finding]:
    """Tell the state of a server or tool of this name, and which settings exclude or rename a tool or prompt.

    The name of an item may be its own, as the server lists it.
    """
    wanted = command.options.name
    for server in _servers(command):
        if same_name(server.name, wanted):
            yield Finding("warning", _server_story(server, command))
        for own, shown in server.items.tool_names().items():
            if same_name(own, wanted):
                yield Finding("warning", f"{_tool_story(shown, command)}; it comes from {_toolkit(server)}")
        for kind, own, name, reason in _unserved(server, command):
            if same_name(name, wanted) or same_name(own, wanted):
                story = f"{kind.removesuffix('s')} {name}: not served; {reason}"
                yield Finding("warning", f"{story}; it comes from {_toolkit(server)}")


def count_unserved(command: CommandContext) -> Iterator[Finding]:
    """Tell how many tools of each server are not served, because its section leaves them out or they are invalid."""
    for server in _servers(command):
        unserved = (*server.items.refused, *server.selection.left_out)
        if count := sum(kind == "tools" for kind, _ in unserved):
            text = f"{count} more of the server {server.name} {'is' if count == 1 else 'are'} not served"
            yield Finding("warning", text, "`pegboard upstreams` explains it")


def _servers(command: CommandContext) -> Iterator[UpstreamServer]:
    plugins = [plugin.instance for plugin in command.host.report.plugins]
    return (server for plugin in plugins if isinstance(plugin, UpstreamsPlugin) for server in plugin.servers)


def _server_story(server: UpstreamServer, command: CommandContext) -> str:
    section = ("plugins", "upstreams", "servers", server.name)
    state = "on" if server.lost is None else f"not available: {server.lost}"
    tools = [name for name, bound in command.host.assembly.tools.items() if bound.tool.owner == server.name]
    story = f"toolkit {server.name}: {state}; mounted by [{'.'.join(section)}] ({command.host.config.source(section)})"
    return "\n  ".join([story, *([f"tools: {', '.join(tools)}"] if tools else [])])


def _tool_story(name: str, command: CommandContext) -> str:
    """Tell whether the host serves a tool that is in the catalogue under this name."""
    try:
        return f"tool {command.find_tool(command.host, name).tool.name}: served"
    except NotFoundError as error:
        return str(error)


def _toolkit(server: UpstreamServer) -> str:
    return f"the toolkit {server.name} of upstreams"


def _unserved(server: UpstreamServer, command: CommandContext) -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind, the own name, the name and the reason of each item that is not served under its name."""
    source, config = command.host.config.source, server.config
    for (kind, own), reason in server.selection.reasons(source).items():
        is_named = kind in ("tools", "prompts")
        yield kind, own, wire_form(config.shown_name(server.name, own)) if is_named else own, reason
    for kind, own in server.selection.renamed:
        place = source(("plugins", "upstreams", "servers", server.name, "rename", own))
        reason = (
            f"it is served as {config.rename[own]!r}, its name in rename of [plugins.upstreams.servers.{server.name}]"
        )
        yield kind, own, wire_form(config.prefixed(server.name, own)), f"{reason} ({place})"
