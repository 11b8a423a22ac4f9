"""The runs of tasks in this process, and the changes of their states.

In a run, the tool's function runs from its start. It ends with a result, or with questions: then nothing of it stays in
the process, and the answers begin the next run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import time
from typing import Any, NamedTuple

from pegboard import AuthorizationRequiredError
from pegboard.plugin import PluginContext, as_failure, decode
from pegboard.types import Call, Caller, Failure, Identity, InputRequired, Notify, Outcome
from pegboard_plugins.protocols.mcp.result_encoder import ResultEncoder
from pegboard_plugins.protocols.mcp.revisions import STATELESS_REVISIONS
from pegboard_plugins.protocols.tasks.task_records import (
    CANCELLED,
    COMPLETED,
    INPUT_REQUIRED,
    KIND,
    WORKING,
    StoredTask,
    Task,
    TaskStore,
)
from pegboard_plugins.support.jsonrpc import INTERNAL_ERROR

CHANGED = "tasks/changed"
CANCEL = "tasks/cancel"
"""The topics of the bus. Their messages are ids of tasks."""
UNKNOWN_OUTCOME = "interrupted: the outcome is unknown"
LOG_IN_AGAIN = "interrupted: log in again"
TOKEN_REQUIRED = "interrupted: token required"  # noqa: S105 - a message
RETRY_SECONDS = 1.0
"""How long the end of a run waits for a store that cannot be reached."""
NOTE_SECONDS = 1.0
"""The least time between two stored reports of progress."""
_ENCODER = ResultEncoder(STATELESS_REVISIONS[0], Identity("", ""), {})
"""Encodes endings for the store. The protocol adds the server to each result that it sends."""


class Watcher(NamedTuple):
    """A stream that is notified of a task."""

    caller: Caller
    notify: Notify


class TaskRun:
    """A run of a task.

    Attributes:
        stored: the task, as this process stored it last.
        job: the asyncio task of the run.
        noting: the asyncio task that stores a report of progress, or None.
        noted: when it began, on the clock of the event loop.
    """

    job: asyncio.Task[None]

    def __init__(self, stored: StoredTask) -> None:
        self.stored = stored
        self.noting: asyncio.Task[None] | None = None
        self.noted = 0.0


class RunningTasks:
    """The tasks of one process.

    Args:
        context: the host.
        store: the store.
        is_repeatable: returns True if the tool of a task may run twice.
        poll_ms: how often clients should ask, in milliseconds.
        watchers: the streams that are notified of each task.
    """

    def __init__(
        self,
        context: PluginContext,
        store: TaskStore,
        is_repeatable: Callable[[Task], bool],
        poll_ms: int,
        watchers: Mapping[str, set[Watcher]],
    ) -> None:
        self.store = store
        self._context = context
        self._is_repeatable = is_repeatable
        self._poll_ms = poll_ms
        self._watchers = watchers
        self._loop = asyncio.get_running_loop()
        self._runs: dict[str, TaskRun] = {}
        self._telling: set[asyncio.Task[None]] = set()
        context.bus.listen(CHANGED, self._receive_change)
        context.bus.listen(CANCEL, self._receive_cancel)

    def begin(self, stored: StoredTask, call: Call) -> None:
        """Begin a run of a task that works.

        Args:
            stored: the task.
            call: the request that begins the run. The run has its rights.
        """
        task = stored.task
        task_run = self._runs[task.id] = TaskRun(stored)
        tool_call = call._replace(
            method="tools/call",
            params=dict(task.params),
            round=task.round,
            notify=lambda method, params: self._note(task_run, method, params),
            ask=None,
            serves=None,
            transport="task",
        )
        task_run.job = asyncio.create_task(self._run(task_run, tool_call))

    async def _run(self, task_run: TaskRun, call: Call) -> None:
        task_id = task_run.stored.task.id
        try:
            outcome = await self._context.dispatch(call)
            while isinstance(outcome, InputRequired) and not outcome.questions:
                # the call waits for a login, and its client has nothing to answer
                call = call._replace(round=outcome.next)
                outcome = await self._context.dispatch(call)
            if task_run.noting is not None:
                await asyncio.wait([task_run.noting])
            if await self._keep_ending(task_run, _after(task_run.stored.task, call, outcome)) is None:
                self._context.logger.info("the late result of the task %s is dropped", task_id)
        except Exception:
            self._context.logger.exception("the state of the task %s cannot be stored", task_id)
        finally:
            if self._runs.get(task_id) is task_run:
                del self._runs[task_id]

    async def _keep_ending(self, task_run: TaskRun, task: Task) -> StoredTask | None:
        """Store the state after a run. Repeat until the store can be reached: no other process ends the task."""
        stored: StoredTask | None = task_run.stored
        while stored is not None:
            try:
                if (replaced := await self._replace(stored, task)) is not None:
                    return replaced
                stored = await self._changed(task_run, task)
            except ConnectionError as error:
                self._context.logger.warning("%s; the state of the task %s is stored later", error, task.id)
                await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _changed(self, task_run: TaskRun, task: Task) -> StoredTask | None:
        """Return the stored state of a run, if it differs from the known state and may be replaced.

        Return None otherwise.

        A store may have kept a state although its answer was lost.
        """
        latest = await self.store.load(task.id)
        if latest is None:
            return None
        is_own = latest.record.process == self.store.records.process and self._runs.get(task.id) is task_run
        if latest.task.status == WORKING and is_own:
            return latest
        if latest.task.status == task.status:
            self._tell_all(latest.task)
        return None

    async def _replace(self, stored: StoredTask, task: Task) -> StoredTask | None:
        """Store a state, and notify the streams that watch the task."""
        replaced = await self.store.replace(stored, task)
        if replaced is not None:
            self._tell_all(replaced.task)
            with suppress(ConnectionError):  # its clients poll
                await self._context.bus.send(CHANGED, task.id.encode())
        return replaced

    def _tell_all(self, task: Task) -> None:
        for watcher in tuple(self._watchers.get(task.id, ())):
            self.tell(watcher, task)

    def _receive_change(self, body: bytes, sender: int) -> None:
        task_id = body.decode()
        if task_id in self._watchers:
            telling = asyncio.create_task(self._tell_change(task_id))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _tell_change(self, task_id: str) -> None:
        """Notify the streams of this process of a state that another process has stored."""
        with suppress(ConnectionError):
            if (stored := await self.store.load(task_id)) is not None:
                self._tell_all(stored.task)

    def tell(self, watcher: Watcher, task: Task) -> None:
        """Notify a stream, if the task belongs to its caller."""
        if watcher.caller == task.caller.identity:
            watcher.notify("notifications/tasks", task.detail(self._poll_ms))

    def _note(self, task_run: TaskRun, method: str, params: dict[str, Any]) -> None:
        """Store a report of progress. This may be called in any thread."""
        if method == "notifications/progress":
            message = str(params.get("message") or f"{params['progress']:g} of {params.get('total') or '?'}")
            self._loop.call_soon_threadsafe(self._note_soon, task_run, message)

    def _note_soon(self, task_run: TaskRun, message: str) -> None:
        now = self._loop.time()
        is_noting = task_run.noting is not None and not task_run.noting.done()
        if not is_noting and now >= task_run.noted + NOTE_SECONDS and not task_run.job.done():
            task_run.noted = now
            task_run.noting = asyncio.create_task(self._note_now(task_run, message))

    async def _note_now(self, task_run: TaskRun, message: str) -> None:
        with suppress(ConnectionError):  # the end of the run finds out whether it is stored
            noted = await self._replace(task_run.stored, task_run.stored.task._replace(message=message))
            if noted is not None:
                task_run.stored = noted

    async def answer(self, stored: StoredTask, call: Call, responses: Mapping[str, Any]) -> bool:
        """Store answers. Begin the next run if no question is open. Return False if the task has changed meanwhile."""
        task = stored.task
        given = {**task.round.given, **{key: responses[key] for key in task.open_questions if key in responses}}
        if task.status != INPUT_REQUIRED or given == task.round.given:
            return True
        task = task._replace(round=task.round._replace(given=given), caller=call.caller, client=call.client)
        if not task.open_questions:
            task = task._replace(status=WORKING, message=None)
        answered = await self._replace(stored, task)
        if answered is None:
            return False
        if task.status == WORKING:
            self.begin(answered, call)
        return True

    async def cancel(self, stored: StoredTask) -> bool:
        """Cancel a task. Return False if it has changed meanwhile."""
        if stored.task.has_ended:
            return True
        if await self._replace(stored, stored.task.ended(CANCELLED)) is None:
            return False
        if not self._cancel_run(stored.task.id):
            with suppress(ConnectionError):  # the late result is dropped
                await self._context.bus.send(CANCEL, stored.task.id.encode())
        return True

    def _receive_cancel(self, body: bytes, sender: int) -> None:
        self._cancel_run(body.decode())

    def _cancel_run(self, task_id: str) -> bool:
        """Cancel the run of a task. Return False if it is not in this process."""
        task_run = self._runs.pop(task_id, None)
        if task_run is None:
            return False
        task_run.job.cancel()
        self._context.logger.info(
            "the task %s is cancelled; a sync function goes on, and its result is dropped", task_id
        )
        return True

    async def recover(self) -> None:
        """End or repeat the tasks of processes that have ended."""
        for record in await self.store.records.orphans(KIND):
            stored = self.store.opened(record)
            if stored is None:
                await self.store.records.delete(record.id)
            else:
                await self._recover(stored)

    async def recover_ended(self) -> None:
        """Recover tasks when the store reports the end of a process, which it reports to one process only."""
        while True:
            try:
                return await self.recover()
            except ConnectionError:
                await asyncio.sleep(RETRY_SECONDS)

    async def _recover(self, stored: StoredTask) -> None:
        task = stored.task
        if not self._is_repeatable(task):
            await self._replace(stored, _interrupted(task, UNKNOWN_OUTCOME))
        elif not await self._admits(task.caller):
            await self._replace(stored, _interrupted(task, LOG_IN_AGAIN))
        elif (own := await self._replace(stored, task)) is not None:
            self.begin(own, Call("tools/call", caller=task.caller, client=task.client))

    async def _admits(self, caller: Caller) -> bool:
        """Return True if a run without a request has the rights of a caller."""
        try:
            admitted = [await authenticator.admits(caller) for authenticator in self._context.authenticators()]
        except Exception:
            self._context.logger.exception("the rights of the caller of a task cannot be checked")
            return False
        return all(admitted) and (caller.expires_at is None or caller.expires_at > time())

    async def stop(self) -> None:
        """End all runs, because the host stops. The next process repeats the tasks that may be repeated."""
        task_runs = tuple(self._runs.values())
        self._runs.clear()
        jobs = [job for task_run in task_runs for job in (task_run.job, task_run.noting) if job is not None]
        jobs += self._telling
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        for task_run in task_runs:
            if not self._is_repeatable(task_run.stored.task):
                await self._replace(task_run.stored, _interrupted(task_run.stored.task, UNKNOWN_OUTCOME))


def _after(task: Task, call: Call, outcome: Outcome) -> Task:
    """Return the state of a task after a run."""
    if isinstance(outcome, InputRequired):
        questions = {key: question._asdict() for key, question in outcome.questions.items()}
        return task._replace(status=INPUT_REQUIRED, round=outcome.next, questions=questions, message=None)
    is_without_request = call.request_id is None
    if is_without_request and isinstance(outcome, Failure) and isinstance(outcome.error, AuthorizationRequiredError):
        return _interrupted(task, TOKEN_REQUIRED)
    try:
        response = decode(_ENCODER.answer(0, call.method, outcome))
    except Exception as error:  # noqa: BLE001 - the outcome of a plugin: the host checks results of functions only
        response = decode(_ENCODER.answer(0, call.method, as_failure(call, error)))
    if "error" in response:
        return task.failed(response["error"])
    return task.ended(COMPLETED, {"result": response["result"]})


def _interrupted(task: Task, message: str) -> Task:
    return task.failed({"code": INTERNAL_ERROR, "message": message})
