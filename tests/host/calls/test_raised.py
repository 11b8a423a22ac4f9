"""What was raised becomes the error that the caller is meant to see: groups, broken errors, and what goes with them."""

from __future__ import annotations

import asyncio
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
from pegboard.plugin import ProtocolError, ToolRuntimeError
from pegboard.types import Call, CallNext, Failure, Outcome
from tests.host.hosting import WAIT, call, failure, make_host, plugin_of, value

CANARY = "canary-7f3a91"
MODES = ("thread", "async", "inline")

MASKED = "It failed unexpectedly."


class Broken(Exception):
    """What some library raises."""


class Adapter:
    """Knows it."""

    slug = "broken"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        """The error that it amounts to."""
        return UpstreamError("the service is broken", status_code=503) if isinstance(error, Broken) else None


def raising(make: Callable[[], BaseException]) -> Toolkit:
    """A toolkit whose tools, one for each mode, raise."""
    kit = Toolkit("x")

    def sync() -> str:
        """Raise."""
        raise make()

    async def on_the_loop() -> str:
        """Raise."""
        raise make()

    for mode in MODES:
        kit.tool(name=mode, inline=mode == "inline", adapters=[Adapter()])(on_the_loop if mode == "async" else sync)
    return kit


async def raised(make: Callable[[], BaseException], mode: str = "async") -> Failure:
    async with make_host(raising(make)) as host:
        return await failure(host, f"x_{mode}")


# --- groups

SLOW, SLOWER = UpstreamRateLimitError("slow down", 100), UpstreamRateLimitError("slow down more", 900)
REFUSED = UpstreamError("refused", status_code=403)

GROUPS: dict[str, tuple[BaseException, str]] = {
    "one": (ExceptionGroup("g", [SLOW]), "slow down"),
    "one, deep": (ExceptionGroup("g", [ExceptionGroup("h", [ExceptionGroup("i", [SLOW])])]), "slow down"),
    "one in a group of anything": (BaseExceptionGroup("g", [SLOW]), "slow down"),
    "the longest wait": (ExceptionGroup("g", [SLOW, SLOWER, SLOW]), "slow down more"),
    "what no retry mends": (ExceptionGroup("g", [SLOWER, ExceptionGroup("h", [REFUSED]), SLOW]), "refused"),
    "what an adapter knows": (ExceptionGroup("g", [Broken(CANARY)]), "the service is broken"),
    "what an adapter knows, and one on purpose": (ExceptionGroup("g", [Broken(CANARY), REFUSED]), "refused"),
    "a protocol error": (ExceptionGroup("g", [SLOW, ProtocolError(-32602, "no such page")]), "no such page"),
    "something missing": (ExceptionGroup("g", [NotFoundError("no issue 7")]), "no issue 7"),
    "an accident among them": (ExceptionGroup("g", [SLOW, ValueError(CANARY)]), MASKED),
    "an accident that no group of exceptions holds": (BaseExceptionGroup("g", [SLOW, SystemExit(3)]), MASKED),
    "nothing but accidents": (ExceptionGroup(CANARY, [ValueError(CANARY), KeyError(CANARY)]), MASKED),
    "very many": (ExceptionGroup(CANARY, [ExceptionGroup("h", [REFUSED] * 900)] * 3), "refused"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", GROUPS)
async def test_a_group_of_typed_errors_is_one_of_them(kind: str, mode: str) -> None:
    group, message = GROUPS[kind]
    outcome = await raised(lambda: group, mode)
    assert outcome.error.message == message
    assert CANARY not in repr(outcome.error.args)


async def test_a_group_of_one_is_that_error_itself_and_several_are_told_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.clear()
    alone = await raised(lambda: ExceptionGroup("g", [SLOW]))
    assert alone == Failure(SLOW)
    assert [one.levelname for one in caplog.records] == ["WARNING"]  # the failure of a service
    several = await raised(lambda: ExceptionGroup("both", [UpstreamRateLimitError("a", 1), REFUSED]))
    assert several.error is REFUSED
    assert str(several.error_id) in caplog.text
    assert "both (2 sub-exceptions)" in caplog.text


async def test_a_task_group_in_a_tool_fails_with_what_its_task_failed_with() -> None:
    kit = Toolkit("x")

    async def ask(status: int) -> None:
        raise UpstreamError("the service refused", status_code=status)

    @kit.tool
    async def gather() -> str:
        """Ask two services."""
        async with asyncio.TaskGroup() as group:
            group.create_task(ask(404))
            group.create_task(asyncio.sleep(WAIT))
        return "both"

    async with make_host(kit) as host:
        outcome = await failure(host, "x_gather")
    assert isinstance(outcome.error, UpstreamError)
    assert outcome.error.status_code == 404


async def test_a_group_in_a_resource_keeps_its_meaning() -> None:
    kit = Toolkit("x")

    @kit.resource("docs://one")
    def one() -> str:
        raise ExceptionGroup("g", [NotFoundError("no such page")])

    async with make_host(kit) as host:
        outcome = await host.dispatch(Call("resources/read", {"uri": "docs://one"}))
    assert isinstance(outcome, Failure)
    assert type(outcome.error) is NotFoundError
    assert outcome.error.data == {"uri": "docs://one"}


# --- what goes with an error


class Issue:
    """Something that JSON has no form for."""


@pytest.mark.parametrize(
    ("extra", "sent"),
    [
        ({"issue": 7, "labels": ["a", None, {"b": 1.5}]}, {"issue": 7, "labels": ["a", None, {"b": 1.5}]}),
        ({1: "x", "kind": ErrorKind.UNKNOWN}, {"1": "x", "kind": "UNKNOWN"}),
        ({"half": "\ud83d", "nan": float("nan")}, {"half": "�", "nan": None}),
        ({"issue": Issue()}, {}),
        ({"text": "x" * 10_000}, {}),
    ],
    ids=["as it is", "made into JSON", "no JSON", "no form", "too much"],
)
async def test_extra_is_json_of_a_bounded_size(
    extra: dict[Any, Any], sent: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await raised(lambda: ToolExecutionError("no", extra=extra))
    assert isinstance(outcome.error, ToolExecutionError)
    assert outcome.error.extra == sent
    assert ("extra of a ToolExecutionError was removed" in caplog.text) == (not sent)


async def test_a_detail_for_the_log_that_is_no_text_is_made_one(caplog: pytest.LogCaptureFixture) -> None:
    detail: Any = OSError("disk 3")
    outcome = await raised(lambda: FatalToolError("no", detail))
    assert outcome.error.message == "no"
    assert "disk 3" in caplog.text


class Forgetful(RetryableToolError):
    """Replaces the constructor and does not call it."""

    def __init__(self, issue: int) -> None:
        self.issue = issue


class ForgetfulProtocolError(ProtocolError):
    """The same."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("mode", MODES)
async def test_an_error_of_an_authors_class_that_forgot_its_base_is_answered(mode: str) -> None:
    outcome = await raised(lambda: Forgetful(7), mode)
    assert isinstance(outcome.error, Forgetful)
    assert (outcome.error.kind, outcome.error.can_retry) == (ErrorKind.TOOL_RUNTIME_RETRY, True)
    assert outcome.error_id is None
    outcome = await raised(ForgetfulProtocolError, mode)
    assert isinstance(outcome.error, ForgetfulProtocolError)
    assert outcome.error.code == -32603


# --- every other function that authors write

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
}


def outburst_kit() -> Toolkit:
    kit = Toolkit("x")

    def sync(kind: str) -> str:
        """Raise in a thread."""
        if kind in OUTBURSTS:
            make = OUTBURSTS[kind]
            raise make()
        return "fine"

    async def on_the_loop(kind: str) -> str:
        """Raise on the loop."""
        await asyncio.sleep(0)
        return sync(kind)

    def complete(typed: str) -> list[str]:
        return [sync(typed)]

    async def complete_async(typed: str) -> list[str]:
        return [await on_the_loop(typed)]

    functions: dict[str, tuple[Any, Any]] = {"sync": (sync, complete), "async": (on_the_loop, complete_async)}
    for name, (function, completer) in functions.items():
        kit.resource(f"{name}://{{kind}}")(function)
        kit.completion(kit.prompt(name=name)(function), "kind")(completer)
    return kit


def request(place: str, mode: str, kind: str) -> Call:
    """What leads to a function of an author's."""
    if place == "resource":
        return Call("resources/read", {"uri": f"{mode}://{kind}"})
    if place == "prompt":
        return Call("prompts/get", {"name": f"x_{mode}", "arguments": {"kind": kind}})
    params = {"ref": {"type": "ref/prompt", "name": f"x_{mode}"}, "argument": {"name": "kind", "value": kind}}
    return Call("completion/complete", params)


@pytest.mark.parametrize("place", ["resource", "prompt", "completion"])
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("kind", OUTBURSTS)
async def test_whatever_a_function_raises_loses_that_call_alone(
    kind: str, mode: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with make_host(outburst_kit()) as host:
        async with asyncio.timeout(WAIT):
            outcome = await host.dispatch(request(place, mode, kind))
        assert not isinstance(await host.dispatch(request(place, mode, "none")), Failure)
    assert isinstance(outcome, Failure)
    assert outcome.error.message == MASKED
    assert outcome.error_id
    assert outcome.error_id in caplog.text
    assert kind in caplog.text


def middleware_that_raises(make: Callable[[], BaseException], *, late: bool) -> Any:
    async def fail(call: Call, call_next: CallNext) -> Outcome:
        if call.params.get("name") != "x_async":
            return await call_next(call)
        await asyncio.sleep(0)
        if late:
            await call_next(call._replace(params={"name": "x_fine"}))
        raise make()

    return plugin_of(middleware=[fail])


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", OUTBURSTS)
async def test_whatever_middleware_raises_loses_that_call_alone(
    kind: str, late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    kit = raising(lambda: ValueError("not reached"))

    @kit.tool
    async def fine() -> str:
        """Be fine."""
        return "fine"

    async with make_host(kit, plugins={"m": middleware_that_raises(OUTBURSTS[kind], late=late)}) as host:
        async with asyncio.timeout(WAIT):
            outcome = await call(host, "x_async")
        assert await value(host, "x_fine") == "fine"
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "Internal error"
    assert outcome.error_id
    assert outcome.error_id in caplog.text


@pytest.mark.parametrize(
    "error", [PromptError("a"), ResourceError("b"), NotFoundError("c"), ProtocolError(-1, "d"), SLOW], ids=repr
)
async def test_what_middleware_raises_on_purpose_is_the_answer(error: MCPError) -> None:
    kit = raising(lambda: ValueError("not reached"))
    async with make_host(kit, plugins={"m": middleware_that_raises(lambda: error, late=False)}) as host:
        assert await call(host, "x_async") == Failure(error)
