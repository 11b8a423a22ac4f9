"""Questions to the client of a session, on the stream of the call that asks, in the words of each revision."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.asking.conftest import ABLE, Connect, Talk, accept, willing
from tests.support.http_mcp import Session, call
from tests.support.schemas import LEGACY
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORMS = [revision for revision in LEGACY if revision >= "2025-06-18"]


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=LEGACY)
async def each(connect: Connect, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Any, str]]:
    """A session of each revision, and the revision."""
    async with connect(request.param) as session:
        yield session, request.param


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def newest(connect: Connect) -> AsyncIterator[Any]:
    """A session of the newest revision that has them."""
    async with connect(LEGACY[-1]) as session:
        yield session


async def begin(session: Any, tool: str, /, **arguments: Any) -> Talk:
    """A call that has begun."""
    return await Talk(session, tool, arguments).begin()


@pytest.mark.requirement("ASK-02")
async def test_a_form_in_the_words_of_its_revision(each: tuple[Any, str]) -> None:
    session, revision = each
    if revision not in FORMS:
        failed = await asked(session, "person")
        assert failed["isError"] is True
        assert "elicitation.form" in failed["content"][0]["text"]
        return
    talk = await begin(session, "person")
    question = await talk.told()
    assert question["method"] == "elicitation/create"
    params, newer = question["params"], revision == "2025-11-25"
    assert params.keys() == {"message", "requestedSchema"} | ({"mode"} if newer else set())
    fields = params["requestedSchema"]["properties"]
    titles = [{"const": "eur", "title": "Euro"}, {"const": "chf", "title": "Swiss franc"}]
    pays = {"oneOf": titles} if newer else {"enum": ["eur", "chf"], "enumNames": ["Euro", "Swiss franc"]}
    assert fields["pays"] == {"type": "string", "title": "Pays", "default": "eur", **pays}
    assert fields["colour"] == {"type": "string", "title": "Colour", "default": "red", "enum": ["red", "green"]}
    assert fields["born"] == {"type": "string", "title": "Born", "format": "date"}
    assert fields["age"] == {"type": "integer", "title": "Age", "default": 30, "minimum": 0, "maximum": 149}
    await talk.answer(question, result=accept(name="Bo", pays="chf"))
    assert "name='Bo'" in await talk.text()


async def asked(session: Any, tool: str, **arguments: Any) -> Any:
    """The whole answer to a call that asks nothing in the end, over either transport."""
    if isinstance(session, Wire):
        return await session.call(f"asks_{tool}", **arguments)
    return (await session.post(call(f"asks_{tool}", arguments))).result


@pytest.mark.requirement("ASK-01", "ASK-18")
async def test_what_a_revision_does_not_have_is_not_asked(each: tuple[Any, str]) -> None:
    session, revision = each
    if revision != "2025-11-25":
        text = (await asked(session, "careful", kind="url"))["content"][0]["text"]
        assert text.startswith("ClientCapabilityError elicitation.url: ")
        text = (await asked(session, "careful", kind="tools"))["content"][0]["text"]
        assert text.startswith("ClientCapabilityError sampling.tools: ")
        text = (await asked(session, "sample", tools=True))["content"][0]["text"]
        assert "sampling.tools" in text
    if revision not in FORMS:
        text = (await asked(session, "careful", kind="form"))["content"][0]["text"]
        assert text.startswith("ClientCapabilityError elicitation.form: ")


@pytest.mark.requirement("ASK-29")
async def test_a_choice_of_several(each: tuple[Any, str]) -> None:
    session, revision = each
    if revision == "2025-06-18":
        failed = await asked(session, "several")
        assert failed["isError"] is True
        assert "colours" in failed["content"][0]["text"]
    elif revision in FORMS:
        assert "Colour.RED" in await (await begin(session, "several")).play()


@pytest.mark.requirement("ASK-03", "ASK-25")
async def test_a_page_has_an_id_in_the_one_revision_that_has_them(newest: Any) -> None:
    ids = set()
    for action in ("accept", "decline", "cancel"):
        talk = await begin(newest, "page")
        question = await talk.told()
        assert question["params"].keys() == {"mode", "message", "url", "elicitationId"}
        ids.add(question["params"]["elicitationId"])
        await talk.answer(question, result={"action": action})
        assert await talk.text() == f"{action}: None"
    assert len(ids) == 3


@pytest.mark.requirement("ASK-22")
async def test_the_client_s_model(each: tuple[Any, str]) -> None:
    session, revision = each
    talk = await begin(session, "sample")
    question = await talk.told()
    params = question["params"]
    plain = [message["content"] for message in params["messages"]]
    newer = revision == "2025-11-25"
    block = {"type": "text", "text": "Hm."}
    assert plain == [{"type": "text", "text": "What is the capital of France?"}, [block] if newer else block]
    assert (params["maxTokens"], params["stopSequences"]) == (50, ["."])
    await talk.answer(question, result=willing(question["method"], params))
    assert await talk.text() == "m/assistant/endTurn/text: Paris"


async def test_its_tools(newest: Any) -> None:
    talk = await begin(newest, "sample", tools=True)
    question = await talk.told()
    assert question["params"]["toolChoice"] == {"mode": "auto"}
    await talk.answer(question, result=willing(question["method"], question["params"]))
    assert await talk.text() == "m/assistant/endTurn/text,tool_use: Paris"


async def test_the_client_s_roots(each: tuple[Any, str]) -> None:
    session, _ = each
    assert await (await begin(session, "roots")).play() == '["A=file:///a","None=file:///b"]'


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_who_does_not_agree(newest: Any, action: str) -> None:
    assert await (await begin(newest, "name")).play(lambda *_: {"action": action}) == action


@pytest.mark.requirement("ASK-08")
@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"action": "maybe"},
        {"action": "accept"},
        accept(),
        accept(value=5),
        accept(value=None),
        {"action": "accept", "content": "Ann"},
        {"role": "assistant", "model": "m", "content": []},
    ],
    ids=repr,
)
async def test_what_is_no_answer_is_an_error_that_authors_see(newest: Any, answer: Any) -> None:
    text = await (await begin(newest, "careful", kind="form")).play(lambda *_: answer)
    assert text.startswith("ClientError None: The client answered elicitation/create with something that is no answer")
    talk = await begin(newest, "name")
    await talk.answer(await talk.told(), result=answer)
    assert (await talk.result())["isError"] is True


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize("kind", ["form", "url", "sampling", "tools", "roots"])
async def test_errors_of_the_client_reach_the_author(newest: Any, kind: str) -> None:
    talk = await begin(newest, "careful", kind=kind)
    await talk.answer(await talk.told(), error={"code": -1, "message": "User rejected it"})
    assert await talk.text() == "ClientError -1: User rejected it"


async def test_time_runs_out(newest: Any) -> None:
    talk = await begin(newest, "hurried")
    question = await talk.told()
    notice = await talk.told()
    assert (notice["method"], notice["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    assert (await talk.text()).startswith("ClientTimeoutError None: ")
    await talk.answer(question, result=accept(value="too late"))


@pytest.mark.requirement("UTIL-07")
async def test_a_call_is_cancelled_while_it_asks(newest: Any) -> None:
    talk = await begin(newest, "patient", label=f"by {type(newest).__name__}")
    question = await talk.told()
    await talk.cancel()
    notice = await talk.told()
    assert (notice["method"], notice["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    async with asyncio.timeout(10):
        while f"by {type(newest).__name__}" not in (await asked(newest, "gone"))["content"][0]["text"]:
            pass


async def test_several_at_once_and_one_after_another(newest: Any) -> None:
    talk = await begin(newest, "at_once")
    questions = [await talk.told() for _ in range(3)]
    assert {one["method"] for one in questions} == {"elicitation/create", "sampling/createMessage", "roots/list"}
    for one in reversed(questions):
        await talk.answer(one, result=willing(one["method"], one.get("params", {})))
    assert await talk.text() == "Ann, Paris, 2 roots"
    talk = await begin(newest, "in_turn")
    for _ in range(3):
        question = await talk.told()
        await talk.answer(question, result=willing(question["method"], question["params"]))
    assert await talk.text() == "Ann 7 accept"


@pytest.mark.requirement("UTIL-07")
async def test_when_one_of_several_fails_the_others_are_taken_back(newest: Any) -> None:
    talk = await begin(newest, "at_once")
    questions = [await talk.told() for _ in range(3)]
    await talk.answer(questions[1], error={"code": -1, "message": "no"})
    notices = [await talk.told() for _ in range(2)]
    assert {one["params"]["requestId"] for one in notices} == {questions[0]["id"], questions[2]["id"]}
    assert (await talk.result())["isError"] is True


async def test_inside_other_tools(newest: Any) -> None:
    talk = await begin(newest, "outer")
    for answer in ("A", "B", "C"):
        question = await talk.told()
        await talk.answer(question, result=accept(value=answer))
    assert await talk.text() in ("Hi, A | Ho, B | Hello, C", "Hi, B | Ho, A | Hello, C")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "asks_welcome"}),
        ("resources/read", {"uri": "asks://card"}),
        ("resources/read", {"uri": "asks://cards/7"}),
    ],
)
async def test_prompts_and_resources_ask_too(newest: Any, method: str, params: Any) -> None:
    talk = await Talk(newest, "").begin(method, params)
    await talk.answer(await talk.told(), result=accept(value="Ann"))
    assert "Ann" in str(await talk.result())


async def test_two_calls_of_one_session_ask_at_once(newest: Any) -> None:
    first = await begin(newest, "name", greeting="first")
    one = await first.told()
    second = await begin(newest, "name", greeting="second")
    other = await second.told()
    await second.answer(other, result=accept(value="B"))
    assert await second.text() == "second, B"
    await first.answer(one, result=accept(value="A"))
    assert await first.text() == "first, A"


async def test_nothing_is_kept_from_one_call_to_the_next(newest: Any) -> None:
    """A step runs again in the next call, and what a retry would have is overlooked in a session."""
    for number in (1, 2):
        talk = await begin(newest, "step", label=type(newest).__name__)
        assert await talk.play() == str(number)
    params = {"name": "asks_name", "arguments": {}, "requestState": 5, "inputResponses": None}
    talk = await Talk(newest, "").begin("tools/call", params)
    await talk.answer(await talk.told(), result=accept(value="Ann"))
    assert await talk.text() == "Hello, Ann"


@pytest.mark.requirement("ASK-01", "ERA-19")
@pytest.mark.parametrize("declared", [{}, {"elicitation": {"url": {}}}, {"sampling": {}, "roots": {}}], ids=repr)
async def test_who_cannot_be_asked_is_not(connect: Connect, declared: Any) -> None:
    async with connect(LEGACY[-1], declared) as session:
        failed = await asked(session, "name")
        assert failed["isError"] is True
        assert "elicitation.form" in failed["content"][0]["text"]
        assert set(declared) & {"sampling"} or (await asked(session, "sample"))["isError"] is True


async def test_a_client_that_takes_no_stream_is_not_asked(newest: Any) -> None:
    if isinstance(newest, Session):
        done = await newest.post(call("asks_name"), ("Accept", "application/json"))
        assert done.result["isError"] is True
        assert "nobody can be asked" in done.result["content"][0]["text"]
        assert ABLE["elicitation"]["form"] == {}
