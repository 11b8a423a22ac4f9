"""The rules of observers (`pegboard.plugin.Observer`)."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from pegboard.hookspecs import hookimpl
from pegboard.plugin.base import Plugin
from pegboard.plugin.observers import Gauge, Observer, SessionInfo
from pegboard.types.callers import Caller, Client
from pegboard_testing.contracts.contract import Contract, captured_output, rule
from pegboard_testing.in_memory import connect

_SESSIONS = (
    SessionInfo(id=None),
    SessionInfo(id=None, client=Client("agent"), caller=Caller(trusted=True), transport="stdio"),
    SessionInfo(
        id="contract-session",
        client=Client('a "client" {%s}\r\n\x1b[31m' + "x" * 5000, "1", "2025-11-25", {"roots": {}, "sampling": None}),
        caller=Caller("ada", scopes=frozenset({"read"}), client_id="app", extra={"contract": [1]}),
        transport="http",
    ),
)
"""Sessions with little and with much. The client chooses its name and its capabilities."""


class ObserverContract(Contract[Observer]):
    """The rules of an observer. The tests report the gauges of a host, and sessions."""

    @abstractmethod
    def make(self) -> Observer | Awaitable[Observer]:
        """Return an observer to which no host has reported anything."""

    @rule
    async def test_its_methods_return_nothing(self, observer: Observer) -> None:
        """The host calls the methods on the event loop and does not await them."""
        session, gauges = _SESSIONS[0], await _gauges()
        reports: list[tuple[Callable[..., object], tuple[Any, ...]]] = [
            (observer.host_started, (gauges,)),
            (observer.session_started, (session,)),
            (observer.session_ended, (session, 1.5)),
        ]
        for report, arguments in reports:
            result = report(*arguments)
            if inspect.iscoroutine(result):
                result.close()
            assert result is None, f"it returned {result!r}: write `def`, not `async def`, and return nothing"

    @rule
    async def test_it_accepts_the_gauges_of_plugins(self, observer: Observer) -> None:
        """Plugins have gauges of any name, with and without a label."""
        plain = Gauge("contract_plain", "One value.", lambda: {"": 1})
        labelled = Gauge("contract_labelled", "Values.", lambda: {"a b": 1, '"\n': 2.5}, "server")
        await self._observe(observer, [*await _gauges(), plain, labelled])

    @rule
    async def test_a_gauge_may_have_no_values(self, observer: Observer) -> None:
        """A gauge that fails has no values."""
        await self._observe(observer, [gauge._replace(read=dict) for gauge in await _gauges()])

    @rule
    async def test_it_accepts_every_session(self, observer: Observer) -> None:
        """A session may have no id, and its client chooses its name."""
        observer.host_started(await _gauges())
        for session in _SESSIONS:
            observer.session_started(session)
            observer.session_ended(session, 0.0)

    @rule
    async def test_equal_sessions_may_overlap(self, observer: Observer) -> None:
        """Two connections of one program are two sessions, and neither has an id."""
        observer.host_started(await _gauges())
        session = SessionInfo(id=None, client=Client("agent"), transport="stdio")
        observer.session_started(session)
        observer.session_started(session._replace())
        observer.session_ended(session, 1.0)
        observer.session_ended(session._replace(), 2.0)

    @rule
    async def test_a_host_reports_to_it(self, observer: Observer) -> None:
        """The log of a host with the observer has no failure of it."""
        with captured_output() as output:
            async with connect(plugins={"contract_observer": _plugin(observer)}, revision="2025-11-25"):
                pass
        failure = f"the observer {type(observer).__name__} failed"
        assert failure not in output.getvalue(), output.getvalue()

    async def _observe(self, observer: Observer, gauges: Sequence[Gauge]) -> None:
        """Report the start of a host and one session."""
        observer.host_started(gauges)
        for session in _SESSIONS:
            observer.session_started(session)
        for session in _SESSIONS:
            observer.session_ended(session, 60.0)


async def _gauges() -> Sequence[Gauge]:
    """Return the gauges of a host."""
    kept: list[Gauge] = []

    class Keeper(Observer):
        def host_started(self, gauges: Sequence[Gauge]) -> None:
            kept.extend(gauges)

    async with connect(plugins={"contract_keeper": _plugin(Keeper())}):
        return kept


def _plugin(observer: Observer) -> type[Plugin]:
    class ObserverPlugin(Plugin):
        @hookimpl
        def register_telemetry(self) -> Iterable[Observer]:
            return [observer]

    return ObserverPlugin
