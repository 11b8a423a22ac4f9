"""Questions that end a call (2026-07-28, basic/patterns/mrtr), over both transports: section 5 of the requirements."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.asking.conftest import ABLE, Modern, accept, willing

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAME = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"value": {"type": "string", "title": "Value"}},
            "required": ["value"],
        },
    },
}


@pytest.mark.requirement("ASK-02", "ROUND-01", "ROUND-04", "ROUND-05", "ROUND-14", "ROUND-18")
async def test_a_question_is_a_result_and_its_answer_the_next_request(client: Modern) -> None:
    reply = await client.call("name")
    assert reply.status in (None, 200)
    assert reply.result.keys() == {"resultType", "inputRequests", "requestState", "_meta"}
    assert reply.asked == {"question-1": NAME}
    given = {"inputResponses": {"question-1": accept(value="Ann")}, "requestState": reply.result["requestState"]}
    assert (await client.call("name", **given)).text == "Hello, Ann"


@pytest.mark.requirement("ASK-03", "ASK-22", "HTTP-13", "ROUND-01", "ROUND-03", "ROUND-04", "ROUND-05", "STDIO-04")
@pytest.mark.parametrize(
    ("tool", "text", "methods"),
    [
        ("name", "Hello, Ann", [["elicitation/create"]]),
        ("several", "accept: Several(colours=[<Colour.RED: 'red'>])", [["elicitation/create"]]),
        ("consent", "accept: {}", [["elicitation/create"]]),
        ("page", "accept: None", [["elicitation/create"]]),
        ("sample", "m/assistant/endTurn/text: Paris", [["sampling/createMessage"]]),
        ("roots", '["A=file:///a","None=file:///b"]', [["roots/list"]]),
        ("at_once", "Ann, Paris, 2 roots", [["elicitation/create", "sampling/createMessage", "roots/list"]]),
        ("in_turn", "Ann 7 accept", [["elicitation/create"]] * 3),
        ("outer", "Hi, Ann | Ho, Ann | Hello, Ann", [["elicitation/create"] * 2, ["elicitation/create"]]),
        ("careless", "accept: 'Ann'", [["elicitation/create"]]),
    ],
)
async def test_every_kind_of_question_to_its_end(client: Modern, tool: str, text: str, methods: Any) -> None:
    assert (await client.finish(tool)).text == text
    assert [[one["method"] for one in asked.values()] for asked in client.rounds] == methods
    assert [message for message in client.said if "method" in message] == []  # nothing is ever sent as a request


async def test_every_kind_of_field(client: Modern) -> None:
    assert (await client.finish("person")).text == (
        "accept: Person(name='Ann', born=None, age=30, height=1.75, member=False, colour=<Colour.RED: 'red'>, "
        "pays='eur')"
    )
    given = accept(name="Bo", born="1999-12-31", age=1, height=2, member=True, colour="green", pays="chf")
    assert (await client.finish("person", answer=lambda *_: given)).text == (
        "accept: Person(name='Bo', born=datetime.date(1999, 12, 31), age=1, height=2.0, member=True, "
        "colour=<Colour.GREEN: 'green'>, pays='chf')"
    )


async def test_sampling_with_tools(client: Modern) -> None:
    assert (await client.finish("sample", {"tools": True})).text == "m/assistant/endTurn/text,tool_use: Paris"
    params = client.rounds[0]["question-1"]["params"]
    assert params["tools"][0]["name"] == "look"
    assert (params["maxTokens"], params["systemPrompt"], params["temperature"]) == (50, "Be brief.", 0.5)


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_who_does_not_agree(client: Modern, action: str) -> None:
    assert (await client.finish("name", answer=lambda *_: {"action": action})).text == action
    assert (await client.finish("page", answer=lambda *_: {"action": action})).text == f"{action}: None"


@pytest.mark.requirement("ROUND-02")
@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("prompts/get", {"name": "asks_welcome", "arguments": {"style": "grand"}}, "Welcome Ann, grand."),
        ("resources/read", {"uri": "asks://card"}, "Card of Ann"),
        ("resources/read", {"uri": "asks://cards/7"}, "Card 7 of Ann"),
    ],
)
async def test_prompts_and_resources_ask_too(client: Modern, method: str, params: dict[str, Any], text: str) -> None:
    reply = await client.play(method, params)
    assert len(client.rounds) == 1
    result = reply.result
    got = result["messages"][0]["content"] if method == "prompts/get" else result["contents"][0]
    assert got["text"] == text


async def test_what_is_said_around_a_question(client: Modern) -> None:
    """Progress begins anew with each request: each has a token of its own."""
    meta = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}
    params = {"name": "asks_tells", "arguments": {}, "_meta": meta}
    assert (await client.play("tools/call", params)).text == "Ann"
    told = [one["params"].get("message") or one["params"]["data"] for one in client.said if "method" in one]
    assert sorted(told) == sorted(["asking"] * 4 + ["asked"])


# --- what may be left out, or be too much


@pytest.mark.requirement("ROUND-17")
async def test_what_is_not_answered_is_asked_again(client: Modern) -> None:
    first = await client.call("at_once")
    for missing in ("capital", "who", "where"):
        answers = {key: willing(one["method"], one["params"]) for key, one in first.asked.items()}
        one = answers.pop(missing)
        reply = await client.call("at_once", inputResponses=answers, requestState=first.result["requestState"])
        assert list(reply.asked) == [missing]
        state = reply.result["requestState"]
        done = await client.call("at_once", inputResponses={missing: one}, requestState=state)
        assert done.text == "Ann, Paris, 2 roots"


@pytest.mark.requirement("ROUND-16")
async def test_answers_to_nothing_are_overlooked(client: Modern) -> None:
    reply = await client.call("name", inputResponses={"question-1": accept(value="early"), "x": {}})
    assert list(reply.asked) == ["question-1"]  # nothing had been asked
    state = reply.result["requestState"]
    given = {"question-1": accept(value="Ann"), "question-2": accept(value="x"), "": {}, "__proto__": {"a": [1]}}
    assert (await client.call("name", inputResponses=given, requestState=state)).text == "Hello, Ann"


@pytest.mark.requirement("ROUND-17")
async def test_a_state_alone_is_a_retry_without_answers(client: Modern) -> None:
    first = await client.call("name")
    again = await client.call("name", requestState=first.result["requestState"])
    assert again.asked == first.asked
    assert again.result["requestState"] != first.result["requestState"]


async def test_answers_are_kept_from_round_to_round(client: Modern) -> None:
    """Only the newest are sent back."""
    reply = await client.call("in_turn")
    states = [reply.result["requestState"]]
    for number, answer in ((1, accept(value="a")), (2, accept(value=2))):
        reply = await client.call("in_turn", inputResponses={f"question-{number}": answer}, requestState=states[-1])
        assert list(reply.asked) == [f"question-{number + 1}"]
        states.append(reply.result["requestState"])
    assert len(set(states)) == 3
    done = await client.call("in_turn", inputResponses={"question-3": {"action": "accept"}}, requestState=states[-1])
    assert done.text == "a 2 accept"
    other = {"question-2": accept(value=99), "question-3": {"action": "decline"}}
    assert (await client.call("in_turn", inputResponses=other, requestState=states[-1])).text == "a 2 decline"


@pytest.mark.requirement("ASK-08", "ROUND-15")
@pytest.mark.parametrize(
    "responses",
    [
        None,
        [],
        "x",
        5,
        {"question-1": None},
        {"question-1": 12345},
        {"question-1": "Ann"},
        {"question-1": [accept(value="Ann")]},
        {"question-1": accept(value="Ann"), "other": None},
        {"question-1": {}},
        {"question-1": {"action": "accept"}},
        {"question-1": {"action": "accept", "content": None}},
        {"question-1": {"action": "accept", "content": []}},
        {"question-1": {"action": "accept", "content": ["Ann"]}},
        {"question-1": {"action": "ACCEPT", "content": {"value": "Ann"}}},
        {"question-1": {"action": None}},
        {"question-1": {"action": ["accept"]}},
        {"question-1": accept()},
        {"question-1": accept(value=5)},
        {"question-1": accept(value=None)},
        {"question-1": accept(value=["Ann"])},
        {"question-1": {"method": "elicitation/create", "result": accept(value="Ann")}},
    ],
    ids=repr,
)
@pytest.mark.parametrize("tool", ["name", "careless"])
async def test_what_is_no_answer_is_refused_and_a_better_one_taken(client: Modern, tool: str, responses: Any) -> None:
    state = (await client.call(tool)).result["requestState"]
    reply = await client.call(tool, inputResponses=responses, requestState=state)
    assert (reply.status, reply.error["code"]) in ((None, -32602), (200, -32602), (400, -32602))
    assert "inputResponses" in reply.error["message"]
    given = {"question-1": accept(value="Ann")}
    assert "Ann" in (await client.call(tool, inputResponses=given, requestState=state)).text


@pytest.mark.requirement("ROUND-15")
@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("consent", {"action": "accept", "content": "yes"}),
        ("sample", {"role": "assistant", "model": "m"}),
        ("sample", {"role": "system", "model": "m", "content": {"type": "text", "text": "x"}}),
        ("sample", {"role": "user", "model": 5, "content": {"type": "text", "text": "x"}}),
        ("sample", {"role": "user", "model": "m", "content": {"type": "text", "text": "x"}, "stopReason": 5}),
        ("sample", {"role": "user", "model": "m", "content": "Paris"}),
        ("sample", {"role": "user", "model": "m", "content": [None]}),
        ("sample", {"role": "user", "model": "m", "content": {"text": "x"}}),
        ("sample", {"role": "user", "model": "m", "content": {"type": "text"}}),
        ("sample", {"role": "user", "model": "m", "content": {"type": "text", "text": 5}}),
        ("roots", {}),
        ("roots", {"roots": None}),
        ("roots", {"roots": ["file:///a"]}),
        ("roots", {"roots": [{"name": "A"}]}),
        ("roots", {"roots": [{"uri": "file:///a", "name": 5}]}),
        ("page", {"action": "yes"}),
    ],
    ids=repr,
)
async def test_answers_of_every_kind_are_held_against_their_question(client: Modern, tool: str, answer: Any) -> None:
    state = (await client.call(tool)).result["requestState"]
    reply = await client.call(tool, inputResponses={"question-1": answer}, requestState=state)
    assert reply.error["code"] == -32602


async def test_who_smothers_the_end_of_a_round_gives_no_answer(client: Modern) -> None:
    reply = await client.call("smothering")
    assert reply.result["isError"] is True
    assert "never go out" not in str(reply.message)


async def test_content_of_any_size_within_the_body_s_limit(client: Modern) -> None:
    text = "ä" * 300_000
    state = (await client.call("name")).result["requestState"]
    given = {"question-1": accept(value=text)}
    assert (await client.call("name", inputResponses=given, requestState=state)).text == f"Hello, {text}"


async def test_too_much_to_carry_is_refused(client: Modern) -> None:
    """A state holds the answers; one that its client could not send back is none."""
    state = (await client.call("in_turn")).result["requestState"]
    given = {"question-1": accept(value="x" * 1_000_000)}
    reply = await client.call("in_turn", inputResponses=given, requestState=state)
    assert reply.error["code"] == -32602
    assert "too large" in reply.error["message"]


async def test_steps_are_kept_and_limited(client: Modern) -> None:
    assert (await client.finish("large", {"size": 60_000})).text == "60000 Ann"
    refused = await client.call("large", {"size": 70_000})
    assert refused.result["isError"] is True
    assert (await client.finish("step", {"label": client.server.__class__.__name__})).text == "1"


async def test_rounds_end(client: Modern) -> None:
    reply = await client.finish("endless")
    assert reply.result["isError"] is True
    assert len(client.rounds) == 20


async def test_two_clients_at_once(client: Modern) -> None:
    clients = [Modern(client.server) for _ in range(20)]

    async def play(number: int, one: Modern) -> str:
        return (await one.finish("in_turn", answer=lambda m, p: _numbered(number, m, p))).text

    assert await asyncio.gather(*[play(*one) for one in enumerate(clients)]) == [f"n{n} {n} accept" for n in range(20)]


def _numbered(number: int, method: str, params: dict[str, Any]) -> Any:
    if params["mode"] == "url":
        return {"action": "accept"}
    kind = params["requestedSchema"]["properties"]["value"]["type"]
    return accept(value=number if kind == "integer" else f"n{number}")


# --- capabilities


FORM: dict[str, Any] = {"elicitation": {"form": {}}}
URL: dict[str, Any] = {"elicitation": {"url": {}}}


@pytest.mark.requirement("ASK-01", "ASK-18", "ASK-23", "ERA-19", "ERA-20", "ROUND-06")
@pytest.mark.parametrize(
    ("tool", "arguments", "declared", "required"),
    [
        ("name", {}, {}, {"elicitation": {"form": {}}}),
        ("name", {}, {"sampling": {}, "roots": {}}, {"elicitation": {"form": {}}}),
        ("name", {}, URL, {"elicitation": {"form": {}}}),
        ("page", {}, {}, {"elicitation": {"url": {}}}),
        ("page", {}, FORM, {"elicitation": {"url": {}}}),
        ("page", {}, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("sample", {}, FORM, {"sampling": {}}),
        ("sample", {"tools": True}, {}, {"sampling": {"tools": {}}}),
        ("sample", {"tools": True}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("roots", {}, FORM, {"roots": {}}),
        ("at_once", {}, FORM | {"roots": {}}, {"sampling": {}}),
        ("outer", {}, {"roots": {}}, {"elicitation": {"form": {}}}),
    ],
)
async def test_what_a_client_cannot_do_is_not_asked_and_said(
    client: Modern, tool: str, arguments: Any, declared: Any, required: Any
) -> None:
    """-32021, with HTTP 400, and what would be needed."""
    reply = await client.call(tool, arguments, capabilities=declared)
    assert (reply.status, reply.error["code"]) in ((None, -32021), (400, -32021))
    assert reply.error["data"] == {"requiredCapabilities": required}


@pytest.mark.requirement("ASK-01", "ERA-19", "ERA-20")
@pytest.mark.parametrize(
    ("method", "params"),
    [("prompts/get", {"name": "asks_welcome"}), ("resources/read", {"uri": "asks://card"})],
)
async def test_prompts_and_resources_say_it_too(client: Modern, method: str, params: Any) -> None:
    reply = await client.request(method, params, {})
    assert (reply.status, reply.error["code"]) in ((None, -32021), (400, -32021))


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("form", "elicitation.form"),
        ("url", "elicitation.url"),
        ("sampling", "sampling"),
        ("tools", "sampling.tools"),
        ("roots", "roots"),
    ],
)
async def test_an_author_may_catch_it(client: Modern, kind: str, missing: str) -> None:
    text = (await client.call("careful", {"kind": kind}, capabilities={})).text
    assert text.startswith(f"ClientCapabilityError {missing}: ")


@pytest.mark.parametrize(
    "declared",
    [{"elicitation": {}}, FORM, {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {"form": {}, "x": 1}}],
)
async def test_elicitation_without_more_means_forms(client: Modern, declared: Any) -> None:
    assert (await client.call("name", capabilities=declared)).asked.keys() == {"question-1"}


@pytest.mark.requirement("ASK-01", "ERA-19")
@pytest.mark.parametrize(
    "declared",
    [
        {"elicitation": None},
        {"elicitation": False},
        {"elicitation": True},
        {"elicitation": []},
        {"elicitation": {"form": None}},
        {"elicitation": {"form": False}},
        {"elicitation": "form"},
    ],
    ids=repr,
)
async def test_capabilities_that_are_none_are_not_taken_for_some(client: Modern, declared: Any) -> None:
    reply = await client.call("name", capabilities=declared)
    assert reply.error["code"] in (-32021, -32602)
    declared = {"sampling": declared["elicitation"], "roots": declared["elicitation"]}
    if declared["sampling"] not in ({"form": None}, {"form": False}):
        assert (await client.call("sample", capabilities=declared)).error["code"] in (-32021, -32602)
        assert (await client.call("roots", capabilities=declared)).error["code"] in (-32021, -32602)


@pytest.mark.requirement("ASK-01", "ERA-19")
async def test_each_request_says_for_itself_what_its_client_can(client: Modern) -> None:
    """A retry that declares less is asked no more than that."""
    state = (await client.call("in_turn")).result["requestState"]
    given = {"question-1": accept(value="a")}
    reply = await client.call("in_turn", inputResponses=given, requestState=state, capabilities={})
    assert reply.error["code"] == -32021
    assert (await client.call("in_turn", inputResponses=given, requestState=state, capabilities=ABLE)).asked


# --- where it is not


@pytest.mark.requirement("ROUND-02")
@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "server/discover", "completion/complete"])
async def test_only_three_methods_ask(client: Modern, method: str) -> None:
    """Nothing else takes a state or answers; what it does not know it overlooks."""
    params: dict[str, Any] = {"requestState": "x", "inputResponses": None}
    if method == "completion/complete":
        params |= {"ref": {"type": "ref/prompt", "name": "asks_welcome"}, "argument": {"name": "style", "value": ""}}
    reply = await client.request(method, params)
    assert reply.message.get("result", {}).get("resultType", "complete") == "complete"
