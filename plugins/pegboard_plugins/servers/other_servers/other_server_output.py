"""Lists and results of another MCP server, for people. They may be invalid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.plugin import encode
from pegboard.terminal import (
    first_line,
    parameter_rows,
    print_result,
    print_result_json,
    print_table,
    print_text,
    say,
)

_NAMES = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
_TITLES = {"prompts": "prompts", "resources": "resources", "resourceTemplates": "resource templates"}


def print_lists(lists: Mapping[str, list[dict[str, Any]]]) -> None:
    """Print the tools as a table, and each other list as a table with a title."""
    if not any(lists.values()):
        say("the server has no tools, prompts and resources")
    gap = ""
    for kind, items in lists.items():
        if not items:
            continue
        if kind in _TITLES:
            print_text(f"{gap}{_TITLES[kind]}:")
        gap = "\n"
        print_table([(_cell(item.get(_NAMES[kind])), _cell(_summary(item, _NAMES[kind]))) for item in items])


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
    print_text(_cell(item.get(_NAMES[kind])) + (f" - {title}" if title else ""))
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
