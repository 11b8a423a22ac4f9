"""Calls that become tasks (`io.modelcontextprotocol/tasks`, SEP-2663): how a client waits for their results.

A server may send each state of a task to a subscription. Otherwise the client polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from pegboard.errors import MCPError, MCPRuntimeError, ProtocolError, TransportError
from pegboard_client.in_flight import Message, Notified
from pegboard_client.incoming import ACKNOWLEDGED

TASKS: Final = "io.modelcontextprotocol/tasks"
MIN_POLL_SECONDS = 0.05
MAX_POLL_SECONDS = 60.0
SUBSCRIBED_POLL_SECONDS = 10.0
"""How often a subscribed task is polled: notifications may be lost, for example if another process changes the task."""
_INTERNAL_ERROR = -32603

Exchange = Callable[[str, Message], Awaitable[Message]]
Answers = Callable[[Message], Awaitable[Message]]
Listen = Callable[[str, Notified], Awaitable[object]]
WatchTask = Callable[[Message], None]


class TaskCancelledError(MCPRuntimeError):
    """The task was cancelled."""


def with_tasks(capabilities: Mapping[str, Any]) -> Message:
    """Return client capabilities that declare the extension."""
    return {**capabilities, "extensions": {**capabilities.get("extensions", {}), TASKS: {}}}


class TaskStates:
    """The states of a task: those that the server sends to a subscription, or else those that polls find.

    Args:
        task_id: the id of the task.
        exchange: sends a request.
        listen: subscribes to the task, until the server ends the subscription.
    """

    def __init__(self, task_id: str, exchange: Exchange, listen: Listen) -> None:
        self._task_id = task_id
        self._exchange = exchange
        self._is_subscribed = False
        self._sent: Message | None = None
        self._changed = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(listen))

    async def following(self, seconds: float) -> Message:
        """Return the next state.

        Args:
            seconds: after how many seconds to poll a task that is not subscribed.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(SUBSCRIBED_POLL_SECONDS if self._is_subscribed else seconds):
                await self._changed.wait()
        self._changed.clear()
        state, self._sent = self._sent, None
        return state or await self._exchange("tasks/get", {"taskId": self._task_id})

    async def close(self) -> None:
        """End the subscription."""
        self._listening.cancel()
        await asyncio.wait([self._listening])

    async def _listen(self, listen: Listen) -> None:
        try:
            with suppress(MCPError):
                await listen(self._task_id, self._take)
        finally:
            if self._is_subscribed:
                self._changed.set()
            self._is_subscribed = False

    def _take(self, method: str, params: Message) -> None:
        """Keep the last state that the server has sent. End a request that subscribes to nothing."""
        if method == ACKNOWLEDGED:
            self._is_subscribed = self._task_id in _task_ids(params)
            if not self._is_subscribed:
                self._listening.cancel()
                return
        elif params.get("taskId") == self._task_id:
            self._sent = params
        self._changed.set()  # after an acknowledgement too, because the task may have changed before


async def finished(
    task_id: str, exchange: Exchange, listen: Listen, answers: Answers, watch: WatchTask | None
) -> Message:
    """Follow a task until it has ended, and answer its questions. Return its result.

    Args:
        task_id: the id of the task.
        exchange: sends a request.
        listen: subscribes to a task, until the server ends the subscription.
        answers: returns the members of `tasks/update` for questions.
        watch: receives each state of the task.

    Raises:
        ProtocolError: the task failed, or is unknown.
        TaskCancelledError: the task was cancelled.
        TransportError: the server sent an invalid task.
    """
    task = await exchange("tasks/get", {"taskId": task_id})
    if (result := _result_in(task, watch)) is not None:
        return result
    answered = set[str]()
    states = TaskStates(task_id, exchange, listen)
    try:
        while result is None:
            questions = _questions_in(task, answered)
            if questions:
                await exchange("tasks/update", {"taskId": task_id, **await answers({"inputRequests": questions})})
                answered.update(questions)
            task = await states.following(0 if questions else _pause(task))
            result = _result_in(task, watch)
        return result
    finally:
        await states.close()


def _task_ids(params: Message) -> list[Any]:
    """Return the tasks that an acknowledgement names."""
    accepted = params.get("notifications")
    task_ids = accepted.get("taskIds") if isinstance(accepted, dict) else None
    return task_ids if isinstance(task_ids, list) else []


def _result_in(task: Message, watch: WatchTask | None) -> Message | None:
    """Return the result of a task, or None if it has not ended. Pass the task to `watch`.

    Raises:
        ProtocolError, TaskCancelledError, TransportError: as for `finished`.
    """
    if watch is not None:
        watch(task)
    status = task.get("status")
    if status == "completed" and isinstance(task.get("result"), dict):
        return dict(task["result"])
    if status == "failed":
        raise _error_of(task.get("error"))
    if status == "cancelled":
        raise TaskCancelledError(f"the task {task.get('taskId')} was cancelled")
    if status not in ("working", "input_required"):
        raise TransportError(f"the server sent an invalid task with the status {status!r}")
    return None


def _questions_in(task: Message, answered: Collection[str]) -> Any:
    """Return the questions of a task that were not answered before. They may be invalid."""
    questions = task.get("inputRequests") if task["status"] == "input_required" else None
    if not isinstance(questions, dict):
        return questions
    return {key: question for key, question in questions.items() if key not in answered}


def _error_of(error: Any) -> ProtocolError:
    fields = error if isinstance(error, dict) else {}
    code = fields.get("code", _INTERNAL_ERROR)
    return ProtocolError(
        code if isinstance(code, int) else _INTERNAL_ERROR, str(fields.get("message")), fields.get("data")
    )


def _pause(task: Message) -> float:
    interval = task.get("pollIntervalMs")
    milliseconds = interval if isinstance(interval, int | float) else 1000
    return min(max(milliseconds, MIN_POLL_SECONDS * 1000), MAX_POLL_SECONDS * 1000) / 1000
