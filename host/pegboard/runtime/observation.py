"""The observers of one host, its gauges, and its open sessions."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import TYPE_CHECKING, Any

from pegboard.plugin.observers import Gauge, Observer, SessionInfo

if TYPE_CHECKING:
    from pegboard.calls.threads import Threads
    from pegboard.host import Host
    from pegboard.runtime.call_counter import CallCounter

MAX_OBSERVED_SESSIONS = 100_000
"""The largest number of open sessions whose ends are observed. A store may remove sessions without a report."""

logger = logging.getLogger("pegboard")


class Observation(AbstractAsyncContextManager["Observation"]):
    """Passes gauges and sessions to the observers.

    Args:
        observers: the observers.
        gauges: the gauges of the host and of plugins.
    """

    def __init__(self, observers: Sequence[Observer], gauges: Sequence[Gauge]) -> None:
        self._observers = observers
        self._sessions: dict[Hashable, tuple[SessionInfo, float]] = {}
        all_gauges = [Gauge("sessions", "Open sessions.", lambda: {"": len(self._sessions)}), *gauges]
        counts = Counter(gauge.name for gauge in all_gauges)
        for name in (name for name, count in counts.items() if count > 1):
            logger.error(
                "%d gauges have the name %r, so none of them is read: give each gauge another name", counts[name], name
            )
        read = [_guarded(gauge) for gauge in all_gauges if counts[gauge.name] == 1]
        self._tell(lambda observer: observer.host_started(read))

    def started(self, key: Hashable, session: SessionInfo) -> None:
        """Record the start of a session."""
        if len(self._sessions) < MAX_OBSERVED_SESSIONS:
            self._sessions[key] = session, monotonic()
            self._tell(lambda observer: observer.session_started(session))

    def ended(self, key: Hashable) -> None:
        """Record the end of a session. Ignore an unknown key, such as a session that an earlier process opened."""
        if (entry := self._sessions.pop(key, None)) is not None:
            session, since = entry
            seconds = monotonic() - since
            self._tell(lambda observer: observer.session_ended(session, seconds))

    async def __aexit__(self, *_: object) -> None:
        """Record the end of all sessions, because the host stops."""
        for key in tuple(self._sessions):
            self.ended(key)

    def _tell(self, event: Callable[[Observer], Any]) -> None:
        for observer in self._observers:
            try:
                event(observer)
            except Exception:
                logger.exception("the observer %s failed", type(observer).__name__)


def host_gauges(host: Host, calls: CallCounter, threads: Threads) -> list[Gauge]:
    """Return the gauges of the host itself."""

    def items() -> Mapping[str, float]:
        now = host.assembly
        return {"tools": len(now.tools), "resources": len(now.resources), "prompts": len(now.prompts)}

    def count_problems() -> Mapping[str, float]:
        levels = [problem.level for problem in host.problems]
        return {level: levels.count(level) for level in ("error", "warning")}

    return [
        Gauge("calls_running", "Calls in flight.", lambda: {"": calls.count}),
        Gauge(
            "transports_restarting",
            "Transports that are not open again.",
            lambda: {"": len(host.for_protocols.restarting)},
        ),
        Gauge("threads_busy", "Threads that run sync functions.", lambda: {"": threads.busy}),
        Gauge("threads_abandoned", "Busy threads whose calls have ended.", lambda: {"": threads.given_up}),
        Gauge("threads_queue", "Sync functions that wait for a thread.", lambda: {"": threads.waiting}),
        Gauge("items", "Served tools, resources and prompts.", items, "kind"),
        Gauge("plugin_problems", "Problems of plugins since the start.", count_problems, "level"),
    ]


def _guarded(gauge: Gauge) -> Gauge:
    def read() -> Mapping[str, float]:
        try:
            return {label: float(value) for label, value in gauge.read().items()}
        except Exception:
            logger.debug("the gauge %s failed", gauge.name, exc_info=True)
            return {}

    return gauge._replace(read=read)
