"""Middleware that records the requests to mounted servers, and passes the trace on to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, Tracer, set_span_in_context

from pegboard.plugin import Middleware
from pegboard.types import Call, CallNext, Inventory, Outcome, Prompt, Resource, ResourceTemplate, Tool
from pegboard_plugins.operation.opentelemetry.call_spans import end_span
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.operation.opentelemetry.semantic_attributes import (
    Attributes,
    RequestProblem,
    problem_of,
    problem_of_outcome,
    request_attributes,
)

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
