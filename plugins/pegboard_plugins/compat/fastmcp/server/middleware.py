"""Middleware written for FastMCP, as middleware of pegboard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

from pegboard import TextContent
from pegboard import ToolResult as HostToolResult
from pegboard.plugin import Middleware as HostMiddleware
from pegboard.plugin import as_tool_result
from pegboard.types import Call, Listing, Outcome, RawResult
from pegboard.types import CallNext as HostCallNext
from pegboard_plugins.compat.fastmcp.elsewhere import missing_names
from pegboard_plugins.compat.fastmcp.results import ToolResult, as_block
from pegboard_plugins.compat.fastmcp.types import MESSAGES, Object, plain

__all__ = ["CallNext", "Middleware", "MiddlewareContext"]

__getattr__ = missing_names(__name__)

T = TypeVar("T")
CallNext = Callable[["MiddlewareContext[T]"], Awaitable[Any]]

_METHODS = {
    "tools/call": "on_call_tool",
    "resources/read": "on_read_resource",
    "prompts/get": "on_get_prompt",
    "tools/list": "on_list_tools",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/list": "on_list_prompts",
}


@dataclass(kw_only=True, frozen=True)
class MiddlewareContext(Generic[T]):
    """One message.

    Attributes:
        message: its parameters, such as `name` and `arguments`.
        method: its method.
        type: "request" or "notification".
        source: always "client".
        timestamp: the time at which middleware received it.
        fastmcp_context: always None. The Context exists inside of the function.
    """

    message: T
    method: str | None = None
    type: Literal["request", "notification"] = "request"
    source: Literal["client", "server"] = "client"
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    fastmcp_context: Any = None

    def copy(self, **changes: Any) -> MiddlewareContext[T]:
        """Return a changed copy."""
        return replace(self, **changes)


class Middleware:
    """The base class of middleware. A subclass overrides methods, or `__call__`."""

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        """Call the methods for a message, outermost first: `on_message`, `on_request`, `on_call_tool`."""
        kind = "on_request" if context.type == "request" else "on_notification"
        for name in (_METHODS.get(context.method or ""), kind, "on_message"):
            if name is not None:
                call_next = _within(getattr(self, name), call_next)
        return await call_next(context)

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any]) -> Any:
        """Run around each message. The methods below do the same unless they are overridden."""
        return await call_next(context)

    on_request = on_notification = on_call_tool = on_read_resource = on_get_prompt = on_message
    on_list_tools = on_list_resources = on_list_resource_templates = on_list_prompts = on_message


def _within(method: Callable[..., Any], call_next: CallNext[Any]) -> CallNext[Any]:
    async def run(context: MiddlewareContext[Any]) -> Any:
        return await method(context, call_next)

    return run


class AdaptedMiddleware(HostMiddleware):
    """Middleware of FastMCP around the calls of a host.

    Args:
        middleware: the middleware.
    """

    def __init__(self, middleware: Callable[..., Awaitable[Any]]) -> None:
        self._middleware = middleware

    async def on_message(self, call: Call, call_next: HostCallNext) -> Outcome:
        """Run the middleware with the message of a call."""
        outcomes: list[Outcome] = []

        async def proceed(context: MiddlewareContext[Any]) -> Any:
            params = {**call.params, **plain(context.message)}
            outcomes[:] = [await call_next(call._replace(params=params))]
            return _shown(outcomes[0])

        message = MESSAGES.get(call.method, Object)(**call.params)
        kind: Literal["request", "notification"] = "notification" if call.method.startswith("notif") else "request"
        result = await self._middleware(MiddlewareContext(message=message, method=call.method, type=kind), proceed)
        return _converted(result, outcomes[0] if outcomes else None)


def _shown(outcome: Outcome) -> Any:
    """Return an outcome as middleware of FastMCP sees it: results of tools, and the items of lists."""
    if isinstance(outcome, HostToolResult):
        content = [TextContent(as_block(outcome.value))] if outcome.content is None else list(outcome.content)
        return ToolResult(content, _object(outcome), dict(outcome.meta or {}) or None, outcome.is_error)
    return list(outcome.items) if isinstance(outcome, Listing) else outcome


def _object(outcome: HostToolResult) -> Any:
    """Return the structured content of a result. FastMCP puts a value that is no object into an object."""
    is_plain = outcome.value is None or isinstance(outcome.value, dict)
    return outcome.value if is_plain or not outcome.structured else {"result": outcome.value}


def _converted(result: Any, outcome: Outcome | None) -> Outcome:
    """Return the result of the middleware as an outcome. An unchanged result is the outcome that it received."""
    if outcome is not None and result == _shown(outcome):
        return outcome
    if isinstance(outcome, Listing):
        return Listing(outcome.kind, tuple(result), outcome.next_cursor, private=outcome.private)
    if isinstance(result, ToolResult) and isinstance(outcome, HostToolResult) and outcome.value != _object(outcome):
        result = result._replace(structured_content=(result.structured_content or {}).get("result"))
    return _sendable(result.converted()) if isinstance(result, ToolResult) else result


def _sendable(result: HostToolResult) -> HostToolResult:
    """Return a result whose content is content of the host."""
    return result._replace(content=tuple(block for item in result.content or () for block in _blocks(item)))


def _blocks(item: Any) -> tuple[Any, ...]:
    """Return one item as content. A block of `mcp.types` has become a dict."""
    if isinstance(item, dict):
        return as_tool_result(RawResult({"content": [item]})).content or ()
    return (TextContent(item) if isinstance(item, str) else item,)
