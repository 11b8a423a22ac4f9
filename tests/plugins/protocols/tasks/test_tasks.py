"""Tasks in one process: their states, answers, limits and owners, and the tasks of processes that have ended."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pegboard import AuthorizationRequiredError, Context, Host, ToolAnnotations, ToolError, Toolkit, ToolResult
from pegboard.context.rounds import MAX_ROUNDS
from pegboard.plugin import Middleware, Plugin, ProtocolError, Record, ToolDefinition, hookimpl
from pegboard.types import (
    LOCAL,
    Call,
    Caller,
    Client,
    EmbeddedOutcome,
    Failure,
    Listing,
    MethodResult,
    Outcome,
    RawResult,
    Round,
)
from pegboard_plugins.auth.auth_token import AuthTokenPlugin
from pegboard_plugins.operation.rate_limit import RateLimitPlugin
from pegboard_plugins.protocols.tasks import TASKS_EXTENSION, TasksPlugin, running_tasks
from pegboard_plugins.protocols.tasks.running_tasks import LOG_IN_AGAIN
from pegboard_plugins.support.login_questions import LoginQuestions, PendingLogin
from pegboard_plugins.support.memory_records import MemoryRecordStore
from tests.host.hosting import make_host, nothing, until

ANN, BOB = Caller("ann", issuer="https://issuer.example"), Caller("bob", issuer="https://issuer.example")
ABLE: dict[str, Any] = {"extensions": {TASKS_EXTENSION: {}}, "elicitation": {"form": {}, "url": {}}}
MODERN = Client("test", "1", "2026-07-28", ABLE)
YES = {"action": "accept", "content": {"value": True}}
SECRET = "marked-value-4711"

kit = Toolkit("jobs")


class Gate:
    """What the tools wait for."""

    event = asyncio.Event()


effects: list[str] = []


@kit.tool(task="optional")
async def wait(name: str) -> str:
    """Wait for the gate."""
    effects.append(name)
    await Gate.event.wait()
    return f"{name} is done"


@kit.tool(task="optional", annotations=ToolAnnotations(idempotent=True))
async def repeat(context: Context, name: str) -> str:
    """Wait for the gate, and run again after a crash."""
    effects.append(name)
    await context.progress.report(1, 2, f"{name} waits")
    await Gate.event.wait()
    return name


@kit.tool(task="optional")
async def ask(context: Context, name: str) -> str:
    """Do an expensive step, and ask twice."""

    def expensive() -> int:
        effects.append(name)
        return len(effects)

    step = await context.once("step", expensive)
    await context.ui.elicit("First?", bool, name="first")
    await context.ui.elicit("Second?", bool, name="second")
    return f"{name} {step} {'x' * 10}"


@kit.tool(task="required", task_asks=["before"])
async def ask_before(context: Context) -> str:
    """Ask before the task, and in it."""
    await context.ui.elicit("Before?", bool, name="before")
    await context.ui.elicit("Inside?", bool, name="inside")
    return "asked"


@kit.tool(task="optional", task_timeout=0.05, timeout=60)
def block(name: str) -> str:
    """Block a thread."""
    while not Gate.event.is_set():
        time.sleep(0.001)
    effects.append(name)
    return name


@kit.tool(task="required", task_timeout=0)
async def fail(error: bool) -> str:
    """End with an error of the protocol or of the tool."""
    raise ProtocolError(-32603, "broken") if error else ValueError(SECRET)


@kit.tool(task="optional", annotations=ToolAnnotations(idempotent=True))
async def use_token(name: str) -> str:
    """Wait for the gate with a token that only the first request brings."""
    effects.append(name)
    if effects.count(name) > 1:
        raise AuthorizationRequiredError("acme")
    await Gate.event.wait()
    return name


@kit.tool(task="required", scopes=["guard"])
def guarded() -> str:
    """Serve only callers with a scope."""
    return "guarded"


@kit.tool(task="optional")
async def log_in(context: Context, name: str) -> str:
    """Need a login, which the gate ends, and ask after it."""
    effects.append(name)
    if not Gate.event.is_set():
        raise AuthorizationRequiredError("acme", authorization_id="acme")
    await context.ui.elicit("Go on?", bool, name="go_on")
    return name


@kit.tool(task="optional")
async def tell_meta(context: Context) -> str:
    """Tell the team of the request."""
    return str(context.meta["com.example/team"])


class Logins(Plugin[None]):
    """Asks for the login, and waits for it for a moment."""

    @hookimpl
    def register_middleware(self) -> Iterable[Middleware]:
        login = PendingLogin("Acme", "https://acme.example", Gate.event.wait)
        return [LoginQuestions(lambda name: login, seconds=0.01)]


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_STATE_DIR", str(tmp_path))
    Gate.event = asyncio.Event()
    effects.clear()


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Host]:
    host = make_host(
        kit, plugins={"tested": TasksPlugin}, config={"plugins": {"tested": {"store": "memory", **settings}}}
    )
    async with host:
        host.for_transports.opened("a test", local=True)
        yield host


async def request(host: Host, method: str, caller: Caller = ANN, client: Client = MODERN, **params: Any) -> Outcome:
    begun = Round() if method == "tools/call" else None
    return await host.dispatch(Call(method, params, caller, client, 1, round=params.pop("begun", begun)))


async def result(host: Host, method: str, caller: Caller = ANN, **params: Any) -> Any:
    outcome = await request(host, method, caller, **params)
    assert isinstance(outcome, MethodResult), outcome
    return outcome.value


async def created(host: Host, tool: str, caller: Caller = ANN, /, **arguments: Any) -> str:
    task = await result(host, "tools/call", caller, name=f"jobs_{tool}", arguments=arguments)
    assert not {"result", "error", "inputRequests", "requestState"} & task.keys()
    return str(task["taskId"])


async def reached(host: Host, task_id: str, *statuses: str, caller: Caller = ANN) -> dict[str, Any]:
    async with asyncio.timeout(10):
        while True:
            task: dict[str, Any] = await result(host, "tasks/get", caller, taskId=task_id)
            if task["status"] in statuses:
                return task
            await asyncio.sleep(0)


def text_of(task: dict[str, Any]) -> str:
    embedded = task["result"]
    assert isinstance(embedded, EmbeddedOutcome)
    assert isinstance(embedded.outcome, RawResult)
    return str(embedded.outcome.value["content"][0]["text"])


@pytest.mark.parametrize("store", ["memory", "sqlite"])
@pytest.mark.requirement("EXT-10")
async def test_a_task_ends_with_the_result_of_its_tool(store: str) -> None:
    async with serving(store=store) as host:
        task_id = await created(host, "wait", name="corn")
        working = await result(host, "tasks/get", taskId=task_id)
        assert (working["status"], working["ttlMs"], working["pollIntervalMs"]) == ("working", 3_600_000, 1000)
        Gate.event.set()
        task = await reached(host, task_id, "completed")
        assert text_of(task) == "corn is done"
        assert task["createdAt"] == working["createdAt"] <= task["lastUpdatedAt"]
        for error, status in ((True, "failed"), (False, "completed")):
            task = await reached(host, await created(host, "fail", error=error), "failed", "completed")
            assert task["status"] == status
            assert task.get("error", {}).get("message") == ("broken" if error else None)
            assert SECRET not in str(task)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
@pytest.mark.requirement("EXT-10")
async def test_answers_begin_the_next_run(store: str) -> None:
    async with serving(store=store) as host:
        task_id = await created(host, "ask", name="corn")
        task = await reached(host, task_id, "input_required")
        assert list(task["inputRequests"]) == ["first"]
        for key in ("unknown", "first", "first", "second"):
            assert await result(host, "tasks/update", taskId=task_id, inputResponses={key: YES}) == {}
            await reached(host, task_id, "input_required", "completed")
        assert text_of(await reached(host, task_id, "completed")).startswith("corn 1")
        assert effects == ["corn"]


async def test_tasks_of_an_ended_process_are_recovered_when_the_store_can_be_reached_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[MemoryRecordStore] = []

    async def orphans(store: MemoryRecordStore, kind: str) -> list[Any]:
        asked.append(store)
        if len(asked) == 2:
            raise ConnectionError("away")
        return []

    monkeypatch.setattr(MemoryRecordStore, "orphans", orphans)
    monkeypatch.setattr(running_tasks, "RETRY_SECONDS", 0)
    async with serving():
        await until(lambda: len(asked) == 1)
        assert asked[0].on_ended is not None
        asked[0].on_ended()
        await until(lambda: len(asked) == 3)


async def test_questions_before_the_task_are_rounds() -> None:
    async with serving() as host:
        asked = await request(host, "tools/call", name="jobs_ask_before", arguments={})
        assert not isinstance(asked, MethodResult)
        answered = asked.next._replace(given={"before": YES})  # type: ignore[union-attr]
        task = await result(host, "tools/call", name="jobs_ask_before", arguments={}, begun=answered)
        waiting = await reached(host, task["taskId"], "input_required")
        assert list(waiting["inputRequests"]) == ["inside"]
        await result(host, "tasks/update", taskId=task["taskId"], inputResponses={"inside": YES})
        assert text_of(await reached(host, task["taskId"], "completed")) == "asked"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.requirement("EXT-10")
async def test_tasks_of_others_are_unknown(method: str) -> None:
    async with serving() as host:
        task_id = await created(host, "ask", name="corn")
        failures = [
            await request(host, method, caller, taskId=asked, inputResponses={"first": YES})
            for caller, asked in ((BOB, task_id), (ANN._replace(issuer="other"), task_id), (ANN, "0" * 32), (ANN, 7))
        ]
        errors = {(outcome.error.code, outcome.error.message) for outcome in failures}  # type: ignore[union-attr]
        assert errors == {(-32602, "There is no such task: it is unknown, or has expired.")}
        assert (await reached(host, task_id, "input_required"))["inputRequests"]


@pytest.mark.requirement("EXT-10")
async def test_a_cancelled_task_drops_late_results(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with serving() as host:
        running, blocking = await created(host, "wait", name="corn"), await created(host, "ask", name="rye")
        await until(lambda: len(effects) == 2)
        for task_id in (running, blocking, running):
            assert await result(host, "tasks/cancel", taskId=task_id) == {}
            assert (await result(host, "tasks/get", taskId=task_id))["status"] == "cancelled"
        Gate.event.set()
        assert await result(host, "tasks/update", taskId=blocking, inputResponses={"first": YES}) == {}
        assert (await result(host, "tasks/get", taskId=running))["status"] == "cancelled"
    assert "a sync function goes on" in caplog.text


async def test_a_task_ends_although_the_store_could_not_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_plugins.protocols.tasks.running_tasks.RETRY_SECONDS", 0)
    transition, failures = MemoryRecordStore.transition, [ConnectionError("away")] * 2

    async def unreliable(*arguments: Any) -> bool:
        if failures:
            raise failures.pop()
        return await transition(*arguments)

    async with serving() as host:
        Gate.event.set()
        monkeypatch.setattr(MemoryRecordStore, "transition", unreliable)
        assert text_of(await reached(host, await created(host, "wait", name="corn"), "completed")) == "corn is done"
        assert not failures


async def test_a_task_has_its_own_time_limit() -> None:
    async with serving() as host:
        task = await reached(host, await created(host, "block", name="corn"), "completed")
        assert "took longer than 0.05 seconds" in text_of(task)
        Gate.event.set()
        await until(lambda: bool(effects))


@pytest.mark.parametrize(
    ("client", "transport", "refused"),
    [
        (MODERN._replace(capabilities={}), "http", True),
        (Client("old", "1", "2025-11-25"), "http", True),
        (Client("pegboard call"), "", False),
    ],
)
async def test_a_client_without_tasks_waits_or_is_refused(client: Client, transport: str, refused: bool) -> None:
    async with serving() as host:
        Gate.event.set()
        optional = await request(host, "tools/call", client=client, name="jobs_wait", arguments={"name": "corn"})
        assert isinstance(optional, ToolResult)
        required = await request(host, "tools/call", client=client, name="jobs_fail", arguments={"error": False})
        assert isinstance(required, Failure)
        assert (getattr(required.error, "code", None) == -32021) is refused
        listed = await host.dispatch(Call("tools/list", {}, ANN, client, 1))
        assert isinstance(listed, Listing)
        has_required = "jobs_fail" in [tool.name for tool in listed.items]
        assert has_required is (client.revision != "2025-11-25")


async def test_no_task_is_created_in_a_profile_or_without_scopes() -> None:
    async with serving() as host:
        arguments = {"name": "jobs_guarded", "arguments": {}}
        refused = await host.dispatch(Call("tools/call", arguments, ANN, MODERN, 1, round=Round()))
        assert isinstance(refused, Failure)
        admitted = Call("tools/call", arguments, ANN._replace(scopes=frozenset({"guard"})), MODERN, 1, round=Round())
        assert isinstance(await host.dispatch(admitted), MethodResult)
        assert isinstance(await host.dispatch(admitted._replace(serves=lambda kind, name: True)), ToolResult)


async def test_a_waiting_task_holds_no_function_and_no_timer() -> None:
    async with serving() as host:
        await created(host, "ask", name="first")  # opens the store
        before = asyncio.all_tasks()
        for task_id in [await created(host, "ask", name="corn") for _ in range(20)]:
            await reached(host, task_id, "input_required")
        await until(lambda: asyncio.all_tasks() <= before)


async def test_a_task_is_rate_limited_once() -> None:
    limit = {"plugins": {"tested": {"store": "memory"}, "limit": {"calls_per_minute": 1, "burst": 1}}}
    async with make_host(kit, plugins={"tested": TasksPlugin, "limit": RateLimitPlugin}, config=limit) as host:
        Gate.event.set()
        assert text_of(await reached(host, await created(host, "wait", name="corn"), "completed")) == "corn is done"
        assert isinstance(await request(host, "tools/call", name="jobs_wait", arguments={"name": "rye"}), Failure)


async def test_a_caller_has_a_limit_of_tasks() -> None:
    async with serving(max_per_caller=2) as host:
        for _ in range(2):
            await created(host, "ask", name="corn")
        refused = await request(host, "tools/call", name="jobs_ask", arguments={"name": "corn"})
        assert isinstance(refused, Failure)
        assert "wait until some have expired" in refused.error.message
        await created(host, "ask", BOB, name="corn")
        for _ in range(3):
            await created(host, "ask", LOCAL, name="corn")


async def test_a_subscriber_is_notified_of_its_own_tasks() -> None:
    async with serving() as host:
        topic = host.assembly.contributed.topics["taskIds"]
        task_id = await created(host, "ask", name="corn")
        own, foreign = list[Any](), list[Any]()
        call = Call("subscriptions/listen", {}, ANN, MODERN)
        subscription = topic.subscribe(call, [task_id, "unknown"], lambda method, params: own.append(params["status"]))
        other = topic.subscribe(call._replace(caller=BOB), [task_id], lambda *sent: foreign.append(sent))
        assert subscription is not None
        assert other is not None
        assert subscription.honoured == [task_id, "unknown"]
        await until(lambda: "input_required" in own)
        for key in ("first", "second"):
            await result(host, "tasks/update", taskId=task_id, inputResponses={key: YES})
            await reached(host, task_id, "input_required", "completed")
        await until(lambda: "completed" in own)
        assert foreign == []
        subscription.close()
        with pytest.raises(ProtocolError):
            topic.subscribe(call, "no list", print)


async def test_the_tasks_of_a_killed_process_end_or_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"store": "sqlite", "state_keys": ["k" * 32]}
    expired = ANN._replace(expires_at=time.time() - 1)
    async with serving(**key) as first:
        ids = [
            await created(first, "wait", name="once"),
            await created(first, "repeat", name="twice"),
            await created(first, "repeat", expired, name="late"),
            await created(first, "ask", name=SECRET),
            await created(first, "use_token", name="token"),
        ]
        await until(lambda: len(effects) == 5)
        await reached(first, ids[3], "input_required")
        with monkeypatch.context() as killed:
            # another process finds the records while this one, which looks dead, still runs
            killed.setattr("pegboard_plugins.support.sqlite_records._has_ended", lambda folder, process: True)
            async with serving(**key) as second:
                unknown = await reached(second, ids[0], "failed")
                assert unknown["statusMessage"] == unknown["error"]["message"] == "interrupted: the outcome is unknown"
                assert (await reached(second, ids[2], "failed"))["statusMessage"] == LOG_IN_AGAIN
                assert (await reached(second, ids[4], "failed"))["statusMessage"] == "interrupted: token required"
                await until(lambda: effects.count("twice") == 2)
                Gate.event.set()
                assert text_of(await reached(second, ids[1], "completed")) == "twice"
                for answer in ("first", "second"):
                    await result(second, "tasks/update", taskId=ids[3], inputResponses={answer: YES})
                    await reached(second, ids[3], "input_required", "completed")
                await reached(second, ids[3], "completed")
        # the paused process did not write over it
        assert (await result(first, "tasks/get", taskId=ids[0]))["status"] == "failed"
    assert effects.count("once") == effects.count("late") == effects.count(SECRET) == 1
    files = await asyncio.to_thread(lambda: b"".join(path.read_bytes() for path in tmp_path.iterdir()))
    assert files
    assert SECRET.encode() not in files


async def test_a_task_whose_caller_is_not_admitted_any_more_does_not_run_again() -> None:
    callers = {"ann": {"token": "ann-0123456789abcdefghijklmnopqrstuvwxyz"}}
    settings = {"plugins": {"tested": {}, "tokens": {"callers": callers}}}
    plugins = {"tested": TasksPlugin, "tokens": AuthTokenPlugin}
    async with make_host(kit, plugins=plugins, config=settings) as host:
        ids = [await created(host, "repeat", Caller(name), name=name) for name in ("ann", "bob")]
        await until(lambda: len(effects) == 2)
    async with make_host(kit, plugins=plugins, config=settings) as host:
        assert (await reached(host, ids[1], "failed", caller=Caller("bob")))["statusMessage"] == LOG_IN_AGAIN
        await until(lambda: effects.count("ann") == 2)
    assert effects.count("bob") == 1


async def test_a_stopped_host_says_that_the_outcome_is_unknown() -> None:
    async with serving(store="sqlite") as host:
        ids = [await created(host, name, name=name) for name in ("wait", "repeat")]
        await until(lambda: len(effects) == 2)
    async with serving(store="sqlite") as host:
        assert (await reached(host, ids[0], "failed"))["statusMessage"] == "interrupted: the outcome is unknown"
        await until(lambda: effects.count("repeat") == 2)
        Gate.event.set()
        await reached(host, ids[1], "completed")
    assert effects.count("wait") == 1


@pytest.mark.parametrize("steps", [1, 6])
async def test_a_host_that_stops_soon_ends_the_opening_of_the_store(
    steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(store="sqlite"):
        for _ in range(steps):
            await asyncio.sleep(0)
    gc.collect()  # asyncio logs the exception of a task that nobody has awaited
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]  # a busy machine warns


@pytest.mark.parametrize("number", [1, 2], ids=["report", "result"])
async def test_a_task_ends_although_an_answer_of_the_store_was_lost(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard_plugins.protocols.tasks.running_tasks.RETRY_SECONDS", 0)
    transition, made, told = MemoryRecordStore.transition, list[Any](), list[str]()

    async def unreliable(*arguments: Any) -> bool:
        made.append(await transition(*arguments))
        if len(made) == number:
            raise ConnectionError("away")
        return bool(made[-1])

    async with serving() as host:
        monkeypatch.setattr(MemoryRecordStore, "transition", unreliable)
        task_id = await created(host, "repeat", name="corn")
        listen = Call("subscriptions/listen", {}, ANN, MODERN)
        topic = host.assembly.contributed.topics["taskIds"]
        assert topic.subscribe(listen, [task_id], lambda method, params: told.append(params["status"]))
        await until(lambda: bool(made))
        Gate.event.set()
        assert text_of(await reached(host, task_id, "completed")) == "corn"
        await until(lambda: "completed" in told)


class Held:
    """Holds a method of the store after it has made a change."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.released = asyncio.Event(), asyncio.Event()
        self.ids: list[str] = []
        self._make = getattr(MemoryRecordStore, name)
        monkeypatch.setattr(MemoryRecordStore, name, lambda *arguments: self.make(*arguments))  # noqa: PLW0108 - binds the store

    async def make(self, store: MemoryRecordStore, record: Record, *arguments: Any) -> Any:
        made = await self._make(store, record, *arguments)
        self.ids.append(record.id.partition("/")[2])
        self.begun.set()
        await self.released.wait()
        return made

    async def cancel(self, request: Coroutine[Any, Any, Any]) -> None:
        """Cancel a request after its change, before it learns of the change."""
        running = asyncio.create_task(request)
        await self.begun.wait()
        running.cancel()
        await asyncio.wait({running})
        self.released.set()


async def test_an_answer_begins_its_leg_although_its_request_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as host:
        task_id = await created(host, "ask", name="corn")
        await reached(host, task_id, "input_required")
        held = Held("transition", monkeypatch)
        await held.cancel(result(host, "tasks/update", taskId=task_id, inputResponses={"first": YES}))
        assert list((await reached(host, task_id, "input_required"))["inputRequests"]) == ["second"]


async def test_a_cancelled_call_leaves_no_task_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as host:
        await created(host, "ask", name="rye")  # opens the store
        held = Held("create", monkeypatch)
        await held.cancel(created(host, "wait", name="corn"))
        await reached(host, held.ids[0], "cancelled")
        assert "corn" not in effects


async def test_a_task_waits_for_a_login_without_a_further_question() -> None:
    settings = {"plugins": {"tested": {"store": "memory"}, "logins": {}}}
    async with make_host(kit, plugins={"tested": TasksPlugin, "logins": Logins}, config=settings) as host:
        task_id = await created(host, "log_in", name="corn")
        assert list((await reached(host, task_id, "input_required"))["inputRequests"]) == ["login-acme"]
        await result(host, "tasks/update", taskId=task_id, inputResponses={"login-acme": {"action": "accept"}})
        await until(lambda: len(effects) > MAX_ROUNDS + 2)
        Gate.event.set()
        await reached(host, task_id, "input_required")
        await result(host, "tasks/update", taskId=task_id, inputResponses={"go_on": YES})
        assert text_of(await reached(host, task_id, "completed")) == "corn"


async def test_no_task_is_created_for_a_removed_tool_or_a_malformed_call() -> None:
    async with serving() as host:
        malformed = await request(host, "tools/call", name="jobs_wait", arguments=[])
        (name,) = host.catalogue.add(ToolDefinition(nothing, task="required"))
        await result(host, "tools/call", name=name)
        host.catalogue.remove("tools", name)
        removed = await request(host, "tools/call", name=name)
        for outcome in (malformed, removed):
            assert isinstance(outcome, Failure)
            assert not isinstance(outcome.error, ToolError)


async def test_a_tool_in_a_task_has_the_meta_of_its_request() -> None:
    async with serving() as host:
        task = await result(host, "tools/call", name="jobs_tell_meta", _meta={"com.example/team": "games"})
        assert text_of(await reached(host, task["taskId"], "completed")) == "games"
