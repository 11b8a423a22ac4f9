"""Middleware that records the requests to mounted servers, and passes the trace on to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, Tracer, set_span_in_context

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Inventory, Outcome
from pegboard_plugins.opentelemetry.call_spans import end_span
from pegboard_plugins.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.opentelemetry.semantic_attributes import (
    Attributes,
    RequestProblem,
    problem_of,
    problem_of_outcome,
    request_attributes,
)

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


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
        self._mounted: dict[str, frozenset[str]] = {}

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the items that come from other servers."""
        kinds: Mapping[str, Mapping[str, Any]]
        kinds = {"tools/call": inventory.tools, "prompts/get": inventory.prompts, "resources/read": inventory.resources}
        self._mounted = {
            method: frozenset(name for name, item in items.items() if item.raw is not None)
            for method, items in kinds.items()
        }
        return ()

    def wants(self, call: Call) -> bool:
        """Return True for items that come from other servers."""
        known = self._mounted.get(call.method)
        name = call.params.get(_NAMED_BY[call.method]) if known else None
        return type(name) is str and known is not None and name in known

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Record a request, and name its span in the `_meta` that the server receives."""
        target = None if call.method == "resources/read" else call.params["name"]
        facts = request_attributes(call.method, target)
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
            self.durations.add((call.method, target, kind, code), perf_counter() - began)
        return outcome


def _attributes(key: Key) -> Attributes:
    method, target, kind, code = key
    facts = request_attributes(method or "", target)
    return facts if kind is None else facts | RequestProblem(kind, code).attributes
