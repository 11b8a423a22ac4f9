"""A request that waits for its response, and the time limits of the requests of one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from math import inf
from typing import Any, TypeAlias

from pegboard.errors import ProtocolError
from pegboard.wire.codec import encode
from pegboard_client.asked import QuestionHandler
from pegboard_client.client_errors import ConnectionLostError

Message: TypeAlias = dict[str, Any]
TakeProgress: TypeAlias = Callable[[Message], None]
"""Receives the parameters of each progress notification."""
Notified: TypeAlias = Callable[[str, Message], object]
"""Receives the method and the parameters of a notification."""


class InFlight:
    """A request that waits for its response.

    Its time runs out if the server sends neither a response nor progress. Time does not run while a question of the
    server waits for its answer, or a person logs in.

    Args:
        request_id: its id, which is also its progress token.
        method: its method.
        params: its parameters.
        seconds: how long to wait for a response or progress.
        most_seconds: how long to wait in total.
        limits: ends the request when it is due.
        progress: receives the progress.
        ask: answers the questions that belong to the request.

    Attributes:
        response: receives the response if it arrives on a shared stream.
        notified: receives the method and the parameters of the acknowledgement of a subscription, and of its changes of
            tasks.
        due: the time at which the request ends without a response, on the clock of the event loop.
        clock: the context that ends the wait.
        may_log_in: False if the request fails when the server requires a login.
    """

    __slots__ = (
        "_ends",
        "_limits",
        "_pauses",
        "_seconds",
        "ask",
        "clock",
        "due",
        "id",
        "may_log_in",
        "method",
        "notified",
        "params",
        "progress",
        "response",
    )

    def __init__(
        self,
        request_id: int,
        method: str,
        params: Message,
        seconds: float,
        most_seconds: float,
        limits: TimeLimits,
        progress: TakeProgress | None = None,
        ask: QuestionHandler | None = None,
    ) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.progress = progress
        self.ask = ask
        loop = asyncio.get_running_loop()
        self.response: asyncio.Future[Message] = loop.create_future()
        self._seconds = seconds
        now = loop.time()
        self._ends = now + most_seconds
        self._limits = limits
        self._pauses = 0
        self.may_log_in = True
        self.notified: Notified | None = None
        self.due = min(now + seconds, self._ends)
        self.clock = asyncio.timeout(None)

    def encoded(self) -> bytes:
        """Return the request as JSON."""
        return encode({"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params})

    def restart_clock(self) -> None:
        """Restart the time limit."""
        if not self._pauses:
            self.due = min(asyncio.get_running_loop().time() + self._seconds, self._ends)
            self._limits.watch(self.due)

    def expire(self) -> None:
        """End the wait for the response."""
        if not self.clock.expired():
            self.clock.reschedule(self.due)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the time limit, but not the limit of the total time. The time limit starts again after all pauses."""
        self._pauses += 1
        self.due = self._ends
        try:
            yield
        finally:
            self._pauses -= 1
            if not self.response.done():
                self.restart_clock()


def result_in(response: Message, method: str, server: str) -> Message:
    """Return the result in a response.

    Raises:
        ProtocolError: the response is an error.
        ConnectionLostError: the response is neither a result nor an error.
    """
    result = response.get("result")
    if type(result) is dict:
        return result
    error = response.get("error")
    if isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str):
        raise ProtocolError(error["code"], error["message"], error.get("data"))
    raise ConnectionLostError(f"{server} sent an invalid response to {method}: it has neither a result nor an error")


class TimeLimits:
    """The timer of one connection. It wakes at the earliest end of a request, or earlier.

    Args:
        in_flight: the requests that wait for a response.
    """

    def __init__(self, in_flight: Mapping[int, InFlight]) -> None:
        self._in_flight = in_flight
        self._wakes = inf
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, due: float) -> None:
        """Wake at a time on the clock of the event loop, unless the timer wakes earlier."""
        if due >= self._wakes:
            return
        self.close()
        self._wakes = due
        # without the variables of the request, which would stay in memory
        self._timer = asyncio.get_running_loop().call_at(due, self._expire, context=Context())

    def close(self) -> None:
        """Stop the timer."""
        self._wakes = inf
        if self._timer is not None:
            self._timer.cancel()

    def _expire(self) -> None:
        """End the requests that are due, and wake again for the next request."""
        self._wakes = inf
        now = asyncio.get_running_loop().time()
        later = inf
        for flight in self._in_flight.values():
            if flight.due <= now:
                flight.expire()
            else:
                later = min(later, flight.due)
        self.watch(later)
