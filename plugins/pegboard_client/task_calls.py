"""Calls that become tasks (`io.modelcontextprotocol/tasks`, SEP-2663): how a client waits for their results."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pegboard.errors import MCPRuntimeError, ProtocolError, TransportError
from pegboard_client.in_flight import Message

TASKS: Final = "io.modelcontextprotocol/tasks"
MIN_POLL_SECONDS = 0.05
MAX_POLL_SECONDS = 60.0
_INTERNAL_ERROR = -32603

Exchange = Callable[[str, Message], Awaitable[Message]]
Answers = Callable[[Message], Awaitable[Message]]
WatchTask = Callable[[Message], None]


class TaskCancelledError(MCPRuntimeError):
    """The task was cancelled."""


def with_tasks(capabilities: Mapping[str, Any]) -> Message:
    """Return client capabilities that declare the extension."""
    return {**capabilities, "extensions": {**capabilities.get("extensions", {}), TASKS: {}}}


async def finished(task_id: str, exchange: Exchange, answers: Answers, watch: WatchTask | None) -> Message:
    """Ask for a task until it has ended, and answer its questions. Return its result.

    Args:
        task_id: the id of the task.
        exchange: sends a request.
        answers: returns the members of `tasks/update` for questions.
        watch: receives each state of the task.

    Raises:
        ProtocolError: the task failed, or is unknown.
        TaskCancelledError: the task was cancelled.
        TransportError: the server sent an invalid task.
    """
    answered = set[str]()
    while True:
        task = await exchange("tasks/get", {"taskId": task_id})
        if watch is not None:
            watch(task)
        status = task.get("status")
        if status == "completed" and isinstance(task.get("result"), dict):
            return dict(task["result"])
        if status == "failed":
            raise _error_of(task.get("error"))
        if status == "cancelled":
            raise TaskCancelledError(f"the task {task_id} was cancelled")
        if status not in ("working", "input_required"):
            raise TransportError(f"the server sent an invalid task with the status {status!r}")
        new = task.get("inputRequests") if status == "input_required" else None
        if isinstance(new, dict):
            new = {key: question for key, question in new.items() if key not in answered}
        if new:
            await exchange("tasks/update", {"taskId": task_id, **await answers({"inputRequests": new})})
            answered.update(new)
        else:
            await asyncio.sleep(_pause(task))


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
