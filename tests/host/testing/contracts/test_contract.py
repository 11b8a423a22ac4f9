"""What all contracts share: for each rule something fresh, taken away afterwards, and a loop of its own."""

from __future__ import annotations

import asyncio
from unittest import SkipTest

import pytest

from pegboard.testing import Contract, rule
from pegboard.testing.contracts import contract

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
    async def test_endless(self, made: list[int]) -> None:
        await asyncio.Event().wait()

    def test_not_for_it(self) -> None:
        raise SkipTest("no")

    def test_plain(self) -> None:
        """It needs no object."""


def test_every_rule_runs_on_something_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MAX_RULE_SECONDS", 0.01)
    LOG.clear()
    assert Sample.rules() == ("test_bad", "test_endless", "test_good", "test_not_for_it", "test_plain")
    broken = Sample.broken()
    assert {name: type(error) for name, error in broken.items()} == {
        "test_bad": AssertionError, "test_endless": TimeoutError,
    }  # fmt: skip
    assert LOG == ["made", "disposed []"] * 2 + ["made", "disposed [True]"]
