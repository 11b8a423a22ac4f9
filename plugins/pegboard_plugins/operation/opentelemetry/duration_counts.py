"""Durations, counted in buckets. The SDK's `Histogram` takes several times as long to record a value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from math import inf
from time import time_ns
from typing import TypeAlias

from opentelemetry.sdk.metrics.export import AggregationTemporality, Histogram, HistogramDataPoint, Metric

BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The bounds of the buckets in seconds, from the OpenTelemetry conventions for MCP."""

Key: TypeAlias = tuple[str | None, ...]
"""The values on which the attributes of a duration depend."""


class _Bucketed:
    """The durations with the same attributes, in seconds."""

    __slots__ = ("counts", "greatest", "least", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0
        self.least = inf
        self.greatest = 0.0


class DurationCounts:
    """A histogram of durations. Values are added on the event loop, and read in the thread of the SDK.

    Args:
        name: the name of the metric.
        description: one sentence.
        attributes: returns the attributes of a key.
    """

    def __init__(self, name: str, description: str, attributes: Callable[[Key], Mapping[str, str]]) -> None:
        self._name = name
        self._description = description
        self._attributes = attributes
        self._since = time_ns()
        self._bucketed: dict[Key, _Bucketed] = {}

    def add(self, key: Key, seconds: float) -> None:
        bucketed = self._bucketed.get(key)
        if bucketed is None:
            bucketed = self._bucketed[key] = _Bucketed()
        bucketed.counts[bisect_left(BUCKETS, seconds)] += 1
        bucketed.total += seconds
        if seconds < bucketed.least:
            bucketed.least = seconds
        if seconds > bucketed.greatest:
            bucketed.greatest = seconds

    def keep(self, is_known: Callable[[Key], bool]) -> None:
        """Forget the durations of unknown keys, such as those of removed tools."""
        self._bucketed = {key: bucketed for key, bucketed in tuple(self._bucketed.items()) if is_known(key)}

    def metric(self) -> Metric:
        """Return the metric with all durations so far."""
        points = [self._point(key, bucketed) for key, bucketed in tuple(self._bucketed.items())]
        data = Histogram(points, AggregationTemporality.CUMULATIVE)
        return Metric(name=self._name, description=self._description, unit="s", data=data)

    def _point(self, key: Key, bucketed: _Bucketed) -> HistogramDataPoint:
        counts = tuple(bucketed.counts)
        return HistogramDataPoint(
            attributes=self._attributes(key),
            start_time_unix_nano=self._since,
            time_unix_nano=time_ns(),
            count=sum(counts),
            sum=bucketed.total,
            bucket_counts=counts,
            explicit_bounds=BUCKETS,
            min=bucketed.least,
            max=bucketed.greatest,
        )
