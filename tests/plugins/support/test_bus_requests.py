"""Requests to another process: responses, repetitions, cancellations, and processes that end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard import RetryableToolError
from pegboard_plugins.support import bus_requests
from pegboard_plugins.support.bus_requests import BusRequests, number_in
from tests.host.hosting import until
from tests.support.joined_bus import JoinedBus


class Process(JoinedBus):
    """One of several processes.

    Attributes:
        lost: how many messages to this process are lost.
        failures: how many messages this process cannot send.
        sent: how many messages this process has tried to send.
    """

    lost = 0
    failures = 0
    sent = 0

    async def send(self, topic: str, body: bytes, to: int | None = None) -> bool:
        self.sent += 1
        if self.failures:
            self.failures -= 1
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
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(bus_requests, "RETRY_SECONDS", 0.1)
    requests: list[Any] = []

    async def answer(request: Any) -> int:
        requests.append(request)
        return len(requests)

    pair = Pair(answer)
    pair.processes[2].failures = 2  # the response, and that it works on it
    assert await pair.ask("x") == 1
    assert requests == ["x"]


async def test_a_process_is_waited_for_as_long_as_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.01)

    async def work(request: Any) -> str:
        await until(lambda: pair.processes[1].sent > 2 * bus_requests.MAX_SILENT)
        return "late"

    pair = Pair(work)
    assert await pair.ask(1) == "late"


async def test_a_process_that_says_nothing_is_an_error_to_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_requests, "PATIENCE_SECONDS", 0.01)
    pair = Pair(repeat)
    pair.second.close()
    with pytest.raises(RetryableToolError, match="does not answer"):
        await pair.ask(1)
    assert pair.processes[1].sent == bus_requests.MAX_SILENT


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
    with pytest.raises(RetryableToolError, match="cannot ask others now"):  # None would mean that the other has ended
        await asking
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
    pair.processes[1].failures = 1
    with pytest.raises(RetryableToolError, match="cannot be reached now"):
        await pair.ask(1)
