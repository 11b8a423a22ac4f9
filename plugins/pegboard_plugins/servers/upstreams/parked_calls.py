"""Calls of servers with sessions that wait for answers from clients without sessions.

A session server keeps its request open while it asks. A client of 2026-07-28 receives the question as the result of its
call, and sends the answer with another request. Until then, the call to the server waits in
this process. An answer that reaches another process is forwarded to this process. The time and the number of waiting
calls are limited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from pegboard import Context, MCPError, RetryableToolError
from pegboard.plugin import Bus, ProtocolError
from pegboard.types import Caller
from pegboard_client import Asked
from pegboard_plugins.servers.upstreams.upstream_errors import error_members, error_of
from pegboard_plugins.servers.upstreams.user_links import UserKey, user_of
from pegboard_plugins.support.bus_requests import BusRequests, number_in
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR

MAX_PARKED_CALLS = 100
"""The maximum number of calls of one server that wait for answers."""
MAX_PARKED_CALLS_PER_USER = 20
"""The maximum number of them that belong to one user."""
MAX_PARKED_SECONDS = 300.0
"""How long a call waits for an answer."""

Questions: TypeAlias = dict[str, dict[str, Any]]
"""The methods and parameters of questions, by their keys."""
Exchange: TypeAlias = "Callable[[ParkedCall], Awaitable[dict[str, Any]]]"
"""Sends the request to the server, and returns the result. The call answers the questions of the server."""


class Parked(NamedTuple):
    """A call that waits for answers.

    Attributes:
        key: the key that continues the call once.
        questions: its questions.
    """

    key: str
    questions: Questions


class ParkedCall:
    """A running request to a server, which may outlive the client's request.

    Args:
        context: the call of the client.
        exchange: sends the request.

    Attributes:
        context: the latest call of the client.
        owner: the user.
    """

    def __init__(self, context: Context[Any], exchange: Exchange) -> None:
        self.context = context
        self.owner: UserKey = user_of(context)
        self._open: dict[str, tuple[Asked, asyncio.Future[Mapping[str, Any]]]] = {}
        self._asked = asyncio.Event()
        self._count = 0
        self._task = asyncio.ensure_future(exchange(self))
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[dict[str, Any]]) -> None:
        if not task.cancelled():
            task.exception()  # the client may never come back for it
        for _, answer in self._open.values():
            if not answer.done():  # its question would wait for as long as the connection
                answer.set_exception(ProtocolError(INTERNAL_ERROR, "The call to which the question belongs has ended."))
        self._asked.set()

    async def ask(self, question: Asked) -> Mapping[str, Any]:
        """Wait for the client's answer to a question."""
        self._count += 1
        key = f"question-{self._count}"
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[key] = question, answer
        self._asked.set()
        try:
            return await answer
        finally:
            del self._open[key]

    async def wait(self) -> Questions | dict[str, Any]:
        """Wait for questions or the result. Return the questions, or an empty object if `result` has the result."""
        while True:
            try:
                await self._asked.wait()
            except asyncio.CancelledError:
                self.cancel()
                raise
            self._asked.clear()
            if self._task.done():
                return {}
            questions = {key: question for key, (question, answer) in self._open.items() if not answer.done()}
            if questions:  # the server may have withdrawn its question
                return {
                    key: {"method": question.method, "params": dict(question.params)}
                    for key, question in questions.items()
                }

    @property
    def result(self) -> dict[str, Any]:
        """The result of the server. It raises the error of the request."""
        return self._task.result()

    def settle(self, answers: Mapping[str, Any]) -> None:
        """Pass the answers to the server."""
        for key, (_, answer) in self._open.items():
            if key in answers and not answer.done():
                answer.set_result(answers[key])

    def cancel(self) -> None:
        """End the request. The server receives a cancellation."""
        self._task.cancel()


class ParkedCalls:
    """The calls of one server that wait for answers.

    Args:
        bus: the bus to the processes at which the answers may arrive.
        server: the name of the server.
    """

    def __init__(self, bus: Bus, server: str) -> None:
        self._waiting: dict[str, tuple[ParkedCall, asyncio.TimerHandle]] = {}
        self._processes = BusRequests(bus, f"upstreams/{server}", self._resume_for_another)

    def __len__(self) -> int:
        return len(self._waiting)

    async def begin(self, context: Context[Any], exchange: Exchange) -> Parked | dict[str, Any]:
        """Start a request. Return its result, or its questions.

        Raises:
            RetryableToolError: too many calls wait for answers.
        """
        return await self._next(ParkedCall(context, exchange))

    async def resume(self, key: str, answers: Mapping[str, Any], context: Context[Any]) -> Parked | dict[str, Any]:
        """Continue a request with answers, in the process in which it waits. Return its result, or its next questions.

        Raises:
            RetryableToolError: the call no longer waits, or too many calls wait for answers.
            MCPError: the request failed.
        """
        user = user_of(context)
        if key in self._waiting:
            self._call(key, user).context = context
            return await self._resume(key, answers, user)
        response = await self._processes.ask(number_in(key), [key, dict(answers), user])
        if response is None:
            raise _no_longer_waiting()
        if "error" in response:
            raise error_of(response["error"])
        return Parked(*response["parked"]) if "parked" in response else response["result"]

    async def _resume_for_another(self, request: Any) -> dict[str, Any]:
        """Continue a request of this process for another process. Its progress does not reach the client."""
        key, answers, (caller, *rest) = request
        user = UserKey(Caller(*caller)._replace(scopes=frozenset()), *rest)
        try:
            result = await self._resume(key, answers, user)
        except MCPError as error:
            return {"error": error_members(error)}
        return {"parked": [*result]} if isinstance(result, Parked) else {"result": result}

    async def _resume(self, key: str, answers: Mapping[str, Any], user: UserKey) -> Parked | dict[str, Any]:
        call = self._call(key, user)
        self._waiting.pop(key)[1].cancel()
        call.settle(answers)
        return await self._next(call)

    def _call(self, key: str, user: UserKey) -> ParkedCall:
        """Return a call that waits for answers of a user.

        Raises:
            RetryableToolError: there is none.
        """
        call, _ = self._waiting.get(key, (None, None))
        if call is None or call.owner != user:
            raise _no_longer_waiting()
        return call

    async def _next(self, call: ParkedCall) -> Parked | dict[str, Any]:
        questions = await call.wait()
        if not questions:
            return call.result
        of_user = sum(waiting.owner == call.owner for waiting, _ in self._waiting.values())
        if len(self._waiting) >= MAX_PARKED_CALLS or of_user >= MAX_PARKED_CALLS_PER_USER:
            call.cancel()
            raise RetryableToolError("Too many calls of this server wait for answers. Try again later.")
        key = self._processes.new_id()
        timer = asyncio.get_running_loop().call_later(MAX_PARKED_SECONDS, self._expire, key)
        self._waiting[key] = call, timer
        return Parked(key, questions)

    def _expire(self, key: str) -> None:
        call, _ = self._waiting.pop(key)
        call.cancel()

    def close(self) -> None:
        """End all waiting calls."""
        self._processes.close()
        for call, timer in self._waiting.values():
            timer.cancel()
            call.cancel()
        self._waiting.clear()


def _no_longer_waiting() -> RetryableToolError:
    return RetryableToolError("The call no longer waits for this answer. Start the call again.")
