"""The comparison of definitions and results of the worker protocol, and of results over MCP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_WRAPPED = re.compile(r"\[[A-Z_]+\] \w+ during execution of tool '\w+': ")
"""The words of the framework before the message of an error."""
_UNEXPECTED = ("An unhandled", "Pydantic validation")
_TEXTS = ("message", "developer_message", "stacktrace", "extra")
"""Members of errors for people. Messages are compared if the author of the toolkit wrote them."""


def definition_differences(original: Mapping[str, Any], ours: Mapping[str, Any] | None) -> list[str]:
    """Return the differences of two definitions. Members that an old framework does not have are not compared.

    Two notations mean the same: no description is null or "", and secrets are found in upper and in lower case.
    """
    return ["is missing"] if ours is None else list(_differences(_settled(original), _settled(ours), ""))


def _settled(definition: Mapping[str, Any]) -> dict[str, Any]:
    toolkit = {**definition["toolkit"], "description": definition["toolkit"]["description"] or None}
    needed = definition["requirements"]
    secrets = [{"key": secret["key"].upper()} for secret in needed.get("secrets") or ()]
    return {**definition, "toolkit": toolkit, "requirements": {**needed, "secrets": secrets}}


def output_differences(original: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """Return the differences of the outputs of two calls over the worker protocol."""
    error, own_error = original.get("error"), ours.get("error")
    if error is None or own_error is None:
        return list(_differences({"value": original.get("value"), "error": error}, ours, ""))
    message = _WRAPPED.sub("", error["message"])
    found = [
        f"{member}: {json.dumps(value)} != {json.dumps(own_error.get(member))}"
        for member, value in error.items()
        if member not in _TEXTS and value != own_error.get(member)
    ]
    is_authors = error.get("kind") != "TOOL_RUNTIME_BAD_INPUT_VALUE" and not message.startswith(_UNEXPECTED)
    if is_authors and message not in own_error["message"] and error.get("stacktrace") is None:
        found.append(f"message: {message!r} != {own_error['message']!r}")
    return found


def mcp_differences(output: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """Return the differences of a call over the worker protocol and the same call over MCP, both of pegboard."""
    if error := output.get("error"):
        facts = (result.get("_meta") or {}).get("pegboard/error") or {}
        pairs = {"kind": "kind", "status_code": "statusCode", "retry_after_ms": "retryAfterMs"}
        return [
            f"MCP: {member}: {error[member]} != {facts.get(name)}"
            for member, name in pairs.items()
            if error[member] != facts.get(name)
        ]
    value, shown = output["value"], result.get("structuredContent")
    if not isinstance(value, dict) and isinstance(shown, dict):  # revisions before 2026-07-28
        shown = shown.get("result")
    return [f"MCP: {line}" for line in _differences(value, shown, "")]


def _differences(original: Any, ours: Any, path: str) -> Iterator[str]:
    if isinstance(original, dict) and isinstance(ours, dict):
        for key, value in original.items():
            yield from _differences(value, ours.get(key, "(missing)"), f"{path}.{key}")
    elif isinstance(original, list) and isinstance(ours, list) and len(original) == len(ours):
        for place, pair in enumerate(zip(original, ours, strict=True)):
            yield from _differences(*pair, f"{path}[{place}]")
    elif original != ours:
        yield f"{path}: {json.dumps(original)[:200]} != {json.dumps(ours)[:200]}"
