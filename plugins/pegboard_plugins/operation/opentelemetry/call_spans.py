"""Middleware that records a span for each request and notification."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar

from opentelemetry.context import Context, attach, detach
from opentelemetry.context import get_current as current
from opentelemetry.propagate import extract, get_global_textmap
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Inventory, Outcome
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
