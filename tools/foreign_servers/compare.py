"""Differences between an original server and its changed copy that a client or a model would notice.

Known differences that the migration page lists are removed from both sides first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from inspect import cleandoc
from typing import Any

from pegboard_plugins.compat.fastmcp.item_definitions import before_sections

_NOTES = frozenset(("title", "additionalProperties", "$schema", "x-fastmcp-wrap-result", "contentEncoding"))
"""Members of schemas that change no validation that matters here."""
_DEFAULTS = (("default", None), ("format", "binary"))
_HIDDEN = frozenset(("_meta", "outputSchema", "execution"))


def differences(original: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """Return one line for each difference."""
    for key in original.keys() | ours.keys():
        theirs, own = _normal(key, original.get(key)), _normal(key, ours.get(key))
        if theirs != own:
            yield f"{key}: {_short(theirs)} != {_short(own)}"


def without_docstrings(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers without the parts of docstrings that FastMCP 4 moves from tools to their parameters."""
    return {**answers, "tools": [_without_docstring(tool) for tool in answers.get("tools", ())]}


def _without_docstring(tool: Mapping[str, Any]) -> dict[str, Any]:
    members = tool["inputSchema"].get("properties", {})
    plain = {name: {k: v for k, v in member.items() if k != "description"} for name, member in members.items()}
    schema = {**tool["inputSchema"], "properties": plain}
    return {**tool, "description": before_sections(cleandoc(tool.get("description") or "")), "inputSchema": schema}


def _short(value: Any) -> str:
    return f"{json.dumps(value, sort_keys=True, default=str)[:400]}"


def _normal(key: str, value: Any) -> Any:
    if isinstance(value, list):
        return sorted((_item(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if key.startswith(("call", "read", "get")) and isinstance(value, dict):
        return _result(value)
    return None if key == "name" and str(value).startswith("FastMCP") else value or None


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a listed item."""
    kept = {name: value for name, value in item.items() if name not in _HIDDEN and value is not None}
    if kept.get("title") == kept.get("name", "").replace("_", " ").title():  # FastMCP 4 derives it
        del kept["title"]
    if kept.get("title") == kept.get("annotations", {}).get("title"):  # pegboard shows this one
        kept.pop("title", None)
    if "inputSchema" in kept:
        kept["inputSchema"] = _schema(kept["inputSchema"], kept["inputSchema"])
    kept["description"] = " ".join((kept.get("description") or "").split())
    if not kept["description"] or kept["description"] == kept.get("name"):
        del kept["description"]
    kept["arguments"] = [_argument(argument) for argument in kept.get("arguments") or ()]
    if not kept.get("arguments", True):
        del kept["arguments"]
    return kept


def _argument(argument: Mapping[str, Any]) -> dict[str, Any]:
    """Return an argument of a prompt without its type, which FastMCP writes into the description."""
    text = (argument.get("description") or "").partition("Provide ")[0].strip()
    kept = {name: value for name, value in argument.items() if name != "description"}
    return {**kept, "description": text} if text else kept


def _schema(schema: Any, root: Mapping[str, Any]) -> Any:
    """Return a schema without references and without members that mean nothing."""
    if isinstance(schema, list):
        return [_schema(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _schema({**root["$defs"][name], **{k: v for k, v in schema.items() if k != "$ref"}}, root)
    kept: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties":
            kept[name] = {member: _schema(member_schema, root) for member, member_schema in value.items()}
        elif name == "description" and isinstance(value, str):
            kept[name] = " ".join(value.split())
        elif name not in _NOTES and name != "$defs" and (name, value) not in _DEFAULTS:
            kept[name] = sorted(value) if name == "required" else _schema(value, root)
    return kept


def _result(result: Mapping[str, Any]) -> Any:
    """Return a result. Of errors, only the fact counts: pegboard masks unexpected exceptions."""
    if result.get("isError") or "error" in result:
        return "error"
    if "messages" in result:
        return [_message(message) for message in result["messages"]]
    if "contents" in result:
        return [_block({**part, "type": "text"} if "text" in part else part) for part in result["contents"]]
    structured = result.get("structuredContent")
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        structured = None
    content = [_block(block) for block in result.get("content", [])]
    if result.get("structuredContent") == {"result": None}:  # the text "null", or none
        content = []
    if content and all(block["type"] == "text" for block in content):  # the official SDK sends one block for each item
        texts = [block["text"] for block in content]
        content = texts[0] if len(texts) == 1 else texts
        content = [content] if not isinstance(content, list) else content
    return {"content": content, "structured": structured}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": _block(message["content"])}


def _block(block: Mapping[str, Any]) -> Any:
    """Return a block. JSON in text is compared as a value, since its white space differs."""
    kept = {name: value for name, value in block.items() if value is not None and name != "_meta"}
    if kept.get("type") == "text":
        with suppress(ValueError):
            kept["text"] = json.loads(kept["text"])
    return kept
