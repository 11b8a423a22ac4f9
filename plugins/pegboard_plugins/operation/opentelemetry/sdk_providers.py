"""The providers of the OpenTelemetry SDK, which send in threads and drop telemetry that a collector does not accept."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Meter, NoOpMeterProvider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NoOpTracerProvider, Tracer

from pegboard.plugin import redact_logs
from pegboard_plugins.operation.opentelemetry.call_spans import failed_context
from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts

if TYPE_CHECKING:
    from pegboard_plugins.operation.opentelemetry import OpenTelemetryConfig

logger = logging.getLogger("pegboard.plugins.opentelemetry")


class SdkProviders:
    """The providers of one host. They are not the global providers of the process, which belong to the program.

    Args:
        config: the settings.
        durations: the durations that are exported with the metrics.
    """

    def __init__(self, config: OpenTelemetryConfig, durations: Sequence[DurationCounts]) -> None:
        resource = _resource(config.service_name)
        self._traces: TracerProvider | None = None
        self._metrics: MeterProvider | None = None
        self._logs: LoggerProvider | None = None
        self._log_export: LogExport | None = None
        if config.traces and _is_exported("TRACES"):
            self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
            self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        if config.metrics and _is_exported("METRICS"):
            reader = PeriodicExportingMetricReader(MetricExport(durations))
            self._metrics = MeterProvider([reader], resource, shutdown_on_exit=False)
        if config.logs and _is_exported("LOGS"):
            self._logs = LoggerProvider(resource, shutdown_on_exit=False)
            self._logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
            self._log_export = LogExport(self._logs)
            logging.getLogger().addHandler(self._log_export)

    def tracer(self, scope: str) -> Tracer:
        """Return a tracer, which records nothing if traces are off."""
        return (self._traces or NoOpTracerProvider()).get_tracer(scope)

    def meter(self, scope: str) -> Meter:
        """Return a meter, which records nothing if metrics are off."""
        return (self._metrics or NoOpMeterProvider()).get_meter(scope)

    async def close(self, seconds: float) -> None:
        """Send the remaining telemetry. Wait at most `seconds`."""
        if self._log_export is not None:
            logging.getLogger().removeHandler(self._log_export)
        ends = [provider.shutdown for provider in (self._traces, self._metrics, self._logs) if provider is not None]
        loop = asyncio.get_running_loop()
        ended = [loop.create_future() for _ in ends]
        for end, done in zip(ends, ended, strict=True):
            Thread(target=_run, args=(end, loop, done), name="pegboard-telemetry", daemon=True).start()
        if ended and (await asyncio.wait(ended, timeout=seconds))[1]:
            logger.warning(
                "the collector did not accept the last telemetry within %g s (flush_seconds), so it is lost", seconds
            )


def _run(end: Callable[[], object], loop: asyncio.AbstractEventLoop, done: asyncio.Future[None]) -> None:
    try:
        end()
    except Exception:
        logger.debug("the SDK could not be shut down", exc_info=True)
    finally:
        with suppress(RuntimeError):  # the loop is closed: the wait has ended
            loop.call_soon_threadsafe(done.cancel)


def _is_exported(signal: str) -> bool:
    """Return False if the variable of a signal, such as OTEL_TRACES_EXPORTER, is "none"."""
    return os.environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none"


def _resource(service_name: str) -> Resource:
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: service_name}))
    return resource


# --- The log of the process as OpenTelemetry log records, with secrets masked.

_SEVERITIES = {
    logging.DEBUG: SeverityNumber.DEBUG,
    logging.INFO: SeverityNumber.INFO,
    logging.WARNING: SeverityNumber.WARN,
    logging.ERROR: SeverityNumber.ERROR,
    logging.CRITICAL: SeverityNumber.FATAL,
}
_OF_EXPORTERS = ("opentelemetry", "urllib3", "requests", "pegboard.plugins.opentelemetry")
"""The loggers whose records are not exported, because an export causes them."""


class LogExport(logging.Handler):
    """A handler that exports records. A record of a request carries the ids of its span.

    Args:
        provider: the provider of the SDK.
    """

    def __init__(self, provider: LoggerProvider) -> None:
        super().__init__()
        self._provider = provider
        redact_logs([self])

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for records that an export causes."""
        return not any(record.name == name or record.name.startswith(f"{name}.") for name in _OF_EXPORTERS)

    def emit(self, record: logging.LogRecord) -> None:
        """Export a record. Never raise."""
        try:
            self._provider.get_logger(record.name).emit(
                timestamp=int(record.created * 1e9),
                context=failed_context(getattr(record, "call", None)),
                severity_number=_SEVERITIES.get(record.levelno // 10 * 10, SeverityNumber.UNSPECIFIED),
                severity_text=record.levelname,
                body=self.format(record),
            )
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)


class MetricExport(OTLPMetricExporter):
    """Sends the metrics of the SDK together with counted durations.

    Args:
        durations: the durations.
    """

    def __init__(self, durations: Sequence[DurationCounts]) -> None:
        super().__init__()
        self._durations = durations

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **more: Any
    ) -> MetricExportResult:
        """Send metrics, in the scope of the first metrics."""
        (resource, *others) = metrics_data.resource_metrics
        (scope, *scopes) = resource.scope_metrics
        counted = [
            metric for metric in (durations.metric() for durations in self._durations) if metric.data.data_points
        ]
        whole = replace(scope, metrics=[*scope.metrics, *counted])
        data = MetricsData([replace(resource, scope_metrics=[whole, *scopes]), *others])
        return super().export(data, timeout_millis, **more)
