"""What a test answers when a tool asks, in rounds and in sessions, and what becomes of a question without an answer."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard_testing import Asked, cancel, connect, reply
from pegboard_testing.answers import Answers
from tests.pegboard_testing import kits


@pytest.fixture(params=["2026-07-28", "2025-11-25"])
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def form(*fields: str, kind: str = "string") -> Asked:
    schema = {"type": "object", "properties": {name: {"type": kind} for name in fields}}
    return Asked("elicitation/create", {"mode": "form", "message": "m", "requestedSchema": schema})


URL = Asked("elicitation/create", {"mode": "url", "message": "m", "url": "https://x.example"})
SAMPLE = Asked("sampling/createMessage", {"messages": [{"role": "user", "content": {"type": "text", "text": "Hm?"}}]})
ROOTS = Asked("roots/list", {})
YES = {"action": "accept"}


@pytest.mark.parametrize(
    ("question", "value", "result"),
    [
        (form("a", "b"), {"a": 1}, {**YES, "content": {"a": 1}}),
        (form("a"), "Ada", {**YES, "content": {"a": "Ada"}}),
        (form("a"), kits.Booking(name="Ada"), {**YES, "content": {"name": "Ada", "seats": 1}}),
        (form("a", kind="boolean"), False, {**YES, "content": {"a": False}}),
        (form("a", "b"), False, {"action": "decline"}),
        (form("a"), cancel(), {"action": "cancel"}),
        (URL, True, YES),
        (SAMPLE, "Paris", reply("Paris").result),
        (ROOTS, ["file:///a", {"uri": "file:///b", "name": "B"}], {
            "roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "B"}]
        }),
    ],
)  # fmt: skip
async def test_plain_values_are_answers(question: Asked, value: Any, result: Any) -> None:
    answers = Answers()
    answers.prepare(value, "more")
    assert await answers.answer(question) == result
    assert answers.asked == [question]


async def test_an_invalid_answer_is_rejected() -> None:
    for question, value in (
        (form("a", "b"), "Ada"), (form(), "Ada"), (form("a"), None), (URL, "yes"), (SAMPLE, 5), (ROOTS, "file:///a"),
    ):  # fmt: skip
        answers = Answers()
        answers.prepare(value, "more")
        with pytest.raises(TypeError, match="does not answer the question"):
            await answers.answer(question)


async def test_fixed_answers_go_out_in_order(revision: str) -> None:
    async with connect(kits.kit, revision=revision, answers=[{"name": "Ada", "seats": 2}, True]) as client:
        assert (await client.call("book")).value == "Ada 2 accept"
        client.answer({"name": "Bob"}, False)
        assert (await client.call("book")).value == "Bob 1 decline"
        client.answer(cancel(), "not needed")
        assert (await client.call("book")).value == "cancel"
    assert [question.message for question in client.asked] == ["Who travels?", "Sure?"] * 2 + ["Who travels?"]


async def test_a_function_answers_all(revision: str) -> None:
    async def answer(question: Asked) -> Any:
        return {"form": "Rome", "url": True, "sampling": "the Forum", "roots": ["file:///home"]}[question.kind]

    async with connect(kits.kit, revision=revision, answers=answer) as client:
        result = await client.call("everything")
    assert result.text == '["Rome","the Forum",["file:///home"],"accept"]'
    assert {question.kind for question in client.asked} == {"form", "url", "sampling", "roots"}


async def test_a_question_without_an_answer_or_with_an_error_fails_the_test(revision: str) -> None:
    def fail(question: Asked) -> Any:
        raise ZeroDivisionError(question.message)

    async with connect(kits.kit, revision=revision) as client:
        with pytest.raises(AssertionError, match=r"no answer to the question: form 'Who travels\?' \(name, seats\)"):
            await client.call("book")
        client.answer(cancel())
        client.answer(lambda question: True)
        assert (await client.call("book")).value == "cancel"
    async with connect(kits.kit, revision=revision, answers=fail) as client:
        with pytest.raises(ZeroDivisionError, match=r"Who travels\?"):
            await client.call("book")
