"""The exporter of the SDK's metrics and of the counted durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData

from pegboard_plugins.operation.opentelemetry.duration_counts import DurationCounts


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
