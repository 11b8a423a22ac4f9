"""Tasks as records: their states, sealed for the store and as clients read them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_hex
from time import time
from typing import Any, NamedTuple

from pegboard.plugin import Record, RecordStore, encode
from pegboard.types import Call, Caller, Client, EmbeddedOutcome, RawResult, Round
from pegboard_plugins.protocols.mcp.jsonrpc_messages import EMPTY
from pegboard_plugins.protocols.mcp.sealing import STATE_VERSION, Sealer

KIND = "tasks"
WORKING = "working"
INPUT_REQUIRED = "input_required"
COMPLETED = "completed"
FAILED = "failed"
CANCELLED = "cancelled"


class Task(NamedTuple):
    """The state of a task.

    Attributes:
        id: the id, which nobody can guess.
        status: the status (SEP-2663).
        created_at, updated_at: when it was created and last changed, in seconds since 1970.
        ttl_ms: how long it is kept from its creation, in milliseconds.
        params: the name and the arguments of the call.
        caller, client: who made the call, or answered last.
        round: the answers and the results of steps so far. `round.given` are the answers that arrive now.
        questions: the questions of the last run, by their keys.
        message: the state for people, or None.
        ending: the member `result` or `error` of a task that has ended.
    """

    id: str
    status: str
    created_at: float
    updated_at: float
    ttl_ms: int
    params: Mapping[str, Any]
    caller: Caller
    client: Client
    round: Round = Round()
    questions: Mapping[str, Any] = EMPTY
    message: str | None = None
    ending: Mapping[str, Any] = EMPTY

    @property
    def has_ended(self) -> bool:
        """True if the status never changes again."""
        return self.status in {COMPLETED, FAILED, CANCELLED}

    @property
    def open_questions(self) -> Mapping[str, Any]:
        """The questions without an answer."""
        return {key: question for key, question in self.questions.items() if key not in self.round.given}

    def ended(self, status: str, ending: Mapping[str, Any] = EMPTY, message: str | None = None) -> Task:
        """Return the task with its last status."""
        return self._replace(status=status, ending=ending, message=message, questions=EMPTY, round=Round())

    def failed(self, error: Mapping[str, Any]) -> Task:
        """Return the task with the JSON-RPC error that ended it."""
        return self.ended(FAILED, {"error": error}, str(error["message"]))

    def summary(self, poll_ms: int) -> dict[str, Any]:
        """Return the `Task` object."""
        times = {"createdAt": _iso(self.created_at), "lastUpdatedAt": _iso(self.updated_at)}
        message = {} if self.message is None else {"statusMessage": self.message}
        limits = {"ttlMs": self.ttl_ms, "pollIntervalMs": poll_ms}
        return {"taskId": self.id, "status": self.status, **message, **times, **limits}

    def detail(self, poll_ms: int) -> dict[str, Any]:
        """Return the `DetailedTask` object."""
        detail = self.summary(poll_ms)
        if self.status == INPUT_REQUIRED:
            detail["inputRequests"] = dict(self.open_questions)
        if result := self.ending.get("result"):
            return {**detail, "result": EmbeddedOutcome("tools/call", RawResult(result))}
        return {**detail, **self.ending}


class StoredTask(NamedTuple):
    """A task and its record."""

    record: Record
    task: Task


class TaskStore:
    """The tasks in a store of records. The store reads neither arguments, answers nor results.

    Args:
        records: the store.
        sealer: encrypts the tasks.
    """

    def __init__(self, records: RecordStore, sealer: Sealer) -> None:
        self.records = records
        self._sealer = sealer

    async def create(self, call: Call, params: Mapping[str, Any], ttl_ms: int) -> StoredTask:
        """Store a new task of this process."""
        now, task_id = time(), token_hex(16)
        round_before = Round() if call.round is None else call.round
        task = Task(task_id, WORKING, now, now, ttl_ms, params, call.caller, call.client, round_before)
        record = Record(id=f"{KIND}/{task_id}", content=b"", expires_at=now + ttl_ms / 1000, owner=owner_of(call))
        record = self._filled(record, task)
        await self.records.create(record)
        return StoredTask(record, task)

    async def load(self, task_id: str) -> StoredTask | None:
        """Return a task, or None if there is none that this server can read."""
        record = await self.records.get(f"{KIND}/{task_id}")
        return None if record is None else self.opened(record)

    async def replace(self, stored: StoredTask, task: Task) -> StoredTask | None:
        """Replace a task. Return None if it was replaced since it was read, or has expired."""
        task = task._replace(updated_at=max(time(), stored.task.updated_at))
        record = self._filled(stored.record, task)
        if not await self.records.transition(stored.record, record):
            return None
        return StoredTask(record._replace(number=record.number + 1), task)

    def opened(self, record: Record) -> StoredTask | None:
        """Return the task in a record, or None if it was sealed with another key."""
        task_id = record.id.partition("/")[2]
        try:
            token = STATE_VERSION + urlsafe_b64encode(record.content).decode().rstrip("=")
            caller, client, *members, before = self._sealer.open(token, [KIND, task_id])
        except ValueError:
            return None
        caller = Caller(*caller)._replace(scopes=frozenset(caller[2]))
        status, created_at, updated_at, ttl_ms, params, questions, message, ending = members
        task = Task(task_id, status, created_at, updated_at, ttl_ms, params, caller, Client(*client), Round(*before))
        return StoredTask(record, task._replace(questions=questions, message=message, ending=ending))

    def _filled(self, record: Record, task: Task) -> Record:
        """Return a record with the state of a task. A task that works belongs to this process."""
        extra = None if task.caller.extra is None else dict(task.caller.extra)
        state = [
            [sorted(value) if isinstance(value, frozenset) else value for value in task.caller._replace(extra=extra)],
            [*task.client._replace(capabilities=dict(task.client.capabilities))],
            *task[1:6],
            dict(task.questions),
            task.message,
            dict(task.ending),
            [dict(part) if isinstance(part, Mapping) else part for part in task.round],
        ]
        token = self._sealer.seal(state, [KIND, task.id]).removeprefix(STATE_VERSION)
        content = urlsafe_b64decode(token + "==")  # a quarter smaller
        process = self.records.process if task.status == WORKING else ""
        return record._replace(content=content, state=task.status, process=process)


def owner_of(call: Call) -> str:
    """Return the owner whose tasks are counted together. Anonymous callers differ by their addresses."""
    caller = call.caller.identity
    peer = "" if caller.is_known else call.peer
    return f"{KIND}/{sha256(encode([*caller[:2], caller.client_id, caller.issuer, peer])).hexdigest()[:32]}"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat("T", "milliseconds").replace("+00:00", "Z")
