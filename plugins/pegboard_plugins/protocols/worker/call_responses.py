"""Outcomes of calls as ToolCallResponses. Text is a string, other content is JSON in MCP's format."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pegboard import (
    AudioContent,
    AuthorizationRequiredError,
    Content,
    EmbeddedResource,
    ErrorKind,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    ToolError,
    ToolResult,
)
from pegboard.plugin import as_tool_result, encode, redacted
from pegboard.types import Failure, Outcome, RawResult, Resource, Tool
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.protocols.worker.tool_definitions import own_name, result_schema, return_type

NO_DETAILS = "(no details provided)"


def call_response(
    config: WorkerConfig,
    tool: Tool,
    outcome: Outcome,
    execution_id: str | None,
    duration: float,
    logs: list[dict[str, Any]] | None,
) -> dict[str, Any]:
    """Return a ToolCallResponse; `duration` is in milliseconds."""
    output = _output(config, tool, outcome)
    now = datetime.now() if config.zoneless_times else datetime.now(UTC)  # noqa: DTZ005 - as in the existing system
    return {
        "execution_id": execution_id or "",
        "finished_at": now.isoformat(),
        "duration": duration,
        "success": output["error"] is None,
        "output": {**output, "logs": logs},
    }


def _output(config: WorkerConfig, tool: Tool, outcome: Outcome) -> dict[str, Any]:
    value, error, missing = None, None, None
    if isinstance(outcome, RawResult):
        outcome = as_tool_result(outcome)
    if isinstance(outcome, ToolResult) and not outcome.is_error:
        value = _value(config, tool, outcome)
    elif isinstance(outcome, ToolResult):
        kind = ErrorKind.TOOL_RUNTIME_FATAL.value
        error = _payload(_error_message(kind, "ToolExecutionError", tool, _text(outcome)), kind)
    elif isinstance(outcome, Failure):
        error = _error(config, tool, outcome)
        missing = _missing_authorization(outcome)
    else:
        kind = ErrorKind.TOOL_RUNTIME_FATAL.value
        error = _payload(
            _error_message(kind, "FatalToolError", tool, "The result cannot be returned over this protocol."), kind
        )
    return {"value": value, "logs": None, "error": error, "requires_authorization": missing}


def _value(config: WorkerConfig, tool: Tool, result: ToolResult) -> Any:
    if result.content is not None and not result.structured:
        return content_value(result.content)
    if result.value is not None:
        is_text = tool.output_schema is None and not isinstance(result.value, str) and return_type(tool) is str
        return encode(result.value).decode() if is_text else result.value  # converted as for every client
    declared = result_schema(tool)
    if declared is None:
        return {}
    return "" if declared.nullable and config.none_is_empty else None


def _error(config: WorkerConfig, tool: Tool, failure: Failure) -> dict[str, Any]:
    error = failure.error
    name = type(error).__name__
    if not isinstance(error, ToolError):
        kind = ErrorKind.TOOL_RUNTIME_FATAL.value
        return _payload(_error_message(kind, name, tool, error.message), kind, error_id=failure.error_id)
    facts = error.to_payload(stacktrace=config.expose_internals)
    kind = str(facts["kind"])
    shown = {key: facts.get(key) for key in ("can_retry", "additional_prompt_content", "retry_after_ms")}
    payload = _payload(
        _error_message(kind, name, tool, error.message), kind, facts.get("extra"), failure.error_id, **shown
    )
    payload["status_code"] = facts.get("status_code")
    if config.expose_internals:
        own = facts.get("developer_message")
        payload["developer_message"] = None if own is None else _error_message(kind, name, tool, own)
        trace = facts.get("stacktrace")
        payload["stacktrace"] = None if trace is None else redacted(trace)
    return payload


def _payload(
    message: str, kind: str, extra: Any = None, error_id: str | None = None, *, can_retry: Any = False, **more: Any
) -> dict[str, Any]:
    """Return the members of a `ToolCallError` in the worker protocol."""
    details = {**(extra or {}), **({"error_id": error_id} if error_id is not None else {})}
    return {
        "message": message,
        "kind": kind,
        "developer_message": None,
        "can_retry": can_retry,
        "additional_prompt_content": more.get("additional_prompt_content"),
        "retry_after_ms": more.get("retry_after_ms"),
        "stacktrace": None,
        "status_code": None,
        "extra": details or None,
    }


def _error_message(kind: str, name: str, tool: Tool, message: str) -> str:
    return f"[{kind}] {name} during execution of tool '{own_name(tool)}': {message or NO_DETAILS}"


def _text(result: ToolResult) -> str:
    """Return the text blocks of a result."""
    return "\n".join(block.text for block in result.content or () if isinstance(block, TextContent))


def _missing_authorization(failure: Failure) -> dict[str, Any] | None:
    """Return the missing authorization, or None if none is missing."""
    error = failure.error
    if not isinstance(error, AuthorizationRequiredError):
        return None
    return {
        "authorization_url": error.url,
        "authorization_id": error.authorization_id,
        "scopes": list(error.scopes),
        "status": error.status,
    }


# --- Content. Members without a value are omitted.


def content_value(blocks: Sequence[Content]) -> Any:
    """Return content as the value of a result: one string if all blocks are text, otherwise a list of blocks."""
    if all(isinstance(block, TextContent) for block in blocks):
        return "\n".join(block.text for block in blocks if isinstance(block, TextContent))
    return [_block(block) for block in blocks]


def resource_contents(part: ResourceContents) -> dict[str, Any]:
    """Return one part of the contents of a resource."""
    members: dict[str, Any] = {"uri": part.uri, "mimeType": part.mime_type}
    if isinstance(part.content, str):
        members["text"] = part.content
    else:
        members["blob"] = b64encode(part.content).decode()
    members["_meta"] = None if part.meta is None else dict(part.meta)
    return _present(members)


def listed_resource(resource: Any) -> dict[str, Any]:
    """Return a resource as an item of a list."""
    assert isinstance(resource, Resource)
    members = {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.size,
        "_meta": None if resource.meta is None else dict(resource.meta),
    }
    return _present(members)


def _block(block: Content) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageContent | AudioContent):
        kind = "image" if isinstance(block, ImageContent) else "audio"
        data = block.data if isinstance(block.data, str) else b64encode(block.data).decode()
        return {"type": kind, "data": data, "mimeType": block.mime_type}
    if isinstance(block, EmbeddedResource):
        return {"type": "resource", "resource": resource_contents(block.resource)}
    assert isinstance(block, ResourceLink)
    about = {"title": block.title, "description": block.description, "mimeType": block.mime_type, "size": block.size}
    return {"type": "resource_link", "uri": block.uri, "name": block.name, **_present(about)}


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
