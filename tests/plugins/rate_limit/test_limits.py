"""What a caller does too often is refused, and told when to try again; nobody else notices."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Context, ErrorKind, Host, Toolkit, ToolResult
from pegboard.plugin import ProtocolError
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, Failure, Supplied
from pegboard_plugins.rate_limit import Buckets, Rate, RateLimit, RateLimitConfig, TooManyCallsError
from tests.host.hosting import call, failure, make_host, plugin_of, value

ANN, BEN = Caller("ann"), Caller("ben")
COMPLETE = {"ref": {"type": "ref/prompt", "name": "x_ask"}, "argument": {"name": "name", "value": ""}}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_kit() -> Toolkit:
    kit = Toolkit("x")

    @kit.tool
    async def a() -> str:
        """Work."""
        return "done"

    @kit.tool
    async def b() -> str:
        """Work."""
        return "done"

    @kit.tool
    async def outer(context: Context) -> str:
        """Let another work."""
        return str(await context.tools.call("x_a"))

    @kit.prompt
    def ask(name: str) -> str:
        """Ask."""
        return name

    return kit


def limited(clock: Clock, **config: Any) -> Host:
    """A host whose clock stands still."""
    limit = RateLimit(RateLimitConfig(**config), clock)
    return make_host(make_kit(), plugins={"limit": plugin_of(middleware=[limit])})


async def answers(host: Host, name: str, caller: Caller, times: int) -> list[bool]:
    """Of that many calls which were answered."""
    return [isinstance(await call(host, name, caller=caller), ToolResult) for _ in range(times)]


@pytest.mark.requirement("TOOL-10")
async def test_calls_beyond_a_burst_are_refused_until_time_has_passed() -> None:
    clock = Clock()
    async with limited(clock, calls_per_minute=60, burst=3) as host:
        assert await answers(host, "x_a", ANN, 5) == [True, True, True, False, False]
        clock.now += 0.999
        assert await answers(host, "x_a", ANN, 1) == [False]
        clock.now += 0.002
        assert await answers(host, "x_a", ANN, 2) == [True, False]
        clock.now += 3600
        assert await answers(host, "x_a", ANN, 4) == [True, True, True, False]


async def test_the_answer_says_when_to_try_again() -> None:
    clock = Clock()
    async with limited(clock, calls_per_minute=24, burst=1) as host:
        await value(host, "x_a", caller=ANN)
        clock.now += 0.25
        error = (await failure(host, "x_a", caller=ANN)).error
    assert isinstance(error, TooManyCallsError)
    assert error.message == "Too many calls of this tool. Try again in 3 seconds."
    assert (error.kind, error.can_retry, error.status_code) == (ErrorKind.TOOL_RUNTIME_RETRY, True, 429)
    assert error.retry_after_ms == 2250


async def test_a_refused_call_costs_nothing_more() -> None:
    clock = Clock()
    async with limited(clock, calls_per_minute=60, burst=1) as host:
        assert await answers(host, "x_a", ANN, 50) == [True] + [False] * 49
        clock.now += 1
        assert await answers(host, "x_a", ANN, 1) == [True]


async def test_each_caller_and_each_tool_has_a_limit_of_its_own() -> None:
    async with limited(Clock(), calls_per_minute=60, burst=1) as host:
        assert await answers(host, "x_a", ANN, 2) == [True, False]
        assert await answers(host, "x_b", ANN, 2) == [True, False]
        assert await answers(host, "x_a", BEN, 2) == [True, False]
        assert await answers(host, "x_a", ANONYMOUS, 2) == [True, False]


CALLERS: dict[str, tuple[Caller, Supplied | None]] = {
    "nobody known": (ANONYMOUS, None),
    "a subject": (ANN, None),
    "the subject of an issuer": (Caller("ann", issuer="https://a.example"), None),
    "the same of another": (Caller("ann", issuer="https://b.example"), None),
    "a program": (Caller(client_id="ann"), None),
    "another program": (Caller(client_id="worker"), None),
    "that program without a person": (Caller(client_id="worker"), Supplied()),
    "that program for a person": (Caller(client_id="worker"), Supplied(user_id="ann")),
    "and for another": (Caller(client_id="worker"), Supplied(user_id="ben")),
}
ALIKE = {"that program without a person": "another program"}


async def test_who_calls_is_a_person_of_an_issuer_a_program_or_whom_it_calls_for() -> None:
    async with limited(Clock(), calls_per_minute=60, burst=1) as host:
        for name, (caller, supplied) in CALLERS.items():
            first = await call(host, "x_a", caller=caller, supplied=supplied)
            assert isinstance(first, ToolResult) is (name not in ALIKE), name
            assert isinstance(await call(host, "x_a", caller=caller, supplied=supplied), Failure), name


async def test_the_program_that_a_person_uses_makes_no_other_person_of_them() -> None:
    async with limited(Clock(), calls_per_minute=60, burst=1) as host:
        assert await answers(host, "x_a", Caller("ann", client_id="one"), 1) == [True]
        assert await answers(host, "x_a", Caller("ann", client_id="two"), 1) == [False]


async def test_tools_may_have_other_limits_and_the_first_that_fits_holds() -> None:
    tools = {"x_b": {"calls_per_minute": 60, "burst": 3}, "x_*": {"calls_per_minute": 1}}
    async with limited(Clock(), tools=tools) as host:
        assert await answers(host, "x_b", ANN, 4) == [True, True, True, False]
        assert await answers(host, "x_a", ANN, 2) == [True, False]


async def test_calls_that_tools_make_count_too() -> None:
    async with limited(Clock(), tools={"x_a": {"calls_per_minute": 1}}) as host:
        assert await answers(host, "x_outer", ANN, 2) == [True, False]


@pytest.mark.requirement("COMP-07")
async def test_completions_have_a_limit_of_their_own() -> None:
    clock = Clock()
    async with limited(clock, completions_per_minute=60, completion_burst=2) as host:
        outcomes = [await host.dispatch(Call("completion/complete", COMPLETE, ANN)) for _ in range(3)]
        assert [isinstance(one, Failure) for one in outcomes] == [False, False, True]
        assert isinstance(await host.dispatch(Call("completion/complete", COMPLETE, BEN)), type(outcomes[0]))
        assert await answers(host, "x_a", ANN, 1) == [True]
        clock.now += 1
        again = await host.dispatch(Call("completion/complete", COMPLETE, ANN))
    refused = outcomes[2]
    assert isinstance(refused, Failure)
    assert isinstance(refused.error, ProtocolError)
    assert (refused.error.code, refused.error.data) == (-32603, {"retryAfterMs": 1000})
    assert not isinstance(again, Failure)


@pytest.mark.parametrize("local", [False, True])
async def test_this_machines_own_user_is_limited_where_the_operator_says_so(local: bool) -> None:
    async with limited(Clock(), calls_per_minute=60, burst=1, local=local) as host:
        assert await answers(host, "x_a", LOCAL, 2) == [True, not local]


@pytest.mark.requirement("TOOL-10", "COMP-07")
async def test_it_is_on_unless_the_operator_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("pegboard_plugins.rate_limit.RateLimit.__init__.__defaults__", (clock,))
    config = {"host": {"autoload": False}}
    most = RateLimitConfig().burst
    async with Host(config, toolkits={"x": make_kit()}) as host:
        assert await answers(host, "x_a", ANONYMOUS, most + 1) == [True] * most + [False]
        assert await answers(host, "x_a", LOCAL, most + 1) == [True] * (most + 1)
        done = [await host.dispatch(Call("completion/complete", COMPLETE, ANONYMOUS)) for _ in range(most + 1)]
        assert [isinstance(one, Failure) for one in done] == [False] * most + [True]
    config["host"]["disabled_plugins"] = ["rate_limit"]  # type: ignore[assignment]  # of any type
    async with Host(config, toolkits={"x": make_kit()}) as host:
        assert await answers(host, "x_a", ANONYMOUS, most + 1) == [True] * (most + 1)


@pytest.mark.parametrize(
    "config", [{"calls_per_minute": 0}, {"burst": 0}, {"tools": {"x": {"burst": 1}}}, {"tools": {"x": 5}}], ids=str
)
def test_a_limit_that_is_none_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RateLimitConfig(**config)


# --- memory


async def test_names_that_name_nothing_take_no_room() -> None:
    limit = RateLimit(RateLimitConfig(), Clock())
    async with make_host(make_kit(), plugins={"limit": plugin_of(middleware=[limit])}) as host:
        for number in range(20):
            await call(host, "y" * (65 + number), caller=ANN)
            await host.dispatch(Call("tools/call", {"name": number}, ANN))
    assert len(limit._buckets) == 1


async def test_names_of_people_take_little_room() -> None:
    limit = RateLimit(RateLimitConfig(), Clock())
    async with make_host(make_kit(), plugins={"limit": plugin_of(middleware=[limit])}) as host:
        for letter in "ab":
            await call(host, "x_a", caller=ANONYMOUS, supplied=Supplied(user_id=letter * 100_000))
    assert len(limit._buckets) == 2
    assert len(repr(limit._buckets._full)) < 1000


def test_as_many_buckets_are_kept_as_there_is_room_for() -> None:
    buckets = Buckets(Clock(), most=100)
    for number in range(1000):
        buckets.take(number, Rate(60, 2))
    assert len(buckets) == 100


def test_those_that_are_full_go_first() -> None:
    clock = Clock()
    buckets = Buckets(clock, most=100)
    slow, quick = Rate(3600, 1), Rate(0.001, 10)
    assert [buckets.take("slow", slow) for _ in range(2)] == [0, 3600]
    for number in range(1000):
        clock.now += 0.01
        buckets.take(number, quick)
    assert buckets.take("slow", slow) == pytest.approx(3590)


def test_where_none_is_full_the_oldest_goes() -> None:
    buckets = Buckets(Clock(), most=3)
    for key in "abcd":
        buckets.take(key, Rate(60, 1))
    assert len(buckets) == 3
    assert buckets.take("d", Rate(60, 1)) == 60
