"""What all contracts share: for each rule something fresh, taken away afterwards, and a loop of its own."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from contextlib import suppress
from typing import ClassVar
from unittest import SkipTest

import pytest

from pegboard_testing import Contract, rule
from pegboard_testing.contracts import contract

LOG: list[str] = []


class Sample(Contract[list[int]]):
    async def make(self) -> list[int]:
        LOG.append("made")
        return []

    async def dispose(self, made: list[int]) -> None:
        LOG.append(f"disposed {made}")

    @rule
    async def test_good(self, made: list[int]) -> None:
        made.append(asyncio.get_running_loop() is not None)

    @rule
    async def test_bad(self, made: list[int]) -> None:
        raise AssertionError("bad")

    @rule
    def test_in_no_loop(self, made: list[int]) -> None:
        made.append(0)

    def test_not_for_it(self) -> None:
        raise SkipTest("no")

    def test_plain(self) -> None:
        """It needs no object."""


def test_every_rule_runs_on_something_fresh() -> None:
    LOG.clear()
    assert Sample.rules() == ("test_bad", "test_good", "test_in_no_loop", "test_not_for_it", "test_plain")
    assert {name: type(error) for name, error in Sample.broken().items()} == {"test_bad": AssertionError}
    assert LOG == ["made", "disposed []", "made", "disposed [True]", "made", "disposed [0]"]


class Hanging(Contract[threading.Event]):
    """Its rules end when the event is set."""

    max_rule_seconds = 0.02
    freed: ClassVar[threading.Event]

    def make(self) -> threading.Event:
        return self.freed

    @rule
    async def test_a_task_that_waits(self, freed: threading.Event) -> None:
        await asyncio.Event().wait()

    @rule
    async def test_a_task_that_ignores_its_cancellation(self, freed: threading.Event) -> None:
        while not freed.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    @rule
    async def test_a_blocked_loop(self, freed: threading.Event) -> None:
        freed.wait()

    @rule
    async def test_a_blocked_worker_thread(self, freed: threading.Event) -> None:
        await asyncio.to_thread(freed.wait)

    @rule
    def test_a_blocked_thread_that_captures_the_output(self, freed: threading.Event) -> None:
        with contract.captured_output():
            freed.wait()


class HangingAtTheEnd(Hanging):
    def dispose(self, made: threading.Event) -> None:
        made.wait()


@pytest.mark.parametrize("kind", [Hanging, HangingAtTheEnd])
def test_a_hang_ends_with_a_sentence(kind: type[Hanging], monkeypatch: pytest.MonkeyPatch) -> None:
    assert Contract.max_rule_seconds + contract.MAX_END_SECONDS < 5
    monkeypatch.setattr(contract, "MAX_END_SECONDS", 0.02)
    monkeypatch.setattr(kind, "freed", threading.Event(), raising=False)
    log, streams = logging.getLogger(), (sys.stdout, sys.stderr)
    before = (log.level, log.handlers[:])
    try:
        broken = kind.broken()
    finally:
        kind.freed.set()
    assert broken.keys() == set(kind.rules())
    assert {str(error).partition(":")[0] for error in broken.values()} == {"the rule did not end within 0.02 seconds"}
    assert (sys.stdout, sys.stderr) == streams
    assert (log.level, log.handlers) == before
