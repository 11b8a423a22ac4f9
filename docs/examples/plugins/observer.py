"""An observer that logs each session, and the number of busy threads at its end."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from pegboard.plugin import Gauge, Observer, Plugin, SessionInfo, hookimpl

logger = logging.getLogger("session_log")


class SessionLog(Observer):
    """Receives the gauges once, and the start and end of each session."""

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        """Keep the gauges by name."""
        self._gauges = {gauge.name: gauge for gauge in gauges}

    def session_started(self, session: SessionInfo) -> None:
        """Log the start of a session."""
        logger.info("%s connected over %s", session.client.name, session.transport)

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        """Log the end of a session."""
        busy = self._gauges["threads_busy"].read().get("", 0)  # a gauge that fails has no values
        logger.info("%s stayed %.0f s; %d threads are busy", session.client.name, seconds, busy)


class SessionLogPlugin(Plugin):
    """Enabled by `[plugins.session_log]`."""

    @hookimpl
    def register_telemetry(self) -> Iterable[Observer]:
        """Return the observer."""
        return [SessionLog()]
