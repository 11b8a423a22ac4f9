"""Requests to another process: responses, repetitions, cancellations, and processes that end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard import RetryableToolError
from pegboard_plugins.support import bus_requests
from pegboard_plugins.support.bus_requests import BusRequests, number_in
from tests.support.joined_bus import JoinedBus


class Process(JoinedBus):
    """One of several processes.

    Attributes:
        lost: how many messages to this process are lost.
        is_away: True if this process can send nothing.
    """

    lost = 0
    is_away = False

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        if self.is_away:
            raise ConnectionError("away")
        receiver: Any = self.buses.get(to or 0)
        if receiver is not None and receiver.lost:
            receiver.lost -= 1
            return True
        return await super().send(topic, body, to)


class Pair:
    """Two processes, of which the second answers."""

    def __init__(self, answer: Callable[[Any], Awaitable[Any]]) -> None:
        self.processes: dict[int, Any] = {}
        self.first, self.second = (BusRequests(Process(self.processes), "t", answer) for _ in "12")

    async def ask(self, request: Any, name: str | None = None) -> Any:
        async with asyncio.timeout(20):
            return await self.first.ask(number_in(self.second.new_id() if name is None else name), request)


async def repeat(request: Any) -> Any:
    return [request]


async def test_a_request_is_answered_once_although_its_response_is_sent_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(bus_requests, "RETRY_SECONDS", 0.2)
    requests: list[Any] = []

    async def answer(request: Any) -> int:
        requests.append(request)
        pair.processes[2].is_away = len(requests) == 1
        asyncio.get_running_loop().call_later(0.1, setattr, pair.processes[2], "is_away", False)
        return len(requests)

    pair = Pair(answer)
    assert await pair.ask("x") == 1
    assert requests == ["x"]


async def test_the_process_in_the_id_responds() -> None:
    pair = Pair(repeat)
    assert await pair.ask({"a": 1}) == [{"a": 1}]
    assert pair.second.new_id() != pair.second.new_id()
    for name in ("3-x", "1-x", "0-x", "-4-x", "x", "", "9" * 5000):
        assert await pair.ask(1, name) is None


async def test_a_feature_that_was_loaded_again_answers_alone() -> None:
    pair = Pair(lambda request: asyncio.get_running_loop().create_future())
    asking = asyncio.ensure_future(pair.ask(1))
    await asyncio.sleep(0)
    pair.first.close()
    assert await asking is None
    pair.second.close()
    pair.first, pair.second = (BusRequests(process, "t", repeat) for process in pair.processes.values())
    assert await pair.ask(1) == [1]


@pytest.mark.parametrize("loser", [1, 2], ids=["response", "request"])
async def test_a_lost_message_is_sent_again(loser: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.01)
    pair = Pair(repeat)
    pair.processes[loser].lost = 1
    assert await pair.ask(1) == [1]


async def test_a_process_that_ends_before_its_response_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.01)
    pair = Pair(lambda request: asyncio.get_running_loop().create_future())
    asking = asyncio.ensure_future(pair.ask(1))
    await asyncio.sleep(0)
    del pair.processes[2]
    assert await asking is None


async def test_a_request_that_is_cancelled_is_cancelled_at_the_other_process() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait(request: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    asking = asyncio.ensure_future(Pair(wait).ask(1))
    async with asyncio.timeout(20):
        await begun.wait()
        asking.cancel()
        await ended.wait()
    assert asking.cancelled()


async def test_a_failure_at_the_other_process_is_logged_there_and_is_no_response(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(request: Any) -> None:
        raise KeyError(request)

    assert await Pair(fail).ask(1) is None
    assert "a request of process 1 failed" in caplog.text


async def test_a_process_that_cannot_be_reached_is_an_error_to_retry() -> None:
    pair = Pair(repeat)
    pair.processes[1].is_away = True
    with pytest.raises(RetryableToolError, match="cannot be reached now"):
        await pair.ask(1)
