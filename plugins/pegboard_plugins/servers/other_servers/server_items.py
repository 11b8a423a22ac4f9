"""The tools, prompts and resources of another MCP server: found by name, called, and printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pegboard.errors import NotFoundError, ProtocolError
from pegboard.terminal import nearest, print_result_json, same_name
from pegboard_client import Client, ClientLimits
from pegboard_plugins.servers.other_servers.other_server_output import (
    print_prompt_result,
    print_resource_contents,
    print_tool_result,
)
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND

Item = dict[str, Any]

ITEM_KINDS = {
    "tools": ("tool", "name", Client.tools),
    "prompts": ("prompt", "name", Client.prompts),
    "resources": ("resource", "uri", Client.resources),
    "resourceTemplates": ("resource template", "uriTemplate", Client.templates),
}
"""The members of list results, each with its noun, the member that names an item, and the method of the client."""


async def lists_of(client: Client, *kinds: str) -> dict[str, list[Item]]:
    """Return the lists of the server, or some of them. Lists that it does not offer are absent."""
    lists: dict[str, list[Item]] = {}
    for kind in kinds or ITEM_KINDS:
        capability = "resources" if kind == "resourceTemplates" else kind
        if capability not in client.server.capabilities:
            continue
        try:
            lists[kind] = await ITEM_KINDS[kind][2](client)
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
    return lists


def found_in(lists: Mapping[str, list[Item]], name: str, way: str) -> tuple[str, Item]:
    """Return the kind and the item with a name or a URI. Prefer exact names to other spellings, and tools to prompts.

    Args:
        lists: the lists of the server.
        name: the name or the URI.
        way: how to list all items, for the message.

    Raises:
        NotFoundError: the name matches no item or several.
    """
    named = [(kind, item, str(item.get(ITEM_KINDS[kind][1]))) for kind, items in lists.items() for item in items]
    matches = [(kind, item) for kind, item, own in named if own == name]
    if not matches:
        similar = {own: (kind, item) for kind, item, own in named if same_name(own, name)}
        if len(similar) > 1:
            raise NotFoundError(f"{name!r} is ambiguous: {', '.join(similar)}")
        matches = list(similar.values())
    if matches:
        return matches[0]
    *nouns, last = [ITEM_KINDS[kind][0] for kind in lists] or ["tool"]
    kinds = f"{', '.join(nouns)} or {last}" if nouns else last
    close = nearest(name, [own for _, _, own in named])
    hint = f"; did you mean {close!r}?" if close else f"; {way} shows all"
    raise NotFoundError(f"the server has no {kinds} {name!r}{hint}")


async def call_named(
    client: Client,
    kind_and_item: tuple[str, Item],
    name: str,
    arguments: Mapping[str, Any],
    progress: Callable[[Mapping[str, Any]], None] | None,
) -> Item:
    """Call a tool, get a prompt, or read the resource whose URI is the name. Return the result."""
    kind, item = kind_and_item
    if kind in ("resources", "resourceTemplates"):
        return await client.read(name, progress=progress)
    if kind == "prompts":
        texts = {key: value if isinstance(value, str) else str(value) for key, value in arguments.items()}
        return await client.prompt(item["name"], texts, progress=progress)
    return await client.call(item["name"], arguments, progress=progress, timeout=ClientLimits().request_seconds)


def print_called(kind: str, result: Item, *, as_json: bool) -> None:
    """Print the result of a tool, a prompt or a resource."""
    if as_json:
        print_result_json(result)
    elif kind == "tools":
        print_tool_result(result)
    else:
        (print_prompt_result if kind == "prompts" else print_resource_contents)(result)


def has_failed(result: Item) -> bool:
    """Return True if the tool says that it failed."""
    return result.get("isError") is True


def are_unsuitable(arguments: Mapping[str, Any], item: Item) -> bool:
    """Return True if arguments do not suit the schema of a tool: one is unknown, missing, or a string by mistake."""
    schema = item.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return False
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    types = {name: member.get("type") for name, member in properties.items() if isinstance(member, dict)}
    mistaken = [
        name for name, value in arguments.items() if isinstance(value, str) and types.get(name, "string") != "string"
    ]
    return bool(mistaken or arguments.keys() - properties.keys() or set(required) - arguments.keys())


def parameters_hint(way: str) -> str:
    """Return the hint for wrong arguments, with the command that shows the parameters."""
    return f"{way} lists the parameters; write other types as key:=json"
