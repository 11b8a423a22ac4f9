"""The methods every protocol can call, over one assembly, with the middleware already around each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pegboard.assembly import Assembly
from pegboard.contracts import Call, CallNext, MethodResult, Middleware, NotificationHandler, Outcome
from pegboard.errors import NotFoundError, ProtocolError
from pegboard.execute import Runtime, call_tool, get_prompt, read_resource
from pegboard.jsonrpc import INVALID_PARAMS
from pegboard.pages import Lists, may_use


def method_table(assembly: Assembly, lists: Lists, runtime: Runtime) -> dict[str, CallNext]:
    """Every method by name, wrapped in the middleware that asked for it, outermost first."""
    methods = _Methods(assembly, runtime)
    table: dict[str, CallNext] = {
        "tools/call": methods.call_tool,
        "tools/list": lists.method("tools"),
        "resources/list": lists.method("resources"),
        "resources/templates/list": lists.method("templates"),
        "resources/read": methods.read_resource,
        "prompts/list": lists.method("prompts"),
        "prompts/get": methods.get_prompt,
    }
    for method in assembly.contributed.methods.values():
        table[method.name] = method.handler
    for listener in assembly.contributed.notifications.values():
        table[listener.name] = _heard(listener)
    return {method: _wrapped(handler, method, assembly.middleware) for method, handler in table.items()}


def _heard(listener: NotificationHandler) -> CallNext:
    async def hear(call: Call) -> Outcome:
        await listener.handler(call)
        return MethodResult()

    return hear


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
    def __init__(self, assembly: Assembly, runtime: Runtime) -> None:
        self._tools = assembly.tools
        self._resources = assembly.resources
        self._prompts = assembly.prompts
        self._runtime = runtime

    async def call_tool(self, call: Call) -> Outcome:
        name = _text_parameter(call.params, "name")
        bound = self._tools.get(name)
        if bound is None or not may_use(call.caller, bound):
            raise NotFoundError(f"Unknown tool: {name}")
        if not isinstance(call.params.get("arguments"), dict | None):
            raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object")
        return await call_tool(bound, call, self._runtime)

    async def read_resource(self, call: Call) -> Outcome:
        uri = _text_parameter(call.params, "uri")
        if uri not in self._resources:
            raise NotFoundError("Resource not found", data={"uri": uri})
        return await read_resource(self._resources[uri][1], self._runtime)

    async def get_prompt(self, call: Call) -> Outcome:
        name = _text_parameter(call.params, "name")
        if name not in self._prompts:
            raise NotFoundError(f"Unknown prompt: {name}")
        if not isinstance(call.params.get("arguments"), dict | None):
            raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object")
        return await get_prompt(self._prompts[name][1], self._runtime)
