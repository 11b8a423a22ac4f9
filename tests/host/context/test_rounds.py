"""Rounds of questions: every shape in which a function can ask, replayed; and what goes wrong with each."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from pegboard import Context, ToolExecutionError, Toolkit, ToolResult
from pegboard.plugin import ClientCapabilityError, InteractionError, ProtocolError
from pegboard.types import Call, Elicit, Failure, InputRequired, ListRoots, Outcome, Sample
from tests.host.hosting import WAIT, make_host, plugin_of
from tests.support.rounds import ABLE, LATER, Rounds, accept, echo

pytestmark = pytest.mark.timeout(60)

Function = Callable[[Context], Awaitable[Any]]


def kit_of(*functions: Callable[..., Any]) -> Toolkit:
    kit = Toolkit("t", prefix=False)
    for function in functions:
        kit.tool(description="x")(function)
    return kit


async def say(context: Context, text: str, name: str | None = None) -> str:
    """What the person answers to a text; the client of these tests answers with the text in capitals."""
    answer = await context.ui.elicit(text, str, name=name)
    return str(answer.content)


async def played(function: Function, *more: Callable[..., Any]) -> tuple[Outcome, list[list[str]]]:
    """The outcome of a tool whose questions are all answered, and the messages of each round."""
    async with make_host(kit_of(function, *more)) as host:
        rounds = Rounds(host, function.__name__)
        outcome = await asyncio.wait_for(rounds.finish(echo), WAIT)
        return outcome, [[one.params["message"] for one in asked.values()] for asked in rounds.asked]


# --- the shapes in which a function can ask


async def in_sequence(context: Context) -> str:
    return await say(context, "a") + await say(context, "b")


async def in_a_gather(context: Context) -> str:
    return "".join(await asyncio.gather(say(context, "a"), say(context, "b")))


async def in_a_task_group(context: Context) -> str:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(say(context, text)) for text in "ab"]
    return "".join(task.result() for task in tasks)


async def in_a_task(context: Context) -> str:
    first = asyncio.create_task(say(context, "a"))
    return await first + await say(context, "b")


async def under_a_timeout(context: Context) -> str:
    async with asyncio.timeout(WAIT):
        return await say(context, "a") + await say(context, "b")


async def under_wait_for(context: Context) -> str:
    return await asyncio.wait_for(say(context, "a"), WAIT) + await asyncio.wait_for(say(context, "b"), WAIT)


async def under_a_shield(context: Context) -> str:
    return await asyncio.shield(say(context, "a")) + await say(context, "b")


async def behind_except_exception(context: Context) -> str:
    try:
        first = await say(context, "a")
    except Exception:  # noqa: BLE001
        first = "the default that must never go out"
    return first + await say(context, "b")


async def behind_finally(context: Context) -> str:
    try:
        return await say(context, "a") + await say(context, "b")
    finally:
        await asyncio.sleep(0)


async def behind_suppress(context: Context) -> str:
    found = []
    for text in "ab":
        with suppress(Exception):
            found.append(await say(context, text))
    return "".join(found)


async def in_an_async_generator(context: Context) -> str:
    async def answers() -> Any:
        for text in "ab":
            yield await say(context, text)

    return "".join([answer async for answer in answers()])


async def with_names(context: Context) -> str:
    return await say(context, "a", "first") + await say(context, "b", "second")


async def in_nested_task_groups(context: Context) -> str:
    async def branch(text: str) -> str:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(say(context, text))
        return task.result()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(branch(text)) for text in "ab"]
    return "".join(task.result() for task in tasks)


async def waiting_for_its_task_at_the_end(context: Context) -> str:
    task = asyncio.create_task(say(context, "a"))
    try:
        own = await say(context, "b")
    finally:
        await asyncio.wait([task])
    return task.result() + own


async def in_wait(context: Context) -> str:
    tasks = [asyncio.create_task(say(context, text)) for text in "ab"]
    done, _ = await asyncio.wait(tasks)
    return "".join(task.result() for task in tasks if task in done)


async def in_a_loop_that_asks_again(context: Context) -> str:
    while True:
        try:
            return await say(context, "a") + await say(context, "b")
        except Exception:  # noqa: BLE001
            continue


SEQUENTIAL = [
    in_sequence,
    in_a_task,
    under_a_timeout,
    under_wait_for,
    under_a_shield,
    behind_except_exception,
    behind_finally,
    behind_suppress,
    in_an_async_generator,
    with_names,
    in_a_loop_that_asks_again,
]
AT_ONCE = [in_a_gather, in_a_task_group, in_nested_task_groups, in_wait, waiting_for_its_task_at_the_end]


@pytest.mark.parametrize("function", SEQUENTIAL, ids=lambda function: function.__name__)
async def test_questions_one_after_another_take_a_round_each(function: Function) -> None:
    outcome, asked = await played(function)
    assert outcome == ToolResult("AB")
    assert asked == [["a"], ["b"]]


@pytest.mark.requirement("ROUND-03")
@pytest.mark.parametrize("function", AT_ONCE, ids=lambda function: function.__name__)
async def test_questions_side_by_side_go_out_together(function: Function) -> None:
    outcome, asked = await played(function)
    assert outcome == ToolResult("AB")
    assert [sorted(together) for together in asked] == [["a", "b"]]


async def test_a_question_alone_ends_the_call_and_its_answer_ends_it_well() -> None:
    async def one(context: Context) -> str:
        return await say(context, "a")

    assert await played(one) == (ToolResult("A"), [["a"]])


async def test_two_sequences_side_by_side_keep_their_order_on_every_replay() -> None:
    async def zip_of(context: Context) -> str:
        async def sequence(name: str) -> str:
            return await say(context, f"{name}1") + await say(context, f"{name}2")

        return "".join(await asyncio.gather(sequence("a"), sequence("b")))

    outcome, asked = await played(zip_of)
    assert outcome == ToolResult("A1A2B1B2")
    assert asked == [["a1", "b1"], ["a2", "b2"]]


@pytest.mark.requirement("ROUND-03")
async def test_questions_of_three_kinds_by_the_names_of_their_answers() -> None:
    async def all_of(context: Context) -> str:
        got = await context.ask(who=Elicit("Who?", str), capital=Sample("Capital?"), roots=ListRoots())
        return f"{got['who'].content} {got['capital'].text} {got['roots'][0].uri}"

    async with make_host(kit_of(all_of)) as host:
        rounds = Rounds(host, "all_of")
        outcome = await rounds.step()
        assert isinstance(outcome, InputRequired)
        assert {key: question.method for key, question in outcome.questions.items()} == {
            "who": "elicitation/create",
            "capital": "sampling/createMessage",
            "roots": "roots/list",
        }
        sampled = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}
        given = {"who": accept(value="Ann"), "capital": sampled, "roots": {"roots": [{"uri": "file:///x"}]}}
        assert await rounds.step(given) == ToolResult("Ann Paris file:///x")


# --- what comes back


@pytest.mark.requirement("ROUND-17")
async def test_what_was_not_answered_is_asked_again_and_the_rest_is_kept() -> None:
    async with make_host(kit_of(in_a_gather)) as host:
        rounds = Rounds(host, "in_a_gather")
        outcome = await rounds.finish(
            lambda key, question: LATER if key == "question-1" and len(rounds.asked) == 1 else echo(key, question)
        )
        assert outcome == ToolResult("AB")
        assert [sorted(asked) for asked in rounds.asked] == [["question-1", "question-2"], ["question-1"]]


async def test_a_named_question_may_be_answered_before_it_is_asked() -> None:
    async with make_host(kit_of(with_names)) as host:
        rounds = Rounds(host, "with_names")
        assert await rounds.step({"first": accept(value="x"), "second": accept(value="y")}) == ToolResult("xy")


async def test_what_was_answered_once_stays_answered() -> None:
    async with make_host(kit_of(with_names)) as host:
        rounds = Rounds(host, "with_names")
        await rounds.step()
        await rounds.step({"first": accept(value="x")})
        changed = {"first": accept(value="another"), "second": accept(value="y")}
        assert await rounds.step(changed) == ToolResult("xy")


@pytest.mark.requirement("ROUND-16")
async def test_an_answer_to_nothing_that_was_asked_is_left_aside() -> None:
    async with make_host(kit_of(in_sequence)) as host:
        rounds = Rounds(host, "in_sequence")
        assert isinstance(await rounds.step({"question-1": accept(value="before it was asked")}), InputRequired)
        assert isinstance(await rounds.step({"question-1": accept(value="x"), "else": {"a": 1}}), InputRequired)
        assert await rounds.step({"question-2": accept(value="y")}) == ToolResult("xy")


@pytest.mark.requirement("ROUND-15")
@pytest.mark.parametrize(
    "answer",
    [{}, {"action": "maybe"}, {"action": "accept"}, accept(), accept(value=7), accept(value=["x"]), {"action": None}],
)
async def test_an_answer_that_is_none_is_refused_and_never_a_result(answer: Any) -> None:
    async def lenient(context: Context) -> str:
        try:
            return await say(context, "a")
        except Exception:  # noqa: BLE001
            return "a default that must never go out"

    async with make_host(kit_of(lenient)) as host:
        rounds = Rounds(host, "lenient")
        await rounds.step()
        outcome = await rounds.step({"question-1": answer})
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, ProtocolError)
        assert outcome.error.code == -32602
        assert "question-1" in outcome.error.message
        assert await rounds.step({"question-1": accept(value="a better one")}) == ToolResult("a better one")


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_say_no(action: str) -> None:
    async def ask(context: Context) -> str:
        answer = await context.ui.elicit("Sure?")
        return f"{answer.accepted} {answer.action} {answer.content}"

    async with make_host(kit_of(ask)) as host:
        assert await Rounds(host, "ask").finish(lambda *_: {"action": action}) == ToolResult(f"False {action} None")


# --- functions that do it wrong


async def returned_without(context: Context) -> str:
    with suppress(asyncio.CancelledError):
        await say(context, "a")
    return "a default that must never go out"


async def raised_instead(context: Context) -> str:
    try:
        return await say(context, "a")
    except asyncio.CancelledError:
        raise ValueError("not what was asked") from None


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


@pytest.mark.parametrize(
    "function", [returned_without, raised_instead, raised_beside, left_in_a_task], ids=lambda one: one.__name__
)
async def test_who_asked_and_went_on_without_the_answer_is_an_error(function: Function) -> None:
    async with make_host(kit_of(function)) as host:
        outcome = await Rounds(host, function.__name__).step()
        assert isinstance(outcome, Failure), outcome
        assert isinstance(outcome.error, InteractionError)
        assert "went on without" in outcome.error.message


async def test_after_a_fault_the_task_of_the_call_is_not_left_cancelled() -> None:
    async with make_host(kit_of(returned_without)) as host:
        await Rounds(host, "returned_without").step()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)


async def test_another_order_on_the_replay_is_noticed() -> None:
    turn = iter(("a", "b", "c"))

    async def fickle(context: Context) -> str:
        return await say(context, next(turn))

    async with make_host(kit_of(fickle)) as host:
        outcome = await Rounds(host, "fickle").finish(echo)
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)
        assert "otherwise than it did before" in str(outcome.error.developer_message)


async def test_another_order_is_noticed_whatever_the_function_catches() -> None:
    turn = iter(("a", "b", "c"))

    async def fickle(context: Context) -> str:
        try:
            return await say(context, next(turn))
        except Exception:  # noqa: BLE001
            return "a default that must never go out"

    async with make_host(kit_of(fickle)) as host:
        assert isinstance(await Rounds(host, "fickle").finish(echo), Failure)


async def test_a_named_question_is_known_by_its_name_though_its_words_change() -> None:
    turn = iter(("at 12:00", "at 12:01"))

    async def dated(context: Context) -> str:
        return await say(context, next(turn), "when")

    async with make_host(kit_of(dated)) as host:
        assert await Rounds(host, "dated").finish(echo) == ToolResult("AT 12:00")


async def test_one_name_for_two_questions_is_an_error() -> None:
    async def same(context: Context) -> str:
        return await say(context, "a", "x") + await say(context, "b", "x")

    async with make_host(kit_of(same)) as host:
        outcome = await Rounds(host, "same").finish(echo)
        assert isinstance(outcome, Failure)
        assert "the name 'x'" in str(getattr(outcome.error, "developer_message", ""))


async def test_a_bad_answer_is_refused_though_another_question_is_open_and_a_good_one_is_taken_later() -> None:
    async def both(context: Context) -> str:
        got = await context.ask(a=Elicit("a", int), b=Elicit("b", str))
        return f"{got['a'].content}{got['b'].content}"

    async with make_host(kit_of(both)) as host:
        rounds = Rounds(host, "both")
        await rounds.step()
        outcome = await rounds.step({"a": accept(value="no number")})
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, ProtocolError)
        assert "inputResponses: a: value must be a number" in outcome.error.message
        assert await rounds.step({"a": accept(value=1), "b": accept(value="x")}) == ToolResult("1x")


async def test_what_is_wrong_with_an_answer_comes_before_what_the_function_makes_of_it() -> None:
    async def translating(context: Context) -> str:
        try:
            return await say(context, "a")
        except ProtocolError as error:
            raise ToolExecutionError("in other words") from error

    async with make_host(kit_of(translating)) as host:
        rounds = Rounds(host, "translating")
        await rounds.step()
        outcome = await rounds.step({"question-1": accept(value=5)})
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, ProtocolError)


@pytest.mark.parametrize("given", [10**400, -(10**400), 1e15])
async def test_an_answer_of_any_size_is_taken(given: Any) -> None:
    async def number(context: Context) -> str:
        return str((await context.ui.elicit("a", int)).content == given)

    async with make_host(kit_of(number)) as host:
        rounds = Rounds(host, "number")
        await rounds.step()
        assert await rounds.step({"question-1": accept(value=given)}) == ToolResult("True")


async def test_half_a_character_in_a_question_is_no_failure() -> None:
    async def half(context: Context) -> str:
        return str((await context.ui.elicit("a\ud800", str)).content)

    async with make_host(kit_of(half)) as host:
        rounds = Rounds(host, "half")
        await rounds.step()
        assert await rounds.step({"question-1": accept(value="x")}) == ToolResult("x")


async def test_a_question_that_cannot_be_asked_leaves_no_other_behind(recwarn: pytest.WarningsRecorder) -> None:
    async def both(context: Context) -> str:
        try:
            await context.ask(a=Elicit("a"), b=Sample("b", tools=[]))
        except ClientCapabilityError as error:
            return error.capability
        return "asked"

    assert (await played(both))[0] == ToolResult("sampling.tools")
    gc.collect()
    assert [str(one.message) for one in recwarn if "never awaited" in str(one.message)] == []


async def test_a_question_may_have_any_name() -> None:
    async def odd(context: Context) -> str:
        got = await context.ask(self=Elicit("a", str), **{"a/b c": Elicit("b", str)})
        return f"{got['self'].content}{got['a/b c'].content}"

    assert (await played(odd))[0] == ToolResult("AB")


@pytest.mark.requirement("ASK-04")
@pytest.mark.parametrize("url", ["", "x", "/relative", "https://a b", 5])
async def test_what_is_no_url_is_not_asked(url: Any) -> None:
    async def open_page(context: Context) -> str:
        return (await context.ui.elicit_url("Look.", url)).action

    async with make_host(kit_of(open_page)) as host:
        outcome = await Rounds(host, "open_page").step()
        assert isinstance(outcome, Failure)
        assert "is no URL" in str(getattr(outcome.error, "developer_message", ""))


async def stubborn(context: Context) -> str:
    for _ in range(100):
        try:
            return await say(context, "a")
        except BaseException:  # noqa: BLE001
            continue
    return "never"


async def test_who_asks_again_and_again_stops_nobody_else() -> None:
    """The event loop turns while a function that swallows its cancellation asks on; what it gives is no answer."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with make_host(kit_of(stubborn)) as host:
        other = asyncio.create_task(count())
        outcome = await Rounds(host, "stubborn").step()
        other.cancel()
        assert isinstance(outcome, Failure)
        assert turns > 90


async def test_who_asks_after_its_call_has_ended_is_ended() -> None:
    tasks: list[asyncio.Task[str]] = []
    released = asyncio.Event()

    async def leaves(context: Context) -> str:
        async def later() -> str:
            await released.wait()
            return await say(context, "a")

        tasks.append(asyncio.create_task(later()))
        return "left"

    async with make_host(kit_of(leaves)) as host:
        assert await Rounds(host, "leaves").step() == ToolResult("left")
        released.set()
        await asyncio.wait(tasks)
        assert tasks[0].cancelled()


@pytest.mark.requirement("ASK-21")
async def test_rounds_end() -> None:
    async def endless(context: Context) -> str:
        while True:
            await say(context, "again")

    async with make_host(kit_of(endless)) as host:
        rounds = Rounds(host, "endless")
        outcome = await rounds.finish(echo)
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)
        assert len(rounds.asked) == 20


def sync_tool(context: Context) -> str:
    _ = context.ui.elicit("a", str)
    return "no"


async def without_context() -> str:
    from pegboard import current_context

    context = current_context()
    assert context is not None
    return await say(context, "a")


@pytest.mark.requirement("ASK-01", "ERA-19")
@pytest.mark.parametrize("function", [sync_tool, without_context], ids=lambda one: one.__name__)
async def test_who_cannot_ask_is_told_at_once(function: Callable[..., Any]) -> None:
    async with make_host(kit_of(function)) as host:
        outcome = await Rounds(host, function.__name__).step()
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)
        assert "async function with a Context" in str(outcome.error.developer_message)


async def test_where_nobody_can_be_asked_that_is_the_answer() -> None:
    async with make_host(kit_of(in_sequence)) as host:
        outcome = await host.dispatch(Call("tools/call", {"name": "in_sequence"}, client=ABLE))
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)


# --- steps that are not repeated


async def test_a_step_runs_once_however_many_rounds_there_are() -> None:
    ran: list[str] = []

    def charge(amount: int, *, currency: str) -> dict[str, Any]:
        ran.append(f"{amount} {currency}")
        return {"id": len(ran), "tags": ("a", "b")}

    async def book() -> str:
        ran.append("book")
        return "booked"

    async def buy(context: Context) -> str:
        receipt = await context.once("charge", charge, 5, currency="EUR")
        first = await say(context, "a")
        booked = await context.once("book", book)
        return f"{receipt} {first} {booked} {await say(context, 'b')}"

    outcome, _ = await played(buy)
    assert outcome == ToolResult("{'id': 1, 'tags': ['a', 'b']} A booked B")
    assert ran == ["5 EUR", "book"]


async def test_no_round_ends_while_a_step_runs() -> None:
    ended: list[str] = []
    asked = asyncio.Event()

    async def slow() -> int:
        await asked.wait()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ended.append("step")
        return 1

    async def tool(context: Context) -> str:
        async def ask() -> str:
            asked.set()
            return await say(context, "a")

        step, answer = await asyncio.gather(context.once("slow", slow), ask())
        return f"{step}{answer}"

    outcome, _ = await played(tool)
    assert outcome == ToolResult("1A")
    assert ended == ["step"]


async def step_that_asks(context: Context) -> str:
    return str(await context.once("x", say, context, "a"))


async def step_whose_task_asks(context: Context) -> str:
    async def step() -> str:
        return await asyncio.create_task(say(context, "a"))

    return str(await context.once("x", step))


async def step_that_calls_what_asks(context: Context) -> str:
    return str(await context.once("x", nested, context, "a"))


@pytest.mark.parametrize(
    "function", [step_that_asks, step_whose_task_asks, step_that_calls_what_asks], ids=lambda one: one.__name__
)
async def test_a_step_cannot_ask(function: Function) -> None:
    """It would wait for the end of the round, and that for the step. Sessions refuse it too: one way in both eras."""

    async def ask(method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
        return accept(value="x")

    async with make_host(kit_of(function, inner)) as host:
        rounds = await asyncio.wait_for(Rounds(host, function.__name__).step(), WAIT)
        session = await host.dispatch(Call("tools/call", {"name": function.__name__}, client=ABLE, ask=ask))
        for outcome in (rounds, session):
            assert isinstance(outcome, Failure)
            assert isinstance(outcome.error, InteractionError)
            assert "a step of once asks" in str(outcome.error.developer_message)


async def test_steps_may_have_steps_and_ask_after_them() -> None:
    async def tool(context: Context) -> str:
        async def step() -> int:
            return int(await context.once("inner", lambda: 2)) + 1

        return f"{await context.once('outer', step)}{await say(context, 'a')}"

    assert (await played(tool))[0] == ToolResult("3A")


async def test_a_step_that_fails_is_not_kept() -> None:
    tries = iter((False, True))

    def fail_once() -> str:
        if not next(tries):
            raise OSError("not today")
        return "done"

    async def tool(context: Context) -> str:
        try:
            return str(await context.once("x", fail_once))
        except OSError:
            return str(await context.once("y", fail_once))

    assert (await played(tool))[0] == ToolResult("done")


async def test_one_key_for_two_steps_is_an_error_in_every_era() -> None:
    async def tool(context: Context) -> str:
        return str([await context.once("x", lambda: 1), await context.once("x", lambda: 2)])

    async with make_host(kit_of(tool)) as host:
        for outcome in (await Rounds(host, "tool").step(), await host.dispatch(Call("tools/call", {"name": "tool"}))):
            assert isinstance(outcome, Failure)
            assert isinstance(outcome.error, InteractionError)


async def test_steps_leave_no_more_than_they_may() -> None:
    async def tool(context: Context) -> str:
        return str(len(await context.once("big", lambda: "x" * 70_000)))

    async with make_host(kit_of(tool)) as host:
        outcome = await Rounds(host, "tool").step()
        assert isinstance(outcome, Failure)
        assert "70" not in outcome.error.message


@pytest.mark.parametrize("given", [float("nan"), float("inf")])
async def test_a_step_gives_the_same_in_every_round(given: float) -> None:
    """Not only what JSON holds: what it holds no longer after the seal is not there before it either."""
    seen: list[Any] = []

    async def tool(context: Context) -> str:
        seen.append(await context.once("x", lambda: [given, b"bytes", 1]))
        return await say(context, "a")

    await played(tool)
    assert seen == [[None, "Ynl0ZXM=", 1]] * 2


async def test_a_step_that_gives_no_json_is_named() -> None:
    async def tool(context: Context) -> str:
        return str(await context.once("thing", object))

    async with make_host(kit_of(tool)) as host:
        outcome = await Rounds(host, "tool").step()
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)
        assert "the step 'thing'" in str(outcome.error.developer_message)


async def test_what_steps_leave_is_counted_over_all_rounds() -> None:
    async def tool(context: Context) -> str:
        first = str(await context.once("first", lambda: "x" * 40_000))
        await say(context, "a")
        return first + str(await context.once("second", lambda: "x" * 40_000))

    outcome, asked = await played(tool)
    assert len(asked) == 1
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, InteractionError)


async def test_questions_beside_steps_keep_their_order() -> None:
    async def tool(context: Context) -> str:
        async def step() -> None:
            await asyncio.sleep(0)

        async def after_a_step() -> str:
            await context.once("x", step)
            return await say(context, "a")

        return "".join(await asyncio.gather(after_a_step(), say(context, "b")))

    assert await played(tool) == (ToolResult("AB"), [["b", "a"]])


async def test_a_step_begun_in_the_turn_of_a_question_holds_the_round() -> None:
    ended: list[str] = []

    async def tool(context: Context) -> str:
        async def step() -> str:
            for _ in range(3):
                await asyncio.sleep(0)
            ended.append("step")
            return "done"

        answer, result = await asyncio.gather(say(context, "a"), context.once("x", step))
        return f"{answer}{result}"

    assert (await played(tool))[0] == ToolResult("Adone")
    assert ended == ["step"]


# --- nested calls


async def inner(text: str, context: Context) -> str:
    return await say(context, text)


async def inner_waits(text: str, context: Context) -> str:
    return await asyncio.wait_for(say(context, text), WAIT)


async def by_nested_groups(context: Context) -> str:
    async def branch(depth: int, text: str) -> str:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(branch(depth - 1, text) if depth else nested(context, text))
        return task.result()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(branch(3, text)) for text in "ab"]
    return "".join(task.result() for task in tasks)


async def by_a_task_and_itself(context: Context) -> str:
    task = asyncio.create_task(nested(context, "a"))
    own = await say(context, "b")
    return await task + own


async def by_wait(context: Context) -> str:
    tasks = [asyncio.create_task(nested(context, text)) for text in "ab"]
    await asyncio.wait(tasks)
    return "".join(task.result() for task in tasks)


async def by_waiting_tools(context: Context) -> str:
    return "".join(await asyncio.gather(*[context.tools.call("inner_waits", {"text": text}) for text in "ab"]))


async def nested(context: Context, text: str) -> str:
    return str(await context.tools.call("inner", {"text": text}))


@pytest.mark.parametrize(
    "function", [by_nested_groups, by_a_task_and_itself, by_wait, by_waiting_tools], ids=lambda one: one.__name__
)
async def test_nested_calls_ask_in_every_shape_and_no_failure_is_logged(
    function: Function, caplog: pytest.LogCaptureFixture
) -> None:
    outcome, asked = await played(function, inner, inner_waits)
    assert outcome == ToolResult("AB")
    assert [sorted(round) for round in asked] == [["a", "b"]]
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_questions_of_nested_calls_carry_their_path_and_are_replayed() -> None:
    async def outer(context: Context) -> str:
        first = await context.tools.call("inner", {"text": "a"})
        both = await asyncio.gather(*[context.tools.call("inner", {"text": text}) for text in "bc"])
        return "".join([first, *both, await say(context, "d")])

    async with make_host(kit_of(inner, outer)) as host:
        rounds = Rounds(host, "outer")
        assert await rounds.finish(echo) == ToolResult("ABCD")
        assert [sorted(asked) for asked in rounds.asked] == [
            ["inner-1/question-1"],
            ["inner-2/question-1", "inner-3/question-1"],
            ["question-1"],
        ]


async def test_a_nested_call_that_swallows_its_question_fails_the_outermost() -> None:
    async def outer(context: Context) -> str:
        return "got " + str(await context.tools.call("returned_without", {}))

    async with make_host(kit_of(returned_without, outer)) as host:
        outcome = await Rounds(host, "outer").step()
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, InteractionError)


@pytest.mark.requirement("ASK-21")
async def test_calls_that_call_themselves_end() -> None:
    async def again(context: Context) -> str:
        return str(await context.tools.call("again", {}))

    async with make_host(kit_of(again)) as host:
        outcome = await Rounds(host, "again").step()
        assert isinstance(outcome, Failure)
        assert "too many" in outcome.error.message


# --- around it


async def test_middleware_sees_the_question_as_an_outcome() -> None:
    seen: list[str] = []

    async def watch(call: Call, call_next: Any) -> Outcome:
        outcome: Outcome = await call_next(call)
        seen.append(type(outcome).__name__)
        return outcome

    host = make_host(kit_of(in_sequence), plugins={"w": plugin_of(middleware=[watch])})
    async with host:
        await Rounds(host, "in_sequence").finish(echo)
    assert seen == ["InputRequired", "InputRequired", "ToolResult"]


async def test_a_call_cancelled_by_its_client_is_cancelled_not_answered() -> None:
    asked = asyncio.Event()

    async def slow(context: Context) -> str:
        asked.set()
        await asyncio.Event().wait()
        return await say(context, "a")

    async with make_host(kit_of(slow)) as host:
        task = asyncio.create_task(Rounds(host, "slow").step())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.requirement("UTIL-04")
async def test_a_cancellation_that_meets_the_end_of_a_round_wins() -> None:
    tasks: list[asyncio.Task[Outcome]] = []

    async def tool(context: Context) -> str:
        asyncio.get_running_loop().call_soon(tasks[0].cancel)
        return await say(context, "a")

    async with make_host(kit_of(tool)) as host:
        tasks.append(asyncio.create_task(Rounds(host, "tool").step()))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]


@pytest.mark.requirement("ROUND-13")
async def test_cleanup_runs_at_the_end_of_every_round() -> None:
    left: list[str] = []

    async def tool(context: Context) -> str:
        try:
            return await say(context, "a")
        finally:
            left.append("left")

    await played(tool)
    assert left == ["left", "left"]


@pytest.mark.requirement("ROUND-13")
async def test_nothing_of_a_round_is_left_running() -> None:
    before = asyncio.all_tasks()
    for function in (*SEQUENTIAL, *AT_ONCE, never_awaited_in_group, left_in_a_task):
        async with make_host(kit_of(function)) as host:
            await Rounds(host, function.__name__).step()
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def never_awaited_in_group(context: Context) -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(say(context, "a"))
    return "x"
