"""The attributes of the OpenTelemetry conventions for MCP, and the errors of responses."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pegboard import InsufficientScopeError, MCPError, NotFoundError, ToolError, ToolResult
from pegboard.errors import MCPContextError
from pegboard.plugin import ProtocolError, encode, redacted
from pegboard.types import Call, Failure, Inventory, Outcome, RawResult
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND

MAX_RECORDED_CHARACTERS = 4096
"""The number of characters of an argument, result, URI or message that are recorded."""

_NAMES = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name"}
_TRANSPORTS = {
    "stdio": {"network.transport": "pipe"},
    "http": {"network.transport": "tcp", "network.protocol.name": "http"},
}
_STATELESS = "2026-07-28"

Attributes = dict[str, str]


def known_names(inventory: Inventory | None) -> Mapping[str, Collection[str]]:
    """Return the names of the catalogue by method. Other names are not recorded, because clients choose them."""
    return {} if inventory is None else {"tools/call": inventory.tools, "prompts/get": inventory.prompts}


class RequestProblem(NamedTuple):
    """The error of a request.

    Attributes:
        kind: the value of `error.type`.
        code: the code of the JSON-RPC error; None if the response has none.
        message: the message of that error, with secrets masked.
    """

    kind: str
    code: str | None = None
    message: str | None = None

    @property
    def attributes(self) -> Attributes:
        """The attributes of spans and metrics."""
        code = {} if self.code is None else {"rpc.response.status_code": self.code}
        return {"error.type": self.kind, **code}


def transport_attributes(transport: str, revision: str) -> Attributes:
    """Return the attributes of a transport and a revision."""
    attributes = _TRANSPORTS.get(transport, {})
    return {**attributes, "mcp.protocol.version": revision} if revision else dict(attributes)


def request_attributes(method: str, target: str | None) -> Attributes:
    """Return the attributes of a method and the name of its tool or prompt, for spans and metrics."""
    attributes = {"mcp.method.name": method}
    if target is not None:
        attributes[_NAMES[method]] = target
    if method == "tools/call":
        attributes["gen_ai.operation.name"] = "execute_tool"
    return attributes


def problem_of_outcome(call: Call, outcome: Outcome) -> RequestProblem | None:
    """Return the error of an outcome, or None for a success."""
    if isinstance(outcome, Failure):
        return problem_of(call, outcome.error)
    return RequestProblem("tool_error") if isinstance(outcome, ToolResult | RawResult) and outcome.is_error else None


def problem_of(call: Call, error: BaseException) -> RequestProblem:
    """Return the error that a client receives for an exception."""
    if isinstance(error, CancelledError):
        return RequestProblem("cancelled")
    if call.method == "tools/call" and isinstance(error, ToolError):
        return RequestProblem("tool_error")
    code = str(_code(call, error))
    return RequestProblem(code, code, shortened(error.message) if isinstance(error, MCPError) else "Internal error")


def _code(call: Call, error: BaseException) -> int:
    if isinstance(error, ProtocolError):
        return error.code
    if isinstance(error, NotFoundError) and call.method == "resources/read" and call.client.revision != _STATELESS:
        return RESOURCE_NOT_FOUND
    if isinstance(error, NotFoundError | InsufficientScopeError | MCPContextError):
        return INVALID_PARAMS
    return INTERNAL_ERROR


def shortened(text: str) -> str:
    """Return a text with secrets masked and its end cut off."""
    return redacted(text)[:MAX_RECORDED_CHARACTERS]


def recorded(value: Any) -> str:
    """Return a JSON value as text, with secrets masked and its end cut off."""
    return shortened(encode(value).decode())


def result_value(outcome: Outcome) -> Any:
    """Return the value of a tool's result. Content other than text is named by its type."""
    if isinstance(outcome, RawResult):
        return outcome.value.get("content")
    if not isinstance(outcome, ToolResult):
        return None
    if outcome.content is None:
        return outcome.value
    return [getattr(block, "text", type(block).__name__) for block in outcome.content]
