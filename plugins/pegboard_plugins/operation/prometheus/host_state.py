"""The observer of a host: its gauges, and the durations of its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pegboard.plugin import Gauge, Observer, SessionInfo
from pegboard_plugins.operation.prometheus.call_counts import Durations


class HostState(Observer):
    """The state of one host.

    Attributes:
        gauges: all gauges of the host.
        started: the number of started sessions by transport.
        ended: the durations of ended sessions by transport.
    """

    def __init__(self) -> None:
        self.gauges: Sequence[Gauge] = ()
        self.started: Counter[str] = Counter()
        self.ended: dict[str, Durations] = {}

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        """Keep the gauges."""
        self.gauges = gauges

    def session_started(self, session: SessionInfo) -> None:
        """Count a session."""
        self.started[session.transport] += 1

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        """Count the duration of a session."""
        self.ended.setdefault(session.transport, Durations()).add(seconds)
