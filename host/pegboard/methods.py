"""The methods every protocol can call, over one assembly, with the middleware already around each."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from pegboard.assembly import Assembly
from pegboard.contracts import ANONYMOUS, Call, Caller, CallNext, Listing, Middleware, Outcome, Prompt, Resource, Tool
from pegboard.errors import NotFoundError, ProtocolError
from pegboard.execute import BoundTool, Threads, call_tool, get_prompt, read_resource
from pegboard.jsonrpc import INVALID_PARAMS


def method_table(assembly: Assembly, threads: Threads, page_size: int) -> dict[str, CallNext]:
    """Every method by name, wrapped in the middleware that asked for it, outermost first."""
    methods = _Methods(assembly, threads)
    resources = {uri: resource for uri, (resource, _) in assembly.resources.items()}
    prompts = {name: prompt for name, (prompt, _) in assembly.prompts.items()}
    table: dict[str, CallNext] = {
        "tools/call": methods.call_tool,
        "tools/list": _ToolPages(assembly, page_size).list,
        "resources/list": _Pages("resources", resources, page_size).list,
        "resources/templates/list": _Pages("templates", {}, page_size).list,
        "resources/read": methods.read_resource,
        "prompts/list": _Pages("prompts", prompts, page_size).list,
        "prompts/get": methods.get_prompt,
    }
    return {method: _wrapped(handler, method, assembly.middleware) for method, handler in table.items()}


def _wrapped(handler: CallNext, method: str, middleware: Sequence[Middleware]) -> CallNext:
    for item in reversed(middleware):
        if item.methods is None or method in item.methods:
            handler = _around(item.handle, handler)
    return handler


def _around(handle: Callable[[Call, CallNext], Awaitable[Outcome]], call_next: CallNext) -> CallNext:
    return lambda call: handle(call, call_next)


def _text_parameter(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"params.{name} must be a string")
    return value


class _Methods:
    def __init__(self, assembly: Assembly, threads: Threads) -> None:
        self._tools = assembly.tools
        self._resources = assembly.resources
        self._prompts = assembly.prompts
        self._adapters = assembly.adapters
        self._threads = threads

    async def call_tool(self, call: Call) -> Outcome:
        name = _text_parameter(call.params, "name")
        bound = self._tools.get(name)
        if bound is None or not may_use(call.caller, bound):
            raise NotFoundError(f"Unknown tool: {name}")
        if not isinstance(call.params.get("arguments"), dict | None):
            raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object")
        return await call_tool(bound, call, self._threads, self._adapters)

    async def read_resource(self, call: Call) -> Outcome:
        uri = _text_parameter(call.params, "uri")
        if uri not in self._resources:
            raise NotFoundError("Resource not found", data={"uri": uri})
        return await read_resource(self._resources[uri][1], self._threads, self._adapters)

    async def get_prompt(self, call: Call) -> Outcome:
        name = _text_parameter(call.params, "name")
        if name not in self._prompts:
            raise NotFoundError(f"Unknown prompt: {name}")
        if not isinstance(call.params.get("arguments"), dict | None):
            raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object")
        return await get_prompt(self._prompts[name][1], self._threads, self._adapters)


def may_use(caller: Caller, bound: BoundTool) -> bool:
    """Whether a caller sees a tool: one that uses the operator's secrets is not for everybody who can reach us."""
    return not bound.secrets or caller.trusted or caller.subject is not None


class _ToolPages:
    """The list of tools, as callers see it who may use all of them, and as others do."""

    def __init__(self, assembly: Assembly, page_size: int) -> None:
        tools = assembly.tools.items()
        self._all = _Pages("tools", {name: bound.tool for name, bound in tools}, page_size)
        open_to_all = {name: bound.tool for name, bound in tools if may_use(ANONYMOUS, bound)}
        self._open = _Pages("tools", open_to_all, page_size) if len(open_to_all) < len(tools) else self._all

    async def list(self, call: Call) -> Outcome:
        trusted = call.caller.trusted or call.caller.subject is not None
        return await (self._all if trusted else self._open).list(call)


class _Pages:
    """A list in the order of names. A cursor is the last name given, so that any instance can go on from it."""

    def __init__(
        self,
        kind: Literal["tools", "resources", "templates", "prompts"],
        items: Mapping[str, Tool | Resource | Prompt],
        size: int,
    ) -> None:
        self._kind = kind
        self._names = sorted(items)
        self._items = [items[name] for name in self._names]
        self._size = size
        self._whole_pages = {start: self._page(start) for start in range(0, max(len(items), 1), size)}

    async def list(self, call: Call) -> Outcome:
        cursor = call.params.get("cursor")
        start = 0 if cursor is None else bisect_right(self._names, _decoded(cursor))
        return self._whole_pages.get(start) or self._page(start)

    def _page(self, start: int) -> Listing:
        end = start + self._size
        following = _encoded(self._names[end - 1]) if end < len(self._names) else None
        return Listing(self._kind, tuple(self._items[start:end]), following)


def _encoded(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _decoded(cursor: object) -> str:
    try:
        if isinstance(cursor, str) and (name := base64.b64decode(cursor, b"-_", validate=True).decode()):
            return name
    except (binascii.Error, ValueError):
        pass
    raise ProtocolError(INVALID_PARAMS, "params.cursor is not one of this server's cursors")
