"""Rounds of questions: the ways in which a function may ask, and the errors of functions that ask wrongly.

`tests/protocol/test_rounds.py` has the rules of the wire.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from pegboard import Context, ToolExecutionError, ToolResult, current_context
from pegboard.context import rounds as host_rounds
from pegboard.errors import InteractionError
from pegboard.plugin import ProtocolError
from pegboard.types import Call, Elicit, Failure, Outcome, Question, Round
from tests.host.hosting import WAIT, kit_of, make_host
from tests.support.rounds import ABLE, Rounds, accept

pytestmark = pytest.mark.timeout(60)

Function = Callable[..., Awaitable[Any]]


async def say(context: Context, text: str, name: str | None = None) -> str:
    """Return the answer to a text; the client of these tests answers with the text in capitals."""
    answer = await context.ui.elicit(text, str, name=name)
    return str(answer.content)


def echo(key: str, question: Question) -> dict[str, Any]:
    """Answer a form of one string with its message."""
    return accept(value=question.params["message"].upper())


async def play(function: Function, *more: Callable[..., Any]) -> tuple[Outcome, list[list[str]]]:
    """Return the outcome of a tool whose questions are all answered, and the sorted messages of each round."""
    async with make_host(kit_of(function, *more)) as host:
        rounds = Rounds(host, function.__name__)
        outcome = await asyncio.wait_for(rounds.finish(echo), WAIT)
        return outcome, [
            sorted(question.params["message"] for question in questions.values()) for questions in rounds.asked
        ]


async def answered(function: Function, *answers: dict[str, Any]) -> list[Outcome]:
    """Return the outcome of each round: the first without answers, then one for each of these."""
    async with make_host(kit_of(function)) as host:
        rounds = Rounds(host, function.__name__)
        return [await rounds.step(responses) for responses in ({}, *answers)]


def interaction_error(outcome: Outcome) -> str:
    """Return both texts of an outcome's error, which must be an InteractionError."""
    assert isinstance(outcome, Failure), outcome
    assert isinstance(outcome.error, InteractionError), outcome
    return f"{outcome.error.message} {outcome.error.developer_message}"


async def in_sequence(context: Context) -> str:
    return await say(context, "a") + await say(context, "b")


async def under_timeouts(context: Context) -> str:
    async with asyncio.timeout(WAIT):
        return await asyncio.wait_for(say(context, "a"), WAIT) + await say(context, "b")


async def behind_except_exception(context: Context) -> str:
    try:
        first = await say(context, "a")
    except Exception:  # noqa: BLE001
        first = "a default that must never go out"
    return first + await say(context, "b")


async def with_names(context: Context) -> str:
    return await say(context, "a", "first") + await say(context, "b", "second")


async def in_a_gather(context: Context) -> str:
    return "".join(await asyncio.gather(say(context, "a"), say(context, "b")))


async def waiting_for_its_task_at_the_end(context: Context) -> str:
    task = asyncio.create_task(say(context, "a"))
    try:
        own = await say(context, "b")
    finally:
        await asyncio.wait([task])
    return task.result() + own


SEQUENTIAL = [in_sequence, under_timeouts, behind_except_exception, with_names]
AT_ONCE = [in_a_gather, waiting_for_its_task_at_the_end]


@pytest.mark.requirement("ROUND-03")
@pytest.mark.parametrize("function", [*SEQUENTIAL, *AT_ONCE], ids=lambda function: function.__name__)
async def test_questions_one_by_one_take_a_round_each_and_simultaneous_ones_share_a_round(function: Function) -> None:
    rounds = [["a", "b"]] if function in AT_ONCE else [["a"], ["b"]]
    assert await play(function) == (ToolResult("AB"), rounds)


async def test_a_named_question_keeps_its_first_answer_which_may_come_early() -> None:
    early = {"first": accept(value="x"), "second": accept(value="y")}
    async with make_host(kit_of(with_names)) as host:
        assert await Rounds(host, "with_names").step(early) == ToolResult("xy")
    changed = {"first": accept(value="another"), "second": accept(value="y")}
    assert (await answered(with_names, {"first": accept(value="x")}, changed))[-1] == ToolResult("xy")


@pytest.mark.parametrize("named", [True, False])
async def test_only_a_named_question_may_change_on_the_replay(named: bool) -> None:
    turn = iter(("at 12:00", "at 12:01"))

    async def fickle(context: Context) -> str:
        try:
            return await say(context, next(turn), "when" if named else None)
        except Exception:  # noqa: BLE001
            return "a default that must never go out"

    outcome, _ = await play(fickle)
    if named:
        assert outcome == ToolResult("AT 12:00")
    else:
        assert "a different question than before" in interaction_error(outcome)


async def test_an_invalid_answer_is_refused_if_the_function_translates_the_error_and_another_question_is_open() -> None:
    async def both(context: Context) -> str:
        try:
            got = await context.ask(a=Elicit("a", int), b=Elicit("b", str))
        except ProtocolError as error:
            raise ToolExecutionError("in other words") from error
        return f"{got['a'].content}{got['b'].content}"

    good = {"a": accept(value=1), "b": accept(value="x")}
    _, refused, result = await answered(both, {"a": accept(value="no number")}, good)
    assert isinstance(refused, Failure)
    assert isinstance(refused.error, ProtocolError)
    assert refused.error.code == -32602
    assert "inputResponses: a: value must be a number" in refused.error.message
    assert result == ToolResult("1x")


async def returned_without(context: Context) -> str:
    with suppress(asyncio.CancelledError):
        await say(context, "a")
    return "a default that must never go out"


async def raised_beside(context: Context) -> str:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("beside a question")

    async with asyncio.TaskGroup() as group:
        group.create_task(say(context, "a"))
        group.create_task(fail())
    return "no"


async def left_in_a_task(context: Context) -> str:
    task = asyncio.create_task(say(context, "a"))
    await asyncio.sleep(0)
    del task
    return "a default that must never go out"


async def swallowed_by_a_nested_call(context: Context) -> str:
    return "got " + str(await context.tools.call("returned_without", {}))


@pytest.mark.parametrize("function", [raised_beside, left_in_a_task, swallowed_by_a_nested_call])
async def test_a_function_that_continues_without_the_answer_fails(function: Function) -> None:
    async with make_host(kit_of(*{function, returned_without})) as host:
        assert "continued without" in interaction_error(await Rounds(host, function.__name__).step())
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)


async def same_name_twice(context: Context) -> str:
    return await say(context, "a", "x") + await say(context, "b", "x")


async def same_step_twice(context: Context) -> str:
    return str([await context.once("x", lambda: 1), await context.once("x", lambda: 2)])


async def large_steps_in_two_rounds(context: Context) -> str:
    first = str(await context.once("first", lambda: "x" * 40_000))
    await say(context, "a")
    return first + str(await context.once("second", lambda: "x" * 40_000))


async def step_without_json(context: Context) -> str:
    return str(await context.once("thing", object))


async def calls_itself(context: Context) -> str:
    return str(await context.tools.call("calls_itself", {}))


def sync_tool(context: Context) -> str:
    _ = context.ui.elicit("a", str)
    return "no"


async def without_context() -> str:
    context = current_context()
    assert context is not None
    return await say(context, "a")


@pytest.mark.requirement("ASK-01", "ERA-19")
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (same_name_twice, "the name 'x'"),
        (same_step_twice, "the key 'x'"),
        (large_steps_in_two_rounds, "65536 bytes"),
        (step_without_json, "the step 'thing'"),
        (sync_tool, "async function with a Context"),
        (without_context, "async function with a Context"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
async def test_a_wrong_way_to_ask_is_an_error_with_its_reason(function: Function, words: str) -> None:
    assert words in interaction_error((await play(function))[0])


@pytest.mark.requirement("ASK-21")
async def test_nested_calls_have_an_end_and_steps_have_keys_in_sessions_too() -> None:
    async with make_host(kit_of(calls_itself, same_step_twice, in_sequence)) as host:
        outcome = await Rounds(host, "calls_itself").step()
        assert isinstance(outcome, Failure)
        assert "too many" in outcome.error.message
        interaction_error(await host.dispatch(Call("tools/call", {"name": "same_step_twice"})))
        interaction_error(await host.dispatch(Call("tools/call", {"name": "in_sequence"}, client=ABLE)))


@pytest.mark.requirement("ASK-04")
@pytest.mark.parametrize("url", ["", "/relative", "https://a b", 5])
async def test_an_invalid_url_is_not_asked(url: Any) -> None:
    async def open_page(context: Context) -> str:
        return (await context.ui.elicit_url("Look.", url)).action

    assert "URL" in interaction_error((await answered(open_page))[0])


async def test_a_function_that_asks_again_and_again_stops_no_other_task() -> None:
    turns = 0

    async def stubborn(context: Context) -> str:
        for _ in range(100):
            with suppress(BaseException):
                return await say(context, "a")
        return "never"

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    assert isinstance((await answered(stubborn))[0], Failure)
    other.cancel()
    assert turns > 90


async def test_a_task_that_asks_after_its_call_has_ended_is_cancelled() -> None:
    tasks: list[asyncio.Task[str]] = []
    released = asyncio.Event()

    async def leaves(context: Context) -> str:
        async def later() -> str:
            await released.wait()
            return await say(context, "a")

        tasks.append(asyncio.create_task(later()))
        return "left"

    assert (await answered(leaves))[0] == ToolResult("left")
    released.set()
    await asyncio.wait(tasks)
    assert tasks[0].cancelled()


async def test_a_step_runs_once_in_any_number_of_rounds() -> None:
    ran: list[str] = []
    seen: list[Any] = []

    def charge(amount: int, *, currency: str) -> dict[str, Any]:
        ran.append(f"{amount} {currency}")
        return {"id": len(ran), "tags": ("a", b"bytes", float("nan"))}

    async def book() -> str:
        ran.append("book")
        return "booked"

    async def buy(context: Context) -> str:
        async def nested_step() -> int:
            return int(await context.once("inner", lambda: 2)) + 1

        seen.append(await context.once("charge", charge, 5, currency="EUR"))
        first = await say(context, "a")
        booked = await context.once("book", book)
        return f"{first} {booked} {await context.once('outer', nested_step)} {await say(context, 'b')}"

    assert (await play(buy))[0] == ToolResult("A booked 3 B")
    assert ran == ["5 EUR", "book"]
    assert seen == [{"id": 1, "tags": ["a", "Ynl0ZXM=", None]}] * 3  # as JSON holds it, in every round


async def test_no_round_ends_while_a_step_runs() -> None:
    ended: list[str] = []

    async def slow() -> int:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append("step")
        return 1

    async def tool(context: Context) -> str:
        return " ".join(map(str, await asyncio.gather(say(context, "a"), context.once("slow", slow))))

    assert (await play(tool))[0] == ToolResult("A 1")
    assert ended == ["step"]


async def test_a_pause_ends_the_round_after_a_step_that_runs() -> None:
    async def slow() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    rounds = host_rounds.Rounds(Round())
    step, pause = rounds.once("slow", slow, ()), rounds.pause()
    ended = await asyncio.wait_for(asyncio.gather(step, pause, return_exceptions=True), WAIT)
    assert isinstance(ended[1], asyncio.CancelledError)


async def inner(text: str, context: Context) -> str:
    return await asyncio.wait_for(say(context, text), WAIT)


async def step_that_asks(context: Context) -> str:
    async def step() -> str:
        return await asyncio.create_task(say(context, "a"))

    return str(await context.once("x", step))


async def step_that_calls_a_tool_that_asks(context: Context) -> str:
    return str(await context.once("x", context.tools.call, "inner", {"text": "a"}))


async def test_a_step_cannot_ask_in_rounds_or_sessions() -> None:
    async def ask(method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
        return accept(value="x")

    for function in (step_that_asks, step_that_calls_a_tool_that_asks):
        async with make_host(kit_of(function, inner)) as host:
            rounds = await asyncio.wait_for(Rounds(host, function.__name__).step(), WAIT)
            session = await host.dispatch(Call("tools/call", {"name": function.__name__}, client=ABLE, ask=ask))
        for outcome in (rounds, session):
            assert "passed to once() cannot ask" in interaction_error(outcome)


async def test_nested_calls_may_ask_and_no_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def nesting(context: Context) -> str:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(context.tools.call("inner", {"text": text})) for text in "ab"]
        return "".join(task.result() for task in tasks)

    assert await play(nesting, inner) == (ToolResult("AB"), [["a", "b"]])
    gc.collect()
    # collecting may block the loop, which is a warning
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.requirement("UTIL-04")
@pytest.mark.parametrize("before", [True, False], ids=["before the question", "with the end of the round"])
async def test_a_cancellation_by_the_client_wins_over_a_question(before: bool) -> None:
    tasks: list[asyncio.Task[Outcome]] = []

    async def tool(context: Context) -> str:
        asyncio.get_running_loop().call_soon(tasks[0].cancel)
        if before:
            await asyncio.Event().wait()
        return await say(context, "a")

    async with make_host(kit_of(tool)) as host:
        tasks.append(asyncio.create_task(Rounds(host, "tool").step()))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]


@pytest.mark.requirement("ROUND-13")
async def test_a_round_cleans_up_and_leaves_nothing_running() -> None:
    left: list[str] = []

    async def tool(context: Context) -> str:
        try:
            return await say(context, "a")
        finally:
            left.append("left")

    before = asyncio.all_tasks()
    await play(tool)
    assert left == ["left", "left"]
    for function in (*SEQUENTIAL, *AT_ONCE, left_in_a_task):
        await answered(function)
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
