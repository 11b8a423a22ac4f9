"""Observers: the gauges of the host and of plugins, and the sessions of clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pegboard.plugin import Gauge, Observer, Plugin, SessionInfo
from pegboard.runtime import observation
from tests.host.hosting import make_host, plugin_of


class Watching(Observer):
    def __init__(self) -> None:
        self.gauges: Sequence[Gauge] = ()
        self.seen: list[tuple[str, str | None]] = []

    def host_started(self, gauges: Sequence[Gauge]) -> None:
        self.gauges = gauges

    def session_started(self, session: SessionInfo) -> None:
        self.seen.append(("started", session.id))

    def session_ended(self, session: SessionInfo, seconds: float) -> None:
        assert seconds >= 0
        self.seen.append(("ended", session.id))

    def values(self) -> dict[str, Any]:
        return {gauge.name: dict(gauge.read()) for gauge in self.gauges}


def observing(*observers: Observer, gauges: Iterable[Gauge] = ()) -> dict[str, type[Plugin]]:
    return {"observing": plugin_of(register_telemetry=[*observers, *gauges])}


def broken() -> dict[str, float]:
    raise RuntimeError("broken")


async def test_observers_receive_the_gauges_of_the_host_and_of_plugins(caplog: pytest.LogCaptureFixture) -> None:
    own = Gauge(name="boats", description="Boats.", read=lambda: {"red": True}, label="colour")
    others = [own._replace(name="broken", read=broken), *[own._replace(name="twice")] * 2]
    watching = Watching()
    async with make_host(plugins=observing(watching, gauges=[own, *others])):
        values = watching.values()
    assert (values["boats"], values["broken"], "twice" in values) == ({"red": 1.0}, {}, False)
    assert type(values["boats"]["red"]) is float  # exporters refuse other types
    assert values["items"] == {"tools": 0, "resources": 0, "prompts": 0}
    zero = ("sessions", "calls_running", "threads_busy", "threads_abandoned", "threads_queue")
    assert [values[name] for name in zero] == [{"": 0}] * 5
    assert values["plugin_problems"].keys() == {"error", "warning"}
    assert "2 gauges have the name 'twice', so none of them is read: give each gauge another name" in caplog.messages


async def test_a_failing_observer_affects_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Observer):
        def host_started(self, gauges: Sequence[Gauge]) -> None:
            raise RuntimeError

    watching = Watching()
    async with make_host(plugins=observing(Failing(), watching)):
        assert watching.gauges
    assert "the observer Failing failed" in caplog.messages


async def test_sessions_end_once_and_at_the_latest_with_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "MAX_OBSERVED_SESSIONS", 2)
    watching = Watching()
    async with make_host(plugins=observing(watching)) as host:
        for key in ("a", "b", "beyond the limit"):
            host.for_protocols.session_started(key, SessionInfo(id=key))
        assert watching.values()["sessions"] == {"": 2}
        for key in ("a", "a", "unknown"):
            host.for_protocols.session_ended(key)
    assert watching.seen == [("started", "a"), ("started", "b"), ("ended", "a"), ("ended", "b")]
