"""The differences of servers for Arcade that the migration page lists. They are removed from both sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LIMITS = frozenset(("default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"))
_NULL = {"type": "null"}


def settled(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server answered, without the known differences."""
    instructions = answers.get("instructions") or ""
    is_default = "tools/call" in instructions  # Arcade explains the protocol if the author writes nothing
    return {
        **{name: _texts(value) if name.startswith("call ") else value for name, value in answers.items()},
        "instructions": None if is_default else instructions,
        "tools": [_tool(tool) for tool in answers["tools"]],
    }


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    hints = {name: value for name, value in tool.get("annotations", {}).items() if name != "title"}
    kept = {name: value for name, value in tool.items() if name not in ("annotations", "execution")}
    return {**kept, "inputSchema": _schema(tool["inputSchema"]), **({"annotations": hints} if hints else {})}


def _schema(schema: Any) -> Any:
    """Return a schema without defaults, limits and null."""
    if isinstance(schema, list):
        return [_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    options = [option for option in schema.get("anyOf", ()) if option != _NULL]
    if len(options) == 1:
        schema = {**{name: value for name, value in schema.items() if name != "anyOf"}, **options[0]}
    if isinstance(schema.get("type"), list):
        schema = {**schema, "type": next(kind for kind in schema["type"] if kind != "null")}
    members = {
        name: {key: _schema(member) for key, member in value.items()}
        if name in ("properties", "$defs")
        else _schema(value)
        for name, value in schema.items()
    }
    return {name: value for name, value in members.items() if name not in _LIMITS or isinstance(value, dict)}


def _texts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result whose text is JSON: Arcade writes "True" and "" for true and null."""
    words = {"True": "true", "False": "false", "": "null"}
    blocks = [{**block, "text": words.get(block.get("text"), block.get("text"))} for block in result.get("content", ())]
    return {**result, "content": blocks}
