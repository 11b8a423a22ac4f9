"""The counts of requests, and all metrics in the text formats of Prometheus, on a port or as a route of HTTP."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from pegboard import MCPError, ToolkitError, ToolResult
from pegboard.plugin import (
    Authenticator,
    Gauge,
    Middleware,
    Observer,
    ProtocolContext,
    ProtocolError,
    SessionInfo,
    TransportError,
)
from pegboard.types import Call, Caller, CallNext, Failure, Inventory, Outcome, RawResult, Request, Response
from pegboard_plugins.operation.prometheus import POLICY, PrometheusConfig
from pegboard_plugins.support.bearer import BearerScheme
from pegboard_plugins.support.loopback import is_loopback

BUCKETS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The upper bounds of the buckets in seconds: those of the OpenTelemetry conventions for MCP, and 1 ms."""
NAMED_METHODS = ("tools/call", "prompts/get")
"""The methods whose requests are counted by name. The catalogue bounds the names."""


class Durations:
    """The durations of one kind of request.

    Attributes:
        counts: the number of requests in each bucket, the last without a bound.
        total: the sum of the durations in seconds.
    """

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class CallCounts(Middleware):
    """Counts the requests of one host.

    Attributes:
        durations: the durations by method and name. The name is "" for unknown names and other methods.
        errors: the number of failed requests by method, name and kind of error.
    """

    outermost = True

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self.durations: dict[tuple[str, str], Durations] = {}
        self.errors: Counter[tuple[str, str, str]] = Counter()

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Keep the names of the catalogue. Forget the counts of other names."""
        self._names = dict(zip(NAMED_METHODS, map(frozenset, (inventory.tools, inventory.prompts)), strict=True))
        self.durations = {key: value for key, value in tuple(self.durations.items()) if self._is_known(*key)}
        self.errors = Counter({key: count for key, count in tuple(self.errors.items()) if self._is_known(*key[:2])})
        return ()

    def _is_known(self, method: str, name: str) -> bool:
        return not name or name in self._names[method]

    async def on_request(self, call: Call, call_next: CallNext) -> Outcome:
        """Count a request when it ends."""
        began = perf_counter()
        try:
            outcome = await call_next(call)
        except BaseException as error:
            self._count(call, began, _kind(error))
            raise
        self._count(call, began, _kind_of_outcome(outcome))
        return outcome

    def _count(self, call: Call, began: float, kind: str | None) -> None:
        method = call.method
        name = call.params.get("name") if method in NAMED_METHODS else ""
        key = (method, name if type(name) is str and name in self._names.get(method, ()) else "")
        durations = self.durations.get(key)
        if durations is None:
            durations = self.durations[key] = Durations()
        durations.add(perf_counter() - began)
        if kind is not None:
            self.errors[(*key, kind)] += 1


def _kind_of_outcome(outcome: Outcome) -> str | None:
    if isinstance(outcome, Failure):
        return _kind(outcome.error)
    return "tool_error" if isinstance(outcome, ToolResult | RawResult) and outcome.is_error else None


def _kind(error: BaseException) -> str:
    """Return the kind of an error: one of a limited number of strings, none of which a caller chooses."""
    if isinstance(error, ToolkitError):
        return error.kind.value
    if isinstance(error, ProtocolError):
        return str(error.code)
    if isinstance(error, MCPError):
        return type(error).__name__
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "internal"


# --- The metrics in the text formats of Prometheus.

RETRY_SECONDS = 1.0
"""The interval between attempts to open the port of a worker."""

logger = logging.getLogger("pegboard.plugins.prometheus")

_HOST_OF_LOOPBACK = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.ASCII)
_CALLS = ("method", "name")
_BOUNDS = (*map(str, map(float, BUCKETS)), "+Inf")


class HostMetrics(Observer, Collector):
    """Observes the gauges and sessions of one host, and collects all metrics for the library.

    Args:
        calls: the counts of requests.

    Attributes:
        worker: the number of this process among those that serve together, for a label; 0 for no label.
    """

    def __init__(self, calls: CallCounts) -> None:
        self.worker = 0
        self._calls = calls
        self._gauges: Sequence[Gauge] = ()
        self._started: Counter[tuple[str]] = Counter()
        self._ended: dict[tuple[str], Durations] = {}

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        self._gauges = gauges

    def session_started(self, session: SessionInfo) -> None:
        self._started[session.transport,] += 1

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        self._ended.setdefault((session.transport,), Durations()).add(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics. The method runs in the thread of the port. The host may change the counts meanwhile."""
        of_process = {"worker": str(self.worker)} if self.worker else {}
        for metric in self._metrics():
            metric.samples = [sample._replace(labels={**sample.labels, **of_process}) for sample in metric.samples]
            yield metric

    def _metrics(self) -> Iterator[Metric]:
        yield _histogram("call_duration_seconds", "Durations of requests.", _CALLS, self._calls.durations)
        yield _counter("call_errors", "Failed requests.", (*_CALLS, "kind"), self._calls.errors)
        yield _counter("sessions_started", "Started sessions.", ("transport",), self._started)
        yield _histogram("session_duration_seconds", "Durations of sessions.", ("transport",), self._ended)
        for gauge in self._gauges:
            labels = (gauge.label,) if gauge.label else ()
            family = GaugeMetricFamily(f"pegboard_{gauge.name}", gauge.description, labels=labels)
            for value, number in gauge.read().items():
                family.add_metric((value,) if gauge.label else (), number)
            yield family


def _histogram(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, Durations]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"pegboard_{name}", text, labels=labels)
    for key, durations in tuple(values.items()):
        buckets = list(zip(_BOUNDS, map(float, accumulate(tuple(durations.counts))), strict=True))
        family.add_metric(key, buckets, durations.total)
    return family


def _counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"pegboard_{name}", text, labels=labels)
    for key, number in tuple(values.items()):
        family.add_metric(key, number)
    return family


def _refusing_foreign_hosts(app: Any) -> Callable[[dict[str, Any], Any], Any]:
    """Return a WSGI application that serves only names of this machine.

    A web page whose name resolves to this machine cannot read the metrics (DNS rebinding).
    """

    def guarded(request: dict[str, Any], start_response: Any) -> Any:
        if _HOST_OF_LOOPBACK.fullmatch(request.get("HTTP_HOST", "")):
            return app(request, start_response)
        start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"The port for metrics is of this machine only. Use the host 127.0.0.1 or localhost.\n"]

    return guarded


class MetricsEndpoint(Authenticator):
    """The metrics of one host, and the authenticator of their route.

    Attributes:
        calls: the middleware that counts requests.
        metrics: the observer of gauges and sessions, and the collector of all metrics.
        policy: see `pegboard.plugin.Authenticator`.
    """

    policy = POLICY

    def __init__(self, config: PrometheusConfig) -> None:
        self._config = config
        self._scheme = BearerScheme()
        self._registry = CollectorRegistry(auto_describe=False)
        self.calls = CallCounts()
        self.metrics = HostMetrics(self.calls)
        self._registry.register(self.metrics)

    async def listen_when_free(self) -> Callable[[], None]:
        """Serve the metrics when the port is free: a worker may replace another worker that has not ended yet."""
        while True:
            try:
                return self.listen()
            except TransportError as error:
                logger.info("%s; trying again", error)
                await asyncio.sleep(RETRY_SECONDS)

    def listen(self) -> Callable[[], None]:
        """Serve the metrics on their own port, in threads. Return a function that closes the port.

        Raises:
            TransportError: the port cannot be opened.
        """
        host, port = self._config.host, self._config.port
        if port and self.metrics.worker:
            port += self.metrics.worker - 1
        try:
            server, thread = start_http_server(port, host, self._registry)
        except OSError as error:
            raise TransportError(
                f"the port for metrics, {host}:{port}, cannot be opened: {error.strerror or error}; "
                "set [plugins.prometheus] port"
            ) from error
        self.port = server.server_port
        if is_loopback(host):
            server.set_app(_refusing_foreign_hosts(server.get_app()))

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return close

    async def authenticate(self, request: Request) -> Caller | Response:
        token = self._scheme.token(request)
        if isinstance(token, Response):
            return token
        assert self._config.token is not None
        expected = self._config.token.get_secret_value()
        if hmac.compare_digest(token.encode("utf-8", "surrogateescape"), expected.encode()):
            return Caller("prometheus")
        return self._scheme.invalid("The token is not the one of [plugins.prometheus].")

    async def answer(self, request: Request, host: ProtocolContext) -> Response:
        """Return the metrics in the format that the client accepts."""
        encode, content_type = choose_encoder(request.headers.get("Accept") or "")
        return Response(body=encode(self._registry), content_type=content_type)
