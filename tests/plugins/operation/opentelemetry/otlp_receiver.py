"""A collector in the process of the test: it parses the protobuf messages of OTLP over HTTP."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.loopback_server import LoopbackServer


def attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Return attributes by their keys."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


class OtlpReceiver(LoopbackServer):
    """A collector: `async with OtlpReceiver() as collector`.

    Attributes:
        spans: the spans by name, in the order of their ends.
        metrics: the metrics of the last export that contained them, by name.
        logs: the log records.
        resource: the attributes of the resource.
    """

    def __init__(self) -> None:
        self.spans: dict[str, list[Span]] = {}
        self.metrics: dict[str, Metric] = {}
        self.logs: list[LogRecord] = []
        self.resource: dict[str, Any] = {}

    def application(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [web.post(f"/v1/{signal}", getattr(self, f"_{signal}")) for signal in ("traces", "metrics", "logs")]
        )
        return app

    async def _traces(self, request: web.Request) -> web.Response:
        for group in ExportTraceServiceRequest.FromString(await self._body(request)).resource_spans:
            self.resource = attributes(group.resource.attributes)
            for span in (span for scope in group.scope_spans for span in scope.spans):
                self.spans.setdefault(span.name, []).append(span)
        return web.Response()

    async def _metrics(self, request: web.Request) -> web.Response:
        for group in ExportMetricsServiceRequest.FromString(await self._body(request)).resource_metrics:
            self.metrics |= {metric.name: metric for scope in group.scope_metrics for metric in scope.metrics}
        return web.Response()

    async def _logs(self, request: web.Request) -> web.Response:
        for group in ExportLogsServiceRequest.FromString(await self._body(request)).resource_logs:
            self.logs += [record for scope in group.scope_logs for record in scope.log_records]
        return web.Response()

    async def _body(self, request: web.Request) -> bytes:
        assert request.content_type == "application/x-protobuf"
        body = await request.read()
        return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
