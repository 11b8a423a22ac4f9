"""An exception fails its own call alone, and its caller sees the error that it is mapped to, or a masked error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pegboard import (
    ErrorKind,
    FatalToolError,
    NotFoundError,
    RetryableToolError,
    ToolExecutionError,
    Toolkit,
    ToolRuntimeError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.errors import ServerError
from pegboard.plugin import ErrorAdapter
from pegboard.types import Call, CallNext, Failure, Outcome
from tests.host.hosting import WAIT, failure, kit_of, make_host, plugin_of, value

CANARY = "canary-7f3a91"
MASKED = "It failed unexpectedly."

OUTBURSTS: dict[str, Callable[[], BaseException]] = {
    "SystemExit": lambda: SystemExit(3),
    "StopIteration": lambda: StopIteration(CANARY),
    "CancelledError": lambda: asyncio.CancelledError(CANARY),
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

    async def complete(typed: str) -> list[str]:
        return [await later(typed)]

    for function in (thread, now, later):
        kit.tool(function)
    kit.tool(name="inline", inline=True)(thread)
    kit.resource("thread://{kind}")(thread)
    kit.completion(kit.prompt(later), "kind")(complete)
    return kit


PLACES = ("x_thread", "x_now", "x_later", "x_inline", "resource", "prompt", "completion")


def request(place: str, kind: str) -> Call:
    """Return the call that runs a function."""
    if place == "resource":
        return Call("resources/read", {"uri": f"thread://{kind}"})
    if place == "completion":
        params = {"ref": {"type": "ref/prompt", "name": "x_later"}, "argument": {"name": "kind", "value": kind}}
        return Call("completion/complete", params)
    if place == "prompt":
        return Call("prompts/get", {"name": "x_later", "arguments": {"kind": kind}})
    return Call("tools/call", {"name": place, "arguments": {"kind": kind}})


@pytest.mark.parametrize("place", PLACES)
async def test_an_exception_fails_its_call_alone(place: str, caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(outburst_kit()) as host:
        for kind in OUTBURSTS:
            caplog.clear()
            async with asyncio.timeout(WAIT):
                outcome = await host.dispatch(request(place, kind))
            assert not isinstance(await host.dispatch(request(place, "none")), Failure)
            assert isinstance(outcome, Failure)
            assert (type(outcome.error), outcome.error.message) == (FatalToolError, MASKED), kind
            assert outcome.error_id
            assert outcome.error_id in caplog.text
            assert kind in caplog.text


def raising_middleware(make: Callable[[str], BaseException], *, late: bool = False) -> dict[str, Any]:
    """Return plugins with middleware that raises in calls of `x_now`, before or after the call."""

    async def fail(call: Call, call_next: CallNext) -> Outcome:
        if call.params["name"] != "x_now":
            return await call_next(call)
        await asyncio.sleep(0)
        if late:
            await call_next(call._replace(params={"name": "x_now", "arguments": {"kind": "none"}}))
        raise make(call.params["arguments"]["kind"])

    return {"m": plugin_of(middleware=[fail])}


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
async def test_an_exception_of_middleware_fails_its_call_alone(late: bool, caplog: pytest.LogCaptureFixture) -> None:
    async with make_host(outburst_kit(), plugins=raising_middleware(lambda kind: OUTBURSTS[kind](), late=late)) as host:
        for kind in OUTBURSTS.keys() - {"ServerError"}:
            async with asyncio.timeout(WAIT):
                outcome = await failure(host, "x_now", {"kind": kind})
            assert await value(host, "x_inline", {"kind": "none"}) == "fine"
            assert outcome.error.message == "Internal error", kind
            assert str(outcome.error_id) in caplog.text


class Broken(Exception):
    """An exception of some library."""


class Adapter(ErrorAdapter):
    """Maps it."""

    slug = "broken"

    def from_exception(self, error: Exception) -> ToolRuntimeError | None:
        return UpstreamError("the service is broken", status_code=503) if isinstance(error, Broken) else None


async def raised(make: Callable[[], BaseException], mode: str = "async") -> Failure:
    """Return the failure of a tool that raises."""

    def sync() -> str:
        raise make()

    async def on_the_loop() -> str:
        raise make()

    function = on_the_loop if mode == "async" else sync
    async with make_host(kit_of(function, name="go", inline=mode == "inline", adapters=[Adapter()])) as host:
        return await failure(host, "go")


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
    [Speechless(), SpeechlessRefusal("no"), RetryableToolError("no", retry_after_ms=WRONG)],
    ids=["speechless", "speechless on purpose", "a time that is no number"],
)
async def test_an_unsound_error_is_masked(error: Exception) -> None:
    of_tool = await raised(lambda: error)
    async with make_host(outburst_kit(), plugins=raising_middleware(lambda _: error)) as host:
        of_middleware = await failure(host, "x_now", {"kind": "none"})
    assert (of_tool.error.message, of_middleware.error.message) == (MASKED, "Internal error")
    assert of_tool.error_id


SLOW, SLOWER = UpstreamRateLimitError("slow down", 100), UpstreamRateLimitError("slow down more", 900)
REFUSED = UpstreamError("refused", status_code=403)


GROUPS: dict[str, tuple[BaseException, str]] = {
    "one, deep": (ExceptionGroup("g", [ExceptionGroup("h", [ExceptionGroup("i", [SLOW])])]), "slow down"),
    "the longest wait": (ExceptionGroup("g", [SLOW, SLOWER, SLOW]), "slow down more"),
    "no retry helps": (ExceptionGroup("g", [SLOWER, ExceptionGroup("h", [REFUSED]), SLOW]), "refused"),
    "an adapter knows it": (ExceptionGroup("g", [Broken(CANARY)]), "the service is broken"),
    "something missing": (ExceptionGroup("g", [NotFoundError("no issue 7")]), "no issue 7"),
    "an accident among them": (ExceptionGroup("g", [SLOW, ValueError(CANARY)]), MASKED),
    "an accident that no group of exceptions holds": (BaseExceptionGroup("g", [SLOW, SystemExit(3)]), MASKED),
    "very many": (ExceptionGroup(CANARY, [ExceptionGroup("h", [REFUSED] * 900)] * 3), "refused"),
}


@pytest.mark.parametrize("kind", GROUPS)
async def test_a_group_of_typed_errors_is_the_gravest_of_them(kind: str) -> None:
    group, message = GROUPS[kind]
    outcome = await raised(lambda: group)
    assert outcome.error.message == message
    assert CANARY not in repr(outcome.error.args)


@pytest.mark.parametrize(
    ("extra", "sent"),
    [
        ({"issue": 7, "labels": ["a", None, {"b": 1.5}]}, {"issue": 7, "labels": ["a", None, {"b": 1.5}]}),
        ({1: "\ud83d", "kind": ErrorKind.UNKNOWN, "nan": float("nan")}, {"1": "�", "kind": "UNKNOWN", "nan": None}),
        ({"text": "x" * 10_000}, {}),
    ],
    ids=["JSON", "made into JSON", "too large"],
)
async def test_extra_is_json_of_a_bounded_size(
    extra: dict[Any, Any], sent: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    outcome = await raised(lambda: ToolExecutionError("no", extra=extra))
    assert isinstance(outcome.error, ToolExecutionError)
    assert outcome.error.extra == sent
    assert ("extra of a ToolExecutionError was removed" in caplog.text) == (not sent)
