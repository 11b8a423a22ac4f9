"""The handlers of the worker's routes. Each calls the host and returns the outcome as a response."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from pegboard import NotFoundError, ResourceResult
from pegboard.plugin import ProtocolContext, encode, redacted
from pegboard.types import Call, Change, Client, Failure, Listing, Outcome, Request, Response, Supplied, Tool
from pegboard_plugins.protocols.worker.call_responses import call_response, listed_resource, resource_contents
from pegboard_plugins.protocols.worker.jwt_authenticator import ENGINE
from pegboard_plugins.protocols.worker.request_bodies import (
    ListRequest,
    ReadRequest,
    ToolCallRequest,
    ToolReference,
    error_response,
    read_body,
)
from pegboard_plugins.protocols.worker.settings import WorkerConfig
from pegboard_plugins.protocols.worker.tool_definitions import tool_definition
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND

_CLIENT = Client("worker")


class ToolIndex(NamedTuple):
    """The tools at one moment.

    Attributes:
        by_name: tools by the casefolded names of their toolkit and their own.
        listed: the definitions of all tools, as JSON.
    """

    by_name: dict[tuple[str, str], list[Tool]]
    listed: bytes


class WorkerHandlers:
    """The handlers of the worker's routes.

    Args:
        config: the plugin's settings.
    """

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._index: ToolIndex | None = None
        self._changes = 0
        self._watching = False

    async def health(self, request: Request, host: ProtocolContext) -> Response:
        """Handle `GET /worker/health`. No token is needed."""
        count = sum(map(len, (await self._tools(host)).by_name.values()))
        return _json({"status": "ok", "tool_count": str(count)})

    async def tools(self, request: Request, host: ProtocolContext) -> Response:
        """Handle `GET /worker/tools`: return the definitions of all tools."""
        return Response(200, (await self._tools(host)).listed)

    async def invoke(self, request: Request, host: ProtocolContext) -> Response:
        """Handle `POST /worker/tools/invoke`: call a tool. The status is 200 even if the tool fails."""
        body = read_body(request, ToolCallRequest)
        if isinstance(body, Response):
            return body
        tool = _find(self._index or await self._tools(host), body.tool)
        if tool is None:
            return await self._unknown(body, request, host)
        supplied = body.context.supplied(lenient=not self._config.check_requirements)
        log = CallLog(tool)
        call = _call("tools/call", {"name": tool.name, "arguments": body.inputs or {}}, request)
        started = time.perf_counter()
        outcome = await host.dispatch(
            call._replace(request_id=body.execution_id, notify=log.receive, supplied=supplied)
        )
        duration = (time.perf_counter() - started) * 1000
        return _json(call_response(self._config, tool, outcome, body.execution_id, duration, log.entries or None))

    async def list_resources(self, request: Request, host: ProtocolContext) -> Response:
        """Handle `POST /worker/resources/list`: return one page of resources."""
        body = read_body(request, ListRequest)
        if isinstance(body, Response):
            return body
        params = {} if body.cursor is None else {"cursor": body.cursor}
        outcome = await host.dispatch(_call("resources/list", params, request))
        if not isinstance(outcome, Listing):
            return error_response(400, INVALID_PARAMS, "Invalid cursor")
        page: dict[str, Any] = {"resources": [listed_resource(resource) for resource in outcome.items]}
        if outcome.next_cursor is not None:
            page["nextCursor"] = outcome.next_cursor
        return _json(page)

    async def read_resource(self, request: Request, host: ProtocolContext) -> Response:
        """Handle `POST /worker/resources/read`: return the contents of a resource."""
        body = read_body(request, ReadRequest)
        if isinstance(body, Response):
            return body
        outcome = await host.dispatch(_call("resources/read", {"uri": body.uri}, request))
        if isinstance(outcome, ResourceResult):
            return _json({"contents": [resource_contents(part) for part in outcome.contents]})
        return _unreadable(outcome, body.uri)

    # --- tools

    async def _unknown(self, body: ToolCallRequest, request: Request, host: ProtocolContext) -> Response:
        """Refuse a call of an unknown tool. Middleware sees the call, so that it can be recorded."""
        params = {"name": f"{body.tool.toolkit}.{body.tool.name}", "arguments": body.inputs or {}}
        await host.dispatch(_call("tools/call", params, request)._replace(request_id=body.execution_id))
        if self._config.unknown_tool == "internal_error":
            return Response(500, b"Internal Server Error", content_type="text/plain; charset=utf-8")
        version = f" in version {body.tool.version}" if body.tool.version is not None else ""
        return error_response(404, INVALID_PARAMS, f"Unknown tool: {body.tool.toolkit}.{body.tool.name}{version}")

    async def _tools(self, host: ProtocolContext) -> ToolIndex:
        """Return the current tools. The response is cached until tools change."""
        if not self._watching:
            self._watching = True
            host.watch(self._forget)
        if self._index is not None:
            return self._index
        changes = self._changes
        index = _make_index(await _all_tools(host))
        if changes == self._changes:  # otherwise it is outdated already
            self._index = index
        return index

    def _forget(self, change: Change) -> None:
        if change.kind == "tools":
            self._changes += 1
            self._index = None


def _find(index: ToolIndex, reference: ToolReference) -> Tool | None:
    """Return the requested tool, or the first version of it if the request names no version."""
    versions = index.by_name.get((reference.toolkit.casefold(), reference.name.casefold()), ())
    if reference.version is not None:
        version = reference.version.casefold()
        versions = [tool for tool in versions if (tool.version or "").casefold() == version]
    return versions[0] if versions else None


def _make_index(tools: list[Tool]) -> ToolIndex:
    by_name: dict[tuple[str, str], list[Tool]] = {}
    definitions = []
    for tool in tools:
        definition = tool_definition(tool)
        key = definition["toolkit"]["name"].casefold(), definition["name"].casefold()
        by_name.setdefault(key, []).append(tool)
        definitions.append(definition)
    return ToolIndex(by_name, encode(definitions))


def method_not_allowed(allowed: str) -> Callable[[Request, ProtocolContext], Awaitable[Response]]:
    """Return a handler that refuses a request with 405."""
    refusal = Response(405, encode({"detail": "Method Not Allowed"}), headers={"Allow": allowed})

    async def refuse(request: Request, host: ProtocolContext) -> Response:
        return refusal

    return refuse


async def _all_tools(host: ProtocolContext) -> list[Tool]:
    tools: list[Tool] = []
    params: dict[str, str] = {}
    while True:
        page = await host.dispatch(Call("tools/list", params, caller=ENGINE, client=_CLIENT, supplied=Supplied()))
        if isinstance(page, Failure):
            raise page.error
        assert isinstance(page, Listing)
        tools += [tool for tool in page.items if isinstance(tool, Tool)]
        if page.next_cursor is None:
            return tools
        params = {"cursor": page.next_cursor}


def _call(method: str, params: dict[str, Any], request: Request) -> Call:
    return Call(
        method,
        params,
        caller=request.caller,
        client=_CLIENT,
        headers=request.headers,
        supplied=Supplied(),
        peer=request.peer,
        transport="http",
    )


def _unreadable(outcome: Outcome, uri: str) -> Response:
    if isinstance(outcome, Failure) and isinstance(outcome.error, NotFoundError):
        return error_response(404, RESOURCE_NOT_FOUND, f"Resource not found: {uri}")
    message = outcome.error.message if isinstance(outcome, Failure) else "Internal error"
    return error_response(500, INTERNAL_ERROR, message)


def _json(value: Any) -> Response:
    return Response(200, encode(value))


# --- Log messages and progress of one call, for its response. Secrets are masked.

_LEVELS = {"debug": "debug", "info": "info", "notice": "info", "warning": "warning"}


class CallLog:
    """The log of one call.

    Attributes:
        entries: the messages in order.
    """

    def __init__(self, tool: Tool) -> None:
        self.entries: list[dict[str, Any]] = []
        self._repeated = f"{tool.name} is deprecated: {tool.deprecated}"  # a log message of the host
        if tool.deprecated is not None:
            self._add(tool.deprecated, "warning", "deprecation")

    def receive(self, method: str, params: dict[str, Any]) -> None:
        """Add a log message or a progress message. Progress without a message is dropped."""
        if method == "notifications/message" and params["data"] != self._repeated:
            self._add(_text(params["data"]), _LEVELS.get(params["level"], "error"))
        elif method == "notifications/progress" and params.get("message"):
            self._add(params["message"], "info")

    def _add(self, message: str, level: str, subtype: str | None = None) -> None:
        self.entries.append({"message": redacted(message), "level": level, "subtype": subtype})


def _text(data: Any) -> str:
    return data if isinstance(data, str) else encode(data).decode()
