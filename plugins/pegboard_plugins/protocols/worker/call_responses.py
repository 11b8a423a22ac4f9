"""Outcomes of calls as ToolCallResponses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pegboard import AuthorizationRequiredError, ErrorKind, TextContent, ToolError, ToolResult
from pegboard.plugin import as_tool_result, encode, redacted
from pegboard.types import Failure, Outcome, RawResult, Tool
from pegboard_plugins.protocols.worker.contents import content_value
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.protocols.worker.tool_definitions import own_name, result_schema, return_type

NO_DETAILS = "(no details provided)"


class CallResponses:
    """A builder of ToolCallResponses."""

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config

    def response(
        self, tool: Tool, outcome: Outcome, execution_id: str | None, duration: float, logs: list[dict[str, Any]] | None
    ) -> dict[str, Any]:
        """Return a ToolCallResponse; `duration` is in milliseconds."""
        output = self._output(tool, outcome)
        now = datetime.now() if self._config.zoneless_times else datetime.now(UTC)  # noqa: DTZ005 - as in the existing system
        return {
            "execution_id": execution_id or "",
            "finished_at": now.isoformat(),
            "duration": duration,
            "success": output["error"] is None,
            "output": {**output, "logs": logs},
        }

    def _output(self, tool: Tool, outcome: Outcome) -> dict[str, Any]:
        value, error, missing = None, None, None
        if isinstance(outcome, RawResult):
            outcome = as_tool_result(outcome)
        if isinstance(outcome, ToolResult) and not outcome.is_error:
            value = self._value(tool, outcome)
        elif isinstance(outcome, ToolResult):
            kind = ErrorKind.TOOL_RUNTIME_FATAL.value
            error = _payload(_error_message(kind, "ToolExecutionError", tool, _text(outcome)), kind)
        elif isinstance(outcome, Failure):
            error = self._error(tool, outcome)
            missing = _missing_authorization(outcome)
        else:
            kind = ErrorKind.TOOL_RUNTIME_FATAL.value
            error = _payload(
                _error_message(kind, "FatalToolError", tool, "The result cannot be returned over this protocol."), kind
            )
        return {"value": value, "logs": None, "error": error, "requires_authorization": missing}

    def _value(self, tool: Tool, result: ToolResult) -> Any:
        if result.content is not None and not result.structured:
            return content_value(result.content)
        if result.value is not None:
            is_text = tool.output_schema is None and not isinstance(result.value, str) and return_type(tool) is str
            return encode(result.value).decode() if is_text else result.value  # converted as for every client
        declared = result_schema(tool)
        if declared is None:
            return {}
        return "" if declared.nullable and self._config.none_is_empty else None

    def _error(self, tool: Tool, failure: Failure) -> dict[str, Any]:
        error = failure.error
        name = type(error).__name__
        if not isinstance(error, ToolError):
            kind = ErrorKind.TOOL_RUNTIME_FATAL.value
            return _payload(_error_message(kind, name, tool, error.message), kind, error_id=failure.error_id)
        facts = error.to_payload(stacktrace=self._config.expose_internals)
        kind = str(facts["kind"])
        shown = {key: facts.get(key) for key in ("can_retry", "additional_prompt_content", "retry_after_ms")}
        payload = _payload(
            _error_message(kind, name, tool, error.message), kind, facts.get("extra"), failure.error_id, **shown
        )
        payload["status_code"] = facts.get("status_code")
        if self._config.expose_internals:
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
