"""The telemetry of one host, from its start to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from pegboard.plugin import Gauge, Middleware, Observer, SessionInfo
from pegboard.types import Call, CallNext, Inventory, Outcome
from pegboard_plugins.operation.opentelemetry.call_spans import CallSpans, MountedSpans
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.operation.opentelemetry.sdk_providers import SdkProviders
from pegboard_plugins.operation.opentelemetry.semantic_attributes import (
    Attributes,
    RequestProblem,
    known_names,
    problem_of,
    problem_of_outcome,
    request_attributes,
    transport_attributes,
)

if TYPE_CHECKING:
    from pegboard_plugins.operation.opentelemetry import OpenTelemetryConfig

SCOPE = "pegboard"
"""The name of the instrumentation scope."""


class Telemetry(Observer):
    """Records the requests, sessions and gauges of one host.

    Args:
        config: the settings.

    Attributes:
        middleware: the middleware that records requests.
    """

    _meter: Meter

    def __init__(self, config: OpenTelemetryConfig) -> None:
        self._config = config
        self._calls = CallDurations()
        self._spans = CallSpans(arguments=config.arguments, results=config.results)
        self._mounted = MountedSpans()
        self._sessions = DurationCounts("mcp.server.session.duration", "Durations of sessions.", _session_attributes)
        used = ((self._calls, config.metrics), (self._spans, config.traces), (self._mounted, True))
        self.middleware: list[Middleware] = [middleware for middleware, is_used in used if is_used]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Start the SDK. At the end, send the remaining telemetry within a time limit."""
        durations = (self._calls.durations, self._mounted.durations, self._sessions)
        providers = SdkProviders(self._config, durations)
        self._meter = providers.meter(SCOPE)
        self._spans.tracer = self._mounted.tracer = providers.tracer(SCOPE)
        try:
            yield
        finally:
            await providers.close(self._config.flush_seconds)

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        for gauge in gauges:
            self._meter.create_observable_gauge(
                f"{SCOPE}.{gauge.name}", [_reader(gauge)], description=gauge.description
            )

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        self._sessions.add((session.transport, session.client.revision), seconds)


def _session_attributes(key: Key) -> Attributes:
    transport, revision = key
    return transport_attributes(transport or "", revision or "")


def _reader(gauge: Gauge) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def read(options: CallbackOptions) -> Iterable[Observation]:
        for label, value in gauge.read().items():
            yield Observation(value, {gauge.label: label} if gauge.label else {})

    return read


class CallDurations(Middleware):
    """Counts the durations of the messages of clients.

    Attributes:
        durations: the durations.
    """

    outermost = True

    def __init__(self) -> None:
        self.durations = DurationCounts(
            "mcp.server.operation.duration", "Durations of requests and notifications of clients.", _attributes
        )
        self._names = known_names(None)

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the catalogue. Durations of other names are not counted by name."""
        self._names = known_names(inventory)
        self.durations.keep(lambda key: key[1] is None or key[1] in self._names.get(key[0] or "", ()))
        return ()

    async def on_message(self, call: Call, call_next: CallNext) -> Outcome:
        """Count a request or a notification when it ends."""
        began = perf_counter()
        try:
            outcome = await call_next(call)
        except BaseException as error:
            self._count(call, began, problem_of(call, error))
            raise
        self._count(call, began, problem_of_outcome(call, outcome))
        return outcome

    def _count(self, call: Call, began: float, problem: RequestProblem | None) -> None:
        method = call.method
        names = self._names.get(method)
        name = None if names is None else call.params.get("name")
        target = name if type(name) is str and names is not None and name in names else None
        kind, code = (None, None) if problem is None else (problem.kind, problem.code)
        self.durations.add((method, target, call.transport, call.client.revision, kind, code), perf_counter() - began)


def _attributes(key: Key) -> Attributes:
    method, target, transport, revision, kind, code = key
    facts = request_attributes(method or "", target) | transport_attributes(transport or "", revision or "")
    return facts if kind is None else facts | RequestProblem(kind, code).attributes
