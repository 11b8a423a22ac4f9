"""Traces, metrics and logs by the OpenTelemetry SDK (the extra `opentelemetry`). Docs: `docs/telemetry.md`.

Names and attributes follow the OpenTelemetry conventions for MCP.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import Lifespan, Middleware, Observer, Plugin, PluginError, WidensAccess, hookimpl

if TYPE_CHECKING:
    from pegboard_plugins.operation.opentelemetry.telemetry import Telemetry


class OpenTelemetryConfig(PluginConfig):
    """`[plugins.opentelemetry]`.

    The variables `OTEL_...` of the SDK set the collector, its headers, sampling, batches and resource attributes.

    Attributes:
        enabled: record and send telemetry.
        service_name: the name of the service, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets it.
        traces: send a span for each request.
        metrics: send durations of requests and sessions, and all gauges.
        logs: send the log, with secrets masked.
        arguments: record the arguments of tools in spans, with secrets masked.
        results: record the results of tools in spans, with secrets masked.
        flush_seconds: how long the host waits for the collector when it stops.
    """

    enabled: bool = True
    service_name: str = Field("pegboard", min_length=1)
    traces: bool = True
    metrics: bool = True
    logs: bool = True
    arguments: Annotated[bool, WidensAccess("sends arguments to the collector")] = False
    results: Annotated[bool, WidensAccess("sends results to the collector")] = False
    flush_seconds: float = Field(3, ge=0)


class OpenTelemetryPlugin(Plugin):
    """Records requests, sessions and the log, and sends them to a collector."""

    Config = OpenTelemetryConfig

    def __init__(self, config: OpenTelemetryConfig) -> None:
        super().__init__(config)
        if config.enabled and not _sdk_is_installed():
            raise PluginError(
                "the OpenTelemetry SDK is not installed; install it with: "
                "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
            )

    @cached_property
    def _telemetry(self) -> Telemetry:
        with warnings.catch_warnings():  # the SDK adds a filter, which the host would report
            from pegboard_plugins.operation.opentelemetry.telemetry import Telemetry

        return Telemetry(self.config)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return middleware that records requests, and requests to mounted servers."""
        return self._telemetry.middleware if self.config.enabled else []

    @hookimpl
    def register_telemetry(self) -> Iterable[Observer]:
        """Return the observer of sessions and gauges."""
        return [self._telemetry] if self.config.enabled and self.config.metrics else []

    @hookimpl
    def lifespan(self) -> Lifespan:
        """Start the SDK. When the host stops, send the remaining telemetry."""
        return self._telemetry.lifespan() if self.config.enabled else nullcontext()


def _sdk_is_installed() -> bool:
    try:
        return find_spec("opentelemetry.sdk") is not None
    except ModuleNotFoundError:  # the package `opentelemetry` is missing too
        return False
