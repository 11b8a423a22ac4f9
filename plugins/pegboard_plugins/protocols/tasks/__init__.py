"""Tasks (`io.modelcontextprotocol/tasks`, SEP-2663): tool calls that outlive their request, for the plugin `mcp`.

A client that supports tasks receives the id of a task, and asks for its result later. Tasks are kept in a
`RecordStore`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, SecretStr

from pegboard import PluginConfig, RetryableToolError
from pegboard.plugin import (
    Extension,
    Method,
    Middleware,
    Plugin,
    PluginContext,
    PluginError,
    ProtocolError,
    RecordStore,
    SharedKeys,
    StateFiles,
    Store,
    StoreName,
    Subscription,
    ToolDefinition,
    Topic,
    around,
    hookimpl,
)
from pegboard.types import Call, CallNext, Inventory, Listing, MethodResult, Notify, Outcome, Resource, Tool
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS, MISSING_CLIENT_CAPABILITY

if TYPE_CHECKING:
    from pegboard_plugins.protocols.tasks.running_tasks import RunningTasks, Watcher
    from pegboard_plugins.protocols.tasks.task_records import StoredTask, Task

T = TypeVar("T")

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
FIRST_REVISION = "2026-07-28"
KEY_FILE = "tasks.key"
MAX_WATCHED_TASKS = 1000
"""The largest number of tasks of one subscription."""


class TasksConfig(PluginConfig):
    """`[plugins.tasks]`.

    Attributes:
        store: the plugin that stores tasks. "sqlite" keeps them in the state directory; "memory" keeps them in this
            process.
        state_keys: the keys that encrypt tasks. The default is `[host] state_keys`, else a key in the state directory.
        ttl_seconds: how long a task is kept from its creation.
        poll_ms: how often clients should ask for a task, in milliseconds.
        max_per_caller: the largest number of kept tasks of one caller. It does not apply to the operator.
    """

    store: Annotated[str, StoreName(RecordStore)] = "sqlite"
    state_keys: Annotated[tuple[Annotated[SecretStr, Field(min_length=32)], ...], SharedKeys()] = ()
    ttl_seconds: int = Field(default=3600, ge=1)
    poll_ms: int = Field(default=1000, ge=1)
    max_per_caller: int = Field(default=1000, ge=1)


class TasksPlugin(Plugin):
    """Runs tools with `task=` as tasks of clients that have the extension."""

    Config = TasksConfig

    def __init__(self, config: TasksConfig) -> None:
        super().__init__(config)
        self.tools: dict[str, ToolDefinition] = {}
        self._watchers: dict[str, set[Watcher]] = {}
        self._opening: asyncio.Task[RunningTasks] | None = None
        self._running: RunningTasks | None = None
        self._jobs: set[asyncio.Task[Any]] = set()

    @hookimpl
    def register_methods(self) -> Iterable[Extension | Method | Topic]:
        """Return the extension, which is advertised while there are tools with `task=`."""
        yield Extension(TASKS_EXTENSION, result_types=frozenset({"task"}), describe=self.describe, since=FIRST_REVISION)
        for name, handler in (("get", self.get), ("update", self.update), ("cancel", self.cancel)):
            yield Method(f"tasks/{name}", handler, TASKS_EXTENSION, name_parameter="taskId")
        yield Topic("taskIds", TASKS_EXTENSION, self.subscribe)

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        """Return the creation of tasks, and the lists of clients that do not support tasks."""
        return [TaskCreation(self), around("tools/list")(self.list_tools)]

    @hookimpl
    def register_stores(self) -> Iterable[Store]:
        return [
            Store(contract=RecordStore, open=_memory, name="memory", in_memory=True),
            Store(contract=RecordStore, open=_sqlite, name="sqlite"),
        ]

    def describe(self, item: Tool | Resource, value: Any, resources: Mapping[str, Resource]) -> dict[str, Any] | None:
        """Keep what a tool says about tasks. Return no `_meta`: clients give no hint, so they need none."""
        if not isinstance(item, Tool):
            return None
        definition = item.definition
        if definition is None or definition.task is None:
            self.tools.pop(item.name, None)
            return None
        self.tools[item.name] = definition._replace(annotations=item.annotations)
        return {}

    @hookimpl
    @asynccontextmanager
    async def lifespan(self, context: PluginContext) -> AsyncIterator[None]:
        """Recover the tasks of ended processes once this process serves, and end the runs of this process."""
        self._context = context
        self._keep(self._serve())
        try:
            yield
        finally:
            await self._stop()

    async def _stop(self) -> None:
        jobs = tuple(self._jobs)
        for job in jobs:
            job.cancel()
        self._opening = None
        await asyncio.gather(*jobs, return_exceptions=True)
        running, self._running = self._running, None
        if running is not None:
            await running.stop()

    async def _serve(self) -> None:
        await self._context.serving()
        if self.tools:
            await self.running()

    def _keep(self, job: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that the end of the host cancels. Log its failure."""
        _ = self._begun(self._logged(job))

    def _begun(self, job: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a coroutine that the end of the host cancels, but not the end of its request."""
        task = asyncio.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
        return task

    async def _logged(self, job: Coroutine[Any, Any, None]) -> None:
        try:
            await job
        except Exception:
            self._context.logger.exception("the store of tasks cannot be used")

    async def running(self) -> RunningTasks:
        """Return the tasks of this process. The first caller opens the store.

        Raises:
            PluginError: the store cannot be opened.
        """
        opening = self._opening
        if opening is None or (opening.done() and opening.exception() is not None):
            opening = self._opening = self._begun(self._open())
        return await asyncio.shield(opening)

    async def _open(self) -> RunningTasks:
        from pegboard_plugins.protocols.mcp.sealing import Sealer
        from pegboard_plugins.protocols.tasks.running_tasks import RunningTasks
        from pegboard_plugins.protocols.tasks.task_records import TaskStore

        records: RecordStore = await self._context.store(RecordStore, self.config.store, self._stop)
        store = TaskStore(records, Sealer(await asyncio.to_thread(keys_of, self.config), self.config.ttl_seconds))
        config = self.config
        running = RunningTasks(self._context, store, self._is_repeatable, config.poll_ms, self._watchers)
        records.on_ended = lambda: self._keep(running.recover_ended())
        self._running = running
        await running.recover()
        return running

    def _is_repeatable(self, task: Task) -> bool:
        tool = self.tools.get(task.params["name"])
        hints = None if tool is None else tool.annotations
        return hints is not None and hints.idempotent is True

    # --- tools

    async def list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        """Leave out tools that require tasks from the lists of sessions."""
        outcome = await call_next(call)
        required = {name for name, tool in self.tools.items() if tool.task == "required"}
        is_session = "" < call.client.revision < FIRST_REVISION
        if not (is_session and required and isinstance(outcome, Listing)):
            return outcome
        items = tuple(item for item in outcome.items if item.name not in required)
        cursor, ttl_ms = outcome.next_cursor, outcome.max_ttl_ms
        return Listing(outcome.kind, items, cursor, private=outcome.private, max_ttl_ms=ttl_ms)

    async def create(self, call: Call) -> Outcome:
        """Create a task and begin its first run."""
        from pegboard_plugins.protocols.tasks.task_records import owner_of

        running = await self.running()
        most = self.config.max_per_caller
        if not call.caller.trusted and await running.store.records.count(owner_of(call)) >= most:
            raise RetryableToolError(f"You have {most} tasks, and more are not allowed: wait until some have expired.")
        meta, arguments = dict(call.meta), call.params.get("arguments") or {}
        params = {"name": call.params["name"], "arguments": arguments, "_meta": meta}
        creating = self._begun(running.store.create(call, params, self.config.ttl_seconds * 1000))
        try:
            stored = await asyncio.shield(creating)
        except asyncio.CancelledError:
            self._keep(_withdraw(running, creating))
            raise
        running.begin(stored, call)
        return MethodResult(stored.task.summary(self.config.poll_ms), "task")

    # --- methods

    async def get(self, call: Call) -> Outcome:
        """Return a task (`tasks/get`)."""
        _, stored = await self._own(call)
        return MethodResult(stored.task.detail(self.config.poll_ms))

    async def update(self, call: Call) -> Outcome:
        """Accept answers (`tasks/update`). Answers to other questions than the open ones are ignored."""
        responses = call.params.get("inputResponses")
        if not isinstance(responses, dict) or not all(isinstance(answer, dict) for answer in responses.values()):
            raise ProtocolError(INVALID_PARAMS, "params.inputResponses must be an object of objects")
        while True:
            running, stored = await self._own(call)
            if await asyncio.shield(self._begun(running.answer(stored, call, responses))):
                return MethodResult()

    async def cancel(self, call: Call) -> Outcome:
        """Cancel a task (`tasks/cancel`). A task that has ended stays as it is."""
        while True:
            running, stored = await self._own(call)
            if await asyncio.shield(self._begun(running.cancel(stored))):
                return MethodResult()

    async def _own(self, call: Call) -> tuple[RunningTasks, StoredTask]:
        """Return the task that a call names.

        Raises:
            ProtocolError: -32602 for an unknown task, and for a task of another caller.
        """
        running = await self.running()
        task_id = call.params.get("taskId")
        stored = await running.store.load(task_id) if isinstance(task_id, str) else None
        if stored is None or stored.task.caller.identity != call.caller.identity:
            raise ProtocolError(INVALID_PARAMS, "There is no such task: it is unknown, or has expired.")
        return running, stored

    def subscribe(self, call: Call, wanted: Any, notify: Notify) -> Subscription | None:
        """Notify a stream of changes of tasks, and of their state now. Workers without a bus cannot do so."""
        from pegboard_plugins.protocols.tasks.running_tasks import Watcher

        if not isinstance(wanted, list) or not all(isinstance(task_id, str) for task_id in wanted):
            raise ProtocolError(INVALID_PARAMS, "params.notifications.taskIds must be a list of ids")
        if len(wanted) > MAX_WATCHED_TASKS:
            raise ProtocolError(INVALID_PARAMS, f"params.notifications.taskIds may name {MAX_WATCHED_TASKS} tasks")
        if self._context.worker[1] > 1 and not self._context.bus.number:
            return None
        watcher = Watcher(call.caller.identity, notify)
        for task_id in wanted:
            self._watchers.setdefault(task_id, set()).add(watcher)
        self._keep(self._tell_now(watcher, wanted))

        def close() -> None:
            for task_id in wanted:
                watchers = self._watchers.get(task_id, set())
                watchers.discard(watcher)
                if not watchers:
                    self._watchers.pop(task_id, None)

        return Subscription(wanted, close)

    async def _tell_now(self, watcher: Watcher, task_ids: Iterable[str]) -> None:
        running = await self.running()
        for task_id in task_ids:
            stored = await running.store.load(task_id)
            if stored is not None:
                running.tell(watcher, stored.task)


class TaskCreation(Middleware):
    """Middleware that answers calls with a task, if the client supports tasks."""

    def __init__(self, plugin: TasksPlugin) -> None:
        self._plugin = plugin
        self._served: Mapping[str, Tool] = {}

    def assembled(self, inventory: Inventory) -> Iterable[str]:
        """Note the tools that are served."""
        self._served = inventory.tools
        return ()

    def wants(self, call: Call) -> bool:
        """Return True for requests of clients for tools with `task=`. Profiles have no tasks."""
        name = call.params.get("name")
        if not isinstance(name, str) or name not in self._plugin.tools:
            return False  # the common case
        return not call.runs_task and not call.path and call.serves is None and name in self._served

    async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
        """Create a task, unless the tool first asks in rounds, or the client does not support tasks."""
        tool = self._plugin.tools[call.params["name"]]
        has_tasks = call.round is not None and call.client.extension(TASKS_EXTENSION) is not None
        if not has_tasks:
            if tool.task == "required" and call.client.revision:
                raise _needs_tasks()
            return await call_next(call)
        if not (call.allows(tool.scopes) and isinstance(call.params.get("arguments"), dict | None)):
            return await call_next(call)  # which refuses it
        answered = {*call.round.answers, *call.round.given} if call.round is not None else set()
        return await (self._plugin.create(call) if answered.issuperset(tool.task_asks) else call_next(call))


async def _withdraw(running: RunningTasks, creating: asyncio.Task[StoredTask]) -> None:
    """Cancel a task whose request was cancelled: no client learns its id."""
    await running.cancel(await creating)


def _needs_tasks() -> ProtocolError:
    data: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    message = f"This tool needs a client that declares the extension {TASKS_EXTENSION}."
    return ProtocolError(MISSING_CLIENT_CAPABILITY, message, data)


def keys_of(config: TasksConfig) -> list[str]:
    """Return the keys that encrypt tasks.

    Raises:
        PluginError: there is no key, and none can be stored.
    """
    if config.state_keys or config.store == "memory":
        return [key.get_secret_value() for key in config.state_keys]
    try:
        return [StateFiles(os.environ).create(KEY_FILE, os.urandom(32).hex().encode()).decode()]
    except OSError as error:
        raise PluginError(f"the key of tasks cannot be stored: {error}; set [plugins.tasks] state_keys") from error


@asynccontextmanager
async def _memory() -> AsyncIterator[RecordStore]:
    from pegboard_plugins.support.memory_records import MemoryRecordStore

    yield MemoryRecordStore()


def _sqlite() -> AbstractAsyncContextManager[RecordStore]:
    from pegboard_plugins.support.sqlite_records import SqliteRecordStore

    return SqliteRecordStore.opened()
