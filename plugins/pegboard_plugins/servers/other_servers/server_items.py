"""The tools, prompts and resources of another MCP server: found by name, called, and printed. They may be invalid."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pegboard.errors import NotFoundError, ProtocolError
from pegboard.plugin import encode
from pegboard.terminal import (
    first_line,
    nearest,
    parameter_rows,
    print_result,
    print_result_json,
    print_table,
    print_text,
    same_name,
    say,
)
from pegboard_client import Client, ClientLimits
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND

Item = dict[str, Any]


class ListedKind(NamedTuple):
    """A kind of items that servers list.

    Attributes:
        noun: the word for an item.
        key: the member that names an item.
        read: reads the list.
    """

    noun: str
    key: str
    read: Callable[[Client], Awaitable[list[Item]]]


ITEM_KINDS: Mapping[str, ListedKind] = {
    "tools": ListedKind("tool", "name", Client.tools),
    "prompts": ListedKind("prompt", "name", Client.prompts),
    "resources": ListedKind("resource", "uri", Client.resources),
    "resourceTemplates": ListedKind("resource template", "uriTemplate", Client.templates),
}
"""The kinds by the member of the list's result."""


async def lists_of(client: Client, *kinds: str) -> dict[str, list[Item]]:
    """Return the lists of the server, or some of them. Lists that it does not offer are absent."""
    lists: dict[str, list[Item]] = {}
    for kind in kinds or ITEM_KINDS:
        capability = "resources" if kind == "resourceTemplates" else kind
        if capability not in client.server.capabilities:
            continue
        try:
            lists[kind] = await ITEM_KINDS[kind].read(client)
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
    named = [(kind, item, str(item.get(ITEM_KINDS[kind].key))) for kind, items in lists.items() for item in items]
    matches = [(kind, item) for kind, item, own in named if own == name]
    if not matches:
        similar = {own: (kind, item) for kind, item, own in named if same_name(own, name)}
        if len(similar) > 1:
            raise NotFoundError(f"{name!r} is ambiguous: {', '.join(similar)}")
        matches = list(similar.values())
    if matches:
        return matches[0]
    *nouns, last = [ITEM_KINDS[kind].noun for kind in lists] or ["tool"]
    kinds = f"{', '.join(nouns)} or {last}" if nouns else last
    close = nearest(name, [own for _, _, own in named])
    hint = f"; did you mean {close!r}?" if close else f"; {way} shows all that you may use"
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


# --- Lists and results for people.


def print_lists(lists: Mapping[str, list[dict[str, Any]]]) -> None:
    """Print the tools as a table, and each other list as a table with a title."""
    if not any(lists.values()):
        say("the server has no tools, prompts or resources")
    gap = ""
    for kind, items in lists.items():
        if not items:
            continue
        listed = ITEM_KINDS[kind]
        if kind != "tools":
            print_text(f"{gap}{listed.noun}s:")
        gap = "\n"
        print_table([(_cell(item.get(listed.key)), _cell(_summary(item, listed.key))) for item in items])


def _summary(item: Mapping[str, Any], own: str) -> str:
    """Return the first line of the description, else of the title or the name. Skip the member `own`."""
    members = ("description", "title", "name")
    return first_line(
        next((item[member] for member in members if member != own and isinstance(item.get(member), str)), "")
    )


def _cell(value: Any) -> str:
    """Return a value on one line."""
    return " ".join(value.split()) if isinstance(value, str) else "" if value is None else str(value)


def print_shown(kind: str, item: Mapping[str, Any]) -> None:
    """Print one item with everything that the server says about it."""
    title = _cell(item.get("title"))
    print_text(_cell(item.get(ITEM_KINDS[kind].key)) + (f" - {title}" if title else ""))
    if item.get("description") and isinstance(item["description"], str):
        print_text(f"\n{item['description']}\n")
    if kind == "tools":
        _print_parameters(item.get("inputSchema"))
        if hints := item.get("annotations"):
            print_text("\nannotations:")
            print_result_json(hints)
    elif kind == "prompts":
        _print_arguments(item.get("arguments"))
    else:
        members = ("name", "mimeType", "size")
        print_table([(f"  {name}", _cell(item[name])) for name in members if item.get(name) is not None])


def _print_parameters(schema: Any) -> None:
    try:
        rows = parameter_rows(schema)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        print_result_json(schema)  # an unusual schema
        return
    print_table([tuple(map(_indented, row)) for row in rows]) if rows else print_text("  no parameters")


def _indented(text: str) -> str:
    """Return a cell on one line. The first cell keeps its indentation."""
    return ("  " if text.startswith("  ") else "") + _cell(text)


def _print_arguments(arguments: Any) -> None:
    listed = [argument for argument in arguments if isinstance(argument, dict)] if isinstance(arguments, list) else []
    rows = [
        (
            f"  {_cell(argument.get('name'))}",
            "required" if argument.get("required") is True else "",
            _summary(argument, "name"),
        )
        for argument in listed
    ]
    print_table(rows) if rows else print_text("  no arguments")


# --- results


def print_tool_result(result: Mapping[str, Any]) -> None:
    """Print the content of a tool's result, or its structured content if there is no content."""
    blocks = result.get("content")
    if isinstance(blocks, list) and blocks:
        for block in blocks:
            print_result(_block_text(block))
    elif "structuredContent" in result:
        print_result_json(result["structuredContent"])


def say_error(result: Mapping[str, Any]) -> None:
    """Print the result of a tool that failed on standard error."""
    blocks = result.get("content")
    texts = [_block_text(block) for block in blocks] if isinstance(blocks, list) else []
    if not texts and "structuredContent" in result:
        texts = [_json(result["structuredContent"])]
    for line in "\n".join(texts).splitlines():
        say(line)


def print_prompt_result(result: Mapping[str, Any]) -> None:
    """Print the messages of a prompt, each after its role."""
    messages = result.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            print_result(f"{_cell(message.get('role'))}: {_block_text(message.get('content'))}")


def print_resource_contents(result: Mapping[str, Any]) -> None:
    """Print the contents of a resource. Of binary contents, print only the size."""
    contents = result.get("contents")
    for part in contents if isinstance(contents, list) else []:
        print_result(_part_text(part))


def _block_text(block: Any) -> str:
    """Return a block of content as text. Unknown blocks are JSON."""
    members = block if isinstance(block, dict) else {}
    kind, text = members.get("type"), members.get("text")
    if kind == "text" and isinstance(text, str):
        return text
    if kind in ("image", "audio") and isinstance(members.get("data"), str):
        return f"[{kind}: {_cell(members.get('mimeType'))}, {_decoded_size(members['data'])} bytes]"
    if kind == "resource_link":
        return f"{_cell(members.get('title') or members.get('name'))}: {_cell(members.get('uri'))}"
    if kind == "resource":
        return _part_text(members.get("resource"))
    return _json(block)


def _part_text(part: Any) -> str:
    """Return the text of a resource, or the size of its binary content."""
    members = part if isinstance(part, dict) else {}
    if isinstance(members.get("text"), str):
        return str(members["text"])
    if isinstance(members.get("blob"), str):
        kind = _cell(members.get("mimeType")) or "binary"
        return f"[{_cell(members.get('uri'))}: {kind}, {_decoded_size(members['blob'])} bytes]"
    return _json(part)


def _decoded_size(text: str) -> int:
    """Return the number of bytes that a base64 string has."""
    return len(text.rstrip("=")) * 3 // 4


def _json(value: Any) -> str:
    return encode(value).decode()
