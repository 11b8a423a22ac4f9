"""The settings of `[plugins.opentelemetry]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pegboard import PluginConfig
from pegboard.plugin import WidensAccess


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
