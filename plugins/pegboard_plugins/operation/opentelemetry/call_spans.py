"""Middleware that records a span for each request and notification, and for each request to a mounted server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from time import perf_counter
from typing import Any, NamedTuple

from opentelemetry.context import Context, attach, detach
from opentelemetry.context import get_current as current
from opentelemetry.propagate import extract, get_global_textmap, inject
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Inventory, Outcome, Prompt, Resource, ResourceTemplate, Tool
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.operation.opentelemetry.semantic_attributes import (
    Attributes,
    RequestProblem,
    known_names,
    problem_of,
    problem_of_outcome,
    recorded,
    request_attributes,
    result_value,
    shortened,
    transport_attributes,
)
from pegboard_plugins.support.refusal_log import fingerprint

_failed: ContextVar[tuple[Call, Context] | None] = ContextVar("failed", default=None)
"""The last call that has failed in this task, with the context of its span."""


def failed_context(call: Call | None) -> Context | None:
    """Return the context of the span of a call that has just failed, or None for any other call.

    The host logs failures outside all middleware, after the end of the span.
    """
    failed = _failed.get()
    return failed[1] if failed is not None and failed[0] is call else None


class CallSpans(Middleware):
    """Records the requests and notifications of clients.

    Args:
        arguments: record the arguments of tools.
        results: record the results of tools.

    Attributes:
        tracer: the tracer, set before the first call.
    """

    outermost = True
    tracer: Tracer

    def __init__(self, *, arguments: bool, results: bool) -> None:
        self._arguments = arguments
        self._results = results
        self._names = known_names(None)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the catalogue."""
        self._names = known_names(inventory)
        return ()

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        """Record a request or a notification."""
        target = self._target(call)
        facts = request_attributes(call.method, target) | transport_attributes(call.transport, call.client.revision)
        parent, links = parent_of(call)
        name = call.method if target is None else f"{call.method} {target}"
        span = self.tracer.start_span(name, parent, SpanKind.SERVER, facts, links)
        if span.is_recording():
            span.set_attributes(self._details(call))
        token = attach(set_span_in_context(span, parent))
        problem: RequestProblem | None = None
        try:
            outcome = await call_next(call)
            problem = problem_of_outcome(call, outcome)
            if self._results and target is not None and call.method == "tools/call" and problem is None:
                span.set_attribute("gen_ai.tool.call.result", recorded(result_value(outcome)))
        except BaseException as error:
            problem = problem_of(call, error)
            _failed.set((call, set_span_in_context(span, parent)))
            raise
        finally:
            end_span(span, problem)
            detach(token)
        return outcome

    def _target(self, call: Call) -> str | None:
        """Return the name of the tool or prompt of a request, or None if it is unknown."""
        names = self._names.get(call.method)
        name = call.params.get("name") if names else None
        return name if type(name) is str and names and name in names else None

    def _details(self, call: Call) -> Attributes:
        """Return the attributes that only spans have."""
        attributes: Attributes = {}
        if call.request_id is not None:
            attributes["jsonrpc.request.id"] = shortened(str(call.request_id))
        if call.session_id is not None:
            attributes["mcp.session.id"] = fingerprint(call.session_id)  # a reader of the id could use the session
        if call.transport == "http" and call.peer:
            attributes["client.address"] = call.peer
        if isinstance(uri := call.params.get("uri"), str):
            attributes["mcp.resource.uri"] = shortened(uri)
        if self._arguments and call.method == "tools/call":
            attributes["gen_ai.tool.call.arguments"] = recorded(call.params.get("arguments"))
        return attributes


def end_span(span: Span, problem: RequestProblem | None) -> None:
    """End a span, with the error of its request."""
    if problem is not None:
        span.set_attributes(problem.attributes)
        span.set_status(StatusCode.ERROR, problem.message)
    span.end()


# --- The trace context of a request: from its `_meta`, its HTTP request, or the program.


def parent_of(call: Call) -> tuple[Context, list[Link]]:
    """Return the parent context of a request, and links to other contexts.

    The parent is the context in `params._meta`. The context of the HTTP request, or of the program that embeds the
    host, is linked. Without a context in `_meta`, it is the parent.
    """
    meta, headers = call.meta, call.headers
    ambient = current()
    if headers is not None and not get_current_span(ambient).get_span_context().is_valid:
        ambient = _extracted(headers.get, ambient)
    own = _extracted(meta.get, Context())
    if not get_current_span(own).get_span_context().is_valid:
        return _extracted(meta.get, ambient), []
    linked = get_current_span(ambient).get_span_context()
    return own, [Link(linked)] if linked.is_valid else []


def _extracted(get: Callable[[str], object], base: Context) -> Context:
    """Return a context with the fields that clients send, such as `traceparent`. Ignore values that are not strings."""
    carrier = {field: value for field in get_global_textmap().fields if isinstance(value := get(field), str)}
    return extract(carrier, context=base) if carrier else base


# --- Middleware that records the requests to mounted servers, and passes the trace on to them.

SERVICE_PEER_NAME = "service.peer.name"
"""The attribute for the logical name of the service that receives a request."""
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class _MountedItem(NamedTuple):
    """An item that comes from another server.

    Attributes:
        server: the name of the server.
        own: the server's own name of a tool or prompt; None for a resource.
    """

    server: str
    own: str | None


class MountedSpans(Middleware):
    """Records the requests to mounted servers. A span lasts from the host's request to the response.

    Attributes:
        durations: the durations.
        tracer: the tracer, set before the first call.
    """

    innermost = True
    tracer: Tracer

    def __init__(self) -> None:
        self.durations = DurationCounts(
            "mcp.client.operation.duration", "Durations of requests to servers.", _attributes
        )
        self._mounted: dict[str, dict[str, _MountedItem]] = {}
        self._answering: Callable[[str], Sequence[str]] = lambda uri: ()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the items that come from other servers."""
        kinds: Mapping[str, Mapping[str, Any]]
        kinds = {"tools/call": inventory.tools, "prompts/get": inventory.prompts, "resources/read": inventory.resources}
        self._mounted = {
            method: {name: _mounted_item(item) for name, item in items.items() if item.raw is not None}
            for method, items in kinds.items()
        }
        self._answering = inventory.answering
        return ()

    def _item(self, call: Call) -> _MountedItem | None:
        """Return the item of a call, if it comes from another server. A URI may match a template."""
        if not (items := self._mounted.get(call.method)):
            return None
        name = call.params.get(_NAMED_BY[call.method])
        if type(name) is not str or name in items or call.method != "resources/read":
            return items.get(name) if type(name) is str else None
        return next((items.get(template) for template in self._answering(name)), None)

    def wants(self, call: Call) -> bool:
        """Return True for items that come from other servers."""
        return self._item(call) is not None

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Record a request, and name its span in the `_meta` that the server receives."""
        item = self._item(call)
        assert item is not None
        server, target = item
        facts = _client_attributes(server, call.method, target)
        began = perf_counter()
        span = self.tracer.start_span(
            call.method if target is None else f"{call.method} {target}", None, SpanKind.CLIENT, facts
        )
        carrier: dict[str, str] = {}
        inject(carrier, set_span_in_context(span))
        problem: RequestProblem | None = None
        try:
            outcome = await call_next(call._replace(params={**call.params, "_meta": {**call.meta, **carrier}}))
            problem = problem_of_outcome(call, outcome)
        except BaseException as error:
            problem = problem_of(call, error)
            raise
        finally:
            end_span(span, problem)
            kind, code = (None, None) if problem is None else (problem.kind, problem.code)
            self.durations.add((server, call.method, target, kind, code), perf_counter() - began)
        return outcome


def _mounted_item(item: Tool | Prompt | Resource | ResourceTemplate) -> _MountedItem:
    own = item.raw.get("name") if item.raw is not None and isinstance(item, Tool | Prompt) else None
    return _MountedItem(item.owner, own)


def _client_attributes(server: str, method: str, target: str | None) -> Attributes:
    return {**request_attributes(method, target), SERVICE_PEER_NAME: server}


def _attributes(key: Key) -> Attributes:
    server, method, target, kind, code = key
    facts = _client_attributes(server or "", method or "", target)
    return facts if kind is None else facts | RequestProblem(kind, code).attributes
