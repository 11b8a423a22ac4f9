"""An exception loses its own call alone, and its caller sees the error that it stands for, or a masked one."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import (
    ErrorKind,
    FatalToolError,
    MCPError,
    NotFoundError,
    PromptError,
    ResourceError,
    RetryableToolError,
    ToolExecutionError,
    Toolkit,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.plugin import ProtocolError, ServerError, ToolRuntimeError
from pegboard.types import Call, CallNext, Failure, Outcome
from tests.host.hosting import WAIT, call, failure, make_host, plugin_of, value

CANARY = "canary-7f3a91"
MODES = ("thread", "async", "inline")
MASKED = "It failed unexpectedly."

OUTBURSTS: dict[str, Callable[[], BaseException]] = {
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": lambda: KeyboardInterrupt(CANARY),
    "StopIteration": lambda: StopIteration(CANARY),
    "StopAsyncIteration": lambda: StopAsyncIteration(CANARY),
    "GeneratorExit": lambda: GeneratorExit(CANARY),
    "CancelledError": lambda: asyncio.CancelledError(CANARY),
    "RecursionError": lambda: RecursionError(CANARY),
    "MemoryError": lambda: MemoryError(CANARY),
    "BaseExceptionGroup": lambda: BaseExceptionGroup(CANARY, [SystemExit(3)]),
    "ValueError": lambda: ValueError(CANARY),
    "Odd": lambda: type("Odd", (BaseException,), {})(CANARY),
    "ServerError": lambda: ServerError(CANARY),
}


def outburst_kit() -> Toolkit:
    kit = Toolkit("x")

    def thread(kind: str) -> str:
        """Raise in a thread."""
        if kind in OUTBURSTS:
            make = OUTBURSTS[kind]
            raise make()
        return "fine"

    async def now(kind: str) -> str:
        """Raise on the loop."""
        return thread(kind)

    async def later(kind: str) -> str:
        """Raise on the loop after a turn of it."""
        await asyncio.sleep(0)
        return thread(kind)

    def complete(typed: str) -> list[str]:
        return [thread(typed)]

    async def complete_later(typed: str) -> list[str]:
        return [await later(typed)]

    for function in (thread, now, later):
        kit.tool(function)
    kit.tool(name="inline", inline=True)(thread)
    for function, completer in ((thread, complete), (later, complete_later)):
        kit.resource(f"{function.__name__}://{{kind}}")(function)
        kit.completion(kit.prompt(function), "kind")(completer)
    return kit


def request(place: str, name: str, kind: str) -> Call:
    """Return the call that leads to a function."""
    if place == "resource":
        return Call("resources/read", {"uri": f"{name}://{kind}"})
    if place == "completion":
        params = {"ref": {"type": "ref/prompt", "name": f"x_{name}"}, "argument": {"name": "kind", "value": kind}}
        return Call("completion/complete", params)
    method = "tools/call" if place == "tool" else "prompts/get"
    return Call(method, {"name": f"x_{name}", "arguments": {"kind": kind}})


PLACES = [("tool", name) for name in ("thread", "now", "later", "inline")] + [
    (place, name) for place in ("resource", "prompt", "completion") for name in ("thread", "later")
]


@pytest.mark.parametrize(("place", "name"), PLACES)
@pytest.mark.parametrize("kind", OUTBURSTS)
async def test_an_exception_loses_its_call_alone(
    kind: str, place: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_host(outburst_kit()) as host:
        async with asyncio.timeout(WAIT):
            outcome = await host.dispatch(request(place, name, kind))
        assert not isinstance(await host.dispatch(request(place, name, "none")), Failure)
    assert isinstance(outcome, Failure)
    assert (type(outcome.error), outcome.error.message) == (FatalToolError, MASKED)
    assert outcome.error_id
    assert outcome.error_id in caplog.text
    assert kind in caplog.text


async def test_many_exceptions_at_once_lose_their_own_calls_alone_and_leave_nothing_open() -> None:
    async with make_host(outburst_kit(), threads=2) as host:
        calls = [(name, kind) for name in ("thread", "later", "inline") for kind in (*OUTBURSTS, "none")]
        async with asyncio.timeout(WAIT):
            outcomes = await asyncio.gather(*(host.dispatch(request("tool", name, kind)) for name, kind in calls))
    assert [not isinstance(outcome, Failure) for outcome in outcomes] == [kind == "none" for _, kind in calls]
    gc.collect()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


def middleware_that_raises(make: Callable[[], BaseException], *, late: bool) -> Any:
    async def fail(call: Call, call_next: CallNext) -> Outcome:
        if call.params.get("name") == "x_inline":
            return await call_next(call)
        await asyncio.sleep(0)
        if late:
            await call_next(call._replace(params={"name": "x_inline", "arguments": {"kind": "none"}}))
        raise make()

    return plugin_of(middleware=[fail])


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", OUTBURSTS.keys() - {"ServerError"})
async def test_an_exception_of_middleware_loses_its_call_alone(
    kind: str, late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_host(outburst_kit(), plugins={"m": middleware_that_raises(OUTBURSTS[kind], late=late)}) as host:
        async with asyncio.timeout(WAIT):
            outcome = await call(host, "x_now", {"kind": "none"})
        assert await value(host, "x_inline", {"kind": "none"}) == "fine"
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "Internal error"
    assert str(outcome.error_id) in caplog.text


@pytest.mark.parametrize("error", [PromptError("a"), ResourceError("b"), NotFoundError("c"), ProtocolError(-1, "d")])
async def test_an_error_that_middleware_raises_on_purpose_is_the_answer(error: MCPError) -> None:
    async with make_host(outburst_kit(), plugins={"m": middleware_that_raises(lambda: error, late=False)}) as host:
        assert await call(host, "x_now", {"kind": "none"}) == Failure(error)


class Broken(Exception):
    """An exception of some library."""


class Adapter:
    """Maps it."""

    slug = "broken"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return UpstreamError("the service is broken", status_code=503) if isinstance(error, Broken) else None


async def raised(make: Callable[[], BaseException], mode: str = "async") -> Failure:
    """Return the failure of a tool that raises."""
    kit = Toolkit("x")

    def sync() -> str:
        """Raise."""
        raise make()

    async def on_the_loop() -> str:
        """Raise."""
        raise make()

    kit.tool(name="go", inline=mode == "inline", adapters=[Adapter()])(on_the_loop if mode == "async" else sync)
    async with make_host(kit) as host:
        return await failure(host, "x_go")


@pytest.mark.parametrize("mode", ["thread", "inline"])
async def test_endless_recursion_is_masked(mode: str) -> None:
    def deep() -> BaseException:
        return deep()

    error = (await raised(deep, mode)).error
    assert "RecursionError" in (getattr(error, "developer_message", "") or "")


class Speechless(Exception):
    """An error whose text cannot be read."""

    def __str__(self) -> str:
        raise ValueError(CANARY)


class SpeechlessRefusal(ToolExecutionError, Speechless):
    """The same, raised on purpose."""


WRONG: Any = [CANARY]


@pytest.mark.parametrize(
    "error",
    [
        Speechless(),
        SpeechlessRefusal("no"),
        RetryableToolError("no", retry_after_ms=WRONG),
        RetryableToolError("no", additional_prompt_content=WRONG),
    ],
    ids=["speechless", "speechless on purpose", "a time that is no number", "content that is no text"],
)
async def test_an_unsound_error_is_masked(error: Exception) -> None:
    outcome = await raised(lambda: error)
    assert outcome.error.message == MASKED
    assert outcome.error_id


SLOW, SLOWER = UpstreamRateLimitError("slow down", 100), UpstreamRateLimitError("slow down more", 900)
REFUSED = UpstreamError("refused", status_code=403)
TYPED = [
    ToolExecutionError("refused"),
    RetryableToolError("too early", additional_prompt_content="Later.", retry_after_ms=5),
    FatalToolError("beyond repair"),
    SLOW,
    ProtocolError(-32602, "no such page", {"page": 3}),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("error", TYPED, ids=type)
async def test_a_typed_error_reaches_the_caller_unchanged(error: MCPError, mode: str) -> None:
    assert await raised(lambda: error, mode) == Failure(error)


async def test_a_context_error_of_a_tool_keeps_its_message() -> None:
    outcome = await raised(lambda: NotFoundError("no issue 7"))
    assert isinstance(outcome.error, ToolExecutionError)
    assert outcome.error.message == "no issue 7"


GROUPS: dict[str, tuple[BaseException, str]] = {
    "one, deep": (ExceptionGroup("g", [ExceptionGroup("h", [ExceptionGroup("i", [SLOW])])]), "slow down"),
    "one in a group of anything": (BaseExceptionGroup("g", [SLOW]), "slow down"),
    "the longest wait": (ExceptionGroup("g", [SLOW, SLOWER, SLOW]), "slow down more"),
    "no retry helps": (ExceptionGroup("g", [SLOWER, ExceptionGroup("h", [REFUSED]), SLOW]), "refused"),
    "an adapter knows it": (ExceptionGroup("g", [Broken(CANARY)]), "the service is broken"),
    "an adapter knows it, and one on purpose": (ExceptionGroup("g", [Broken(CANARY), REFUSED]), "refused"),
    "a protocol error": (ExceptionGroup("g", [SLOW, ProtocolError(-32602, "no such page")]), "no such page"),
    "something missing": (ExceptionGroup("g", [NotFoundError("no issue 7")]), "no issue 7"),
    "an accident among them": (ExceptionGroup("g", [SLOW, ValueError(CANARY)]), MASKED),
    "an accident that no group of exceptions holds": (BaseExceptionGroup("g", [SLOW, SystemExit(3)]), MASKED),
    "nothing but accidents": (ExceptionGroup(CANARY, [ValueError(CANARY), KeyError(CANARY)]), MASKED),
    "very many": (ExceptionGroup(CANARY, [ExceptionGroup("h", [REFUSED] * 900)] * 3), "refused"),
}


@pytest.mark.parametrize("kind", GROUPS)
async def test_a_group_of_typed_errors_is_the_gravest_of_them(kind: str) -> None:
    group, message = GROUPS[kind]
    outcome = await raised(lambda: group)
    assert outcome.error.message == message
    assert CANARY not in repr(outcome.error.args)


async def test_a_group_of_one_is_that_error_and_several_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert await raised(lambda: ExceptionGroup("g", [SLOW])) == Failure(SLOW)
    assert [one.levelname for one in caplog.records] == ["WARNING"]  # the failure of a service
    several = await raised(lambda: ExceptionGroup("both", [UpstreamRateLimitError("a", 1), REFUSED]))
    assert several.error is REFUSED
    assert str(several.error_id) in caplog.text
    assert "both (2 sub-exceptions)" in caplog.text


async def test_a_group_in_a_resource_keeps_its_meaning() -> None:
    kit = Toolkit("x")

    @kit.resource("docs://one")
    async def one() -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(WAIT))
            raise NotFoundError("no such page")

    async with make_host(kit) as host:
        outcome = await host.dispatch(Call("resources/read", {"uri": "docs://one"}))
    assert isinstance(outcome, Failure)
    assert type(outcome.error) is NotFoundError
    assert outcome.error.data == {"uri": "docs://one"}


@pytest.mark.parametrize(
    ("extra", "sent"),
    [
        ({"issue": 7, "labels": ["a", None, {"b": 1.5}]}, {"issue": 7, "labels": ["a", None, {"b": 1.5}]}),
        ({1: "x", "kind": ErrorKind.UNKNOWN}, {"1": "x", "kind": "UNKNOWN"}),
        ({"half": "\ud83d", "nan": float("nan")}, {"half": "�", "nan": None}),
        ({"issue": object()}, {}),
        ({"text": "x" * 10_000}, {}),
    ],
    ids=["JSON", "made into JSON", "not in JSON", "no form", "too much"],
)
async def test_extra_is_json_of_a_bounded_size(
    extra: dict[Any, Any], sent: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await raised(lambda: ToolExecutionError("no", extra=extra))
    assert isinstance(outcome.error, ToolExecutionError)
    assert outcome.error.extra == sent
    assert ("extra of a ToolExecutionError was removed" in caplog.text) == (not sent)


class Forgetful(RetryableToolError):
    """Replaces the constructor and does not call it."""

    def __init__(self) -> None:
        pass


class ForgetfulProtocolError(ProtocolError):
    """The same."""

    def __init__(self) -> None:
        pass


async def test_an_error_class_that_does_not_call_its_base_has_defaults() -> None:
    outcome = await raised(Forgetful)
    assert isinstance(outcome.error, Forgetful)
    assert (outcome.error.kind, outcome.error.can_retry) == (ErrorKind.TOOL_RUNTIME_RETRY, True)
    outcome = await raised(ForgetfulProtocolError)
    assert isinstance(outcome.error, ForgetfulProtocolError)
    assert outcome.error.code == -32603
