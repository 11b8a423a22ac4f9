"""Jobs: an extension of the protocol in which tools go on after their call was answered.

A client that declares `com.acme/jobs` gets a job from the tools that the settings name, asks how it is with `jobs/get`,
ends it with `jobs/cancel`, and may subscribe to its news. Any other client waits for the tool as ever.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from pegboard import PluginConfig
from pegboard.plugin import (
    Extension,
    Method,
    Middleware,
    NotificationHandler,
    Plugin,
    ProtocolError,
    Subscription,
    Topic,
    around,
    as_failure,
    hookimpl,
)
from pegboard.types import Call, Caller, CallNext, EmbeddedOutcome, Failure, MethodResult, Notify, Outcome

JOBS = "com.acme/jobs"
INVALID_PARAMS = -32602


class JobsConfig(PluginConfig):
    """`[plugins.jobs]`."""

    tools: tuple[str, ...] = ()


class Job:
    """A call that goes on."""

    def __init__(self, caller: Caller) -> None:
        self.id = secrets.token_hex(16)
        self.caller = caller
        self.seen = 0
        self.cancelled = False
        self.outcome: Outcome | None = None
        self.task: asyncio.Task[None] | None = None
        self.watchers: set[Callable[[], None]] = set()

    async def run(self, call: Call, call_next: CallNext) -> None:
        try:
            self.outcome = await call_next(call)
        except asyncio.CancelledError:
            self.cancelled = True
        except Exception as error:  # noqa: BLE001 - whatever it is, it is how the job ended
            self.outcome = as_failure(call, error)
        for watcher in tuple(self.watchers):
            watcher()

    @property
    def status(self) -> str:
        if self.outcome is None:
            return "cancelled" if self.cancelled else "working"
        return "failed" if isinstance(self.outcome, Failure) else "completed"

    def detail(self) -> dict[str, Any]:
        detail: dict[str, Any] = {"jobId": self.id, "status": self.status, "seen": self.seen}
        if self.outcome is not None:
            detail["error" if self.status == "failed" else "result"] = EmbeddedOutcome("tools/call", self.outcome)
        return detail


class JobsPlugin(Plugin):
    """The extension."""

    Config = JobsConfig

    def __init__(self, config: JobsConfig) -> None:
        super().__init__(config)
        self.jobs: dict[str, Job] = {}

    @hookimpl
    def register_methods(self) -> Iterable[Extension | Method | NotificationHandler | Topic]:
        return [
            Extension(JOBS, {"cancel": True}, result_types=frozenset({"job"}), since="2025-06-18"),
            Method("jobs/get", self.get, JOBS, name_parameter="jobId"),
            Method("jobs/cancel", self.cancel, JOBS, name_parameter="jobId"),
            NotificationHandler("notifications/jobs/seen", self.note_seen, JOBS),
            Topic("jobIds", JOBS, self.subscribe),
        ]

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        return [around("tools/call")(self.around)]

    @hookimpl
    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        yield
        for job in self.jobs.values():
            if job.task is not None:
                job.task.cancel()

    async def around(self, call: Call, call_next: CallNext) -> Outcome:
        """Answer a client with a job where that is wanted, and with the tool's result where it is not."""
        wanted = call.params.get("name") in self.config.tools and call.client.extension(JOBS) is not None
        if call.path or not wanted:  # a tool that calls another waits for its result
            return await call_next(call)
        job = Job(call.caller)
        self.jobs[job.id] = job
        job.task = asyncio.create_task(job.run(call._replace(notify=None, ask=None), call_next))
        text = f"The job {job.id} has begun."
        return MethodResult({"content": [{"type": "text", "text": text}], **job.detail()}, "job")

    async def get(self, call: Call) -> Outcome:
        return MethodResult(self.job(call).detail())

    async def cancel(self, call: Call) -> Outcome:
        job = self.job(call)
        if job.task is not None:
            job.task.cancel()
        return MethodResult()

    async def note_seen(self, call: Call) -> None:
        self.job(call).seen += 1

    def subscribe(self, call: Call, wanted: Any, notify: Notify) -> Subscription | None:
        """Tell a stream of the end of jobs."""
        if not isinstance(wanted, list):
            raise ProtocolError(INVALID_PARAMS, "jobIds must be a list")
        jobs = [job for job in map(self.jobs.get, map(str, wanted)) if job is not None and job.caller == call.caller]
        watchers = [(job, lambda job=job: notify("notifications/jobs", job.detail())) for job in jobs]
        for job, watcher in watchers:
            job.watchers.add(watcher)

        def close() -> None:
            for job, watcher in watchers:
                job.watchers.discard(watcher)

        return Subscription([job.id for job in jobs], close) if jobs else None

    def job(self, call: Call) -> Job:
        """The job that a call is about; another caller's is as unknown as none."""
        job = self.jobs.get(str(call.params.get("jobId")))
        if job is None or job.caller != call.caller:
            raise ProtocolError(INVALID_PARAMS, "There is no such job.")
        return job
