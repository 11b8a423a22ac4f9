"""The telemetry of one host, from its start to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from pegboard.plugin import Gauge, Middleware, Observer, SessionInfo
from pegboard_plugins.operation.opentelemetry.call_durations import CallDurations
from pegboard_plugins.operation.opentelemetry.call_spans import CallSpans
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts, Key
from pegboard_plugins.operation.opentelemetry.mounted_spans import MountedSpans
from pegboard_plugins.operation.opentelemetry.sdk_providers import SdkProviders
from pegboard_plugins.operation.opentelemetry.semantic_attributes import Attributes, transport_attributes

if TYPE_CHECKING:
    from pegboard_plugins.operation.opentelemetry.settings import OpenTelemetryConfig

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
        """Export all gauges."""
        for gauge in gauges:
            self._meter.create_observable_gauge(
                f"{SCOPE}.{gauge.name}", [_reader(gauge)], description=gauge.description
            )

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        """Count the duration of a session."""
        self._sessions.add((session.transport, session.client.revision), seconds)


def _session_attributes(key: Key) -> Attributes:
    transport, revision = key
    return transport_attributes(transport or "", revision or "")


def _reader(gauge: Gauge) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def read(options: CallbackOptions) -> Iterable[Observation]:
        for label, value in gauge.read().items():
            yield Observation(value, {gauge.label: label} if gauge.label else {})

    return read
