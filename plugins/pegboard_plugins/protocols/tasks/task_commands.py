"""`pegboard tasks list`, `show` and `cancel`: the tasks in the store of this host, for its operator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pegboard import MCPError
from pegboard.plugin import CommandContext, RecordStore, encode
from pegboard_plugins.protocols.mcp.sealing import Sealer
from pegboard_plugins.protocols.tasks import keys_of
from pegboard_plugins.protocols.tasks.task_records import CANCELLED, KIND, StoredTask, TaskStore

T = TypeVar("T")


def run_list(command: CommandContext) -> int:
    """Print the tasks."""
    tasks = _use(command, _all)
    rows = [_row(stored) for stored in sorted(tasks, key=lambda stored: stored.task.created_at, reverse=True)]
    text = "\n".join("  ".join(map(str, row.values())) for row in rows) or "There are no tasks."
    command.print(encode(rows).decode() if command.options.json else text)
    return 0


def run_show(command: CommandContext) -> int:
    """Print one task."""
    stored = _use(command, lambda store: _named(store, command.options.task))
    row = {**_row(stored), "arguments": stored.task.params["arguments"], **stored.task.ending}
    if stored.task.questions:
        row["questions"] = dict(stored.task.open_questions)
    lines = (f"{name}: {value if isinstance(value, str) else encode(value).decode()}" for name, value in row.items())
    command.print(encode(row).decode() if command.options.json else "\n".join(lines))
    return 0


def run_cancel(command: CommandContext) -> int:
    """Cancel one task."""

    async def cancel(store: TaskStore) -> StoredTask:
        while True:
            stored = await _named(store, command.options.task)
            if stored.task.has_ended:
                raise MCPError(f"the task {stored.task.id} has ended: it is {stored.task.status}")
            if (cancelled := await store.replace(stored, stored.task.ended(CANCELLED))) is not None:
                return cancelled

    row = _row(_use(command, cancel))
    command.print(encode(row).decode() if command.options.json else f"The task {row['id']} is cancelled.")
    return 0


def _use(command: CommandContext, use: Callable[[TaskStore], Awaitable[T]]) -> T:
    settings = command.settings
    if settings.store == "memory":
        raise MCPError('tasks are in the memory of the process that serves: set [plugins.tasks] store = "sqlite"')

    async def run() -> T:
        async with command.host.for_protocols.stores:
            records = await command.host.for_protocols.store(RecordStore, settings.store)
            return await use(TaskStore(records, Sealer(keys_of(settings), settings.ttl_seconds)))

    return asyncio.run(run())


async def _all(store: TaskStore) -> list[StoredTask]:
    return [stored for record in await store.records.find(KIND) if (stored := store.opened(record)) is not None]


async def _named(store: TaskStore, name: str) -> StoredTask:
    """Return the task whose id begins with a text.

    Raises:
        MCPError: there is no such task, or several.
    """
    tasks = [stored for stored in await _all(store) if stored.task.id.startswith(name)]
    if len(tasks) != 1:
        raise MCPError(f"{len(tasks) or 'no'} ids of tasks begin with {name!r}: `pegboard tasks list` shows all")
    return tasks[0]


def _row(stored: StoredTask) -> dict[str, Any]:
    task = stored.task
    summary = task.summary(0)
    row = {"id": task.id, "status": task.status, "tool": task.params["name"], "caller": task.caller.subject or "-"}
    row |= {"created": summary["createdAt"], "updated": summary["lastUpdatedAt"]}
    return row if task.message is None else {**row, "message": task.message}
