"""Questions that end a call, and the state that a client returns with its answers (2026-07-28)."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard.plugin import ProtocolError, encode
from pegboard.types import Call, Caller, InputRequired, Question, Round
from pegboard_plugins.mcp import sealing
from pegboard_plugins.mcp.round_trips import RoundTrips
from tests.protocol.conftest import Start
from tests.support.mcp_client import McpServer, Reply, until, values
from tests.support.mcp_rounds import ABLE, RoundsClient, accept, questions, willing
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANN = {"question-1": accept(value="Ann")}


@pytest.fixture
def group() -> str:
    return "asks"


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: McpServer) -> RoundsClient:
    return RoundsClient(await server.shared(MODERN[-1]))


def is_error(reply: Reply, code: int, *statuses: int) -> bool:
    """Return True if a reply is this error, over HTTP with one of these statuses."""
    return bool(reply.error["code"] == code and reply.status in (None, *statuses))


@pytest.mark.requirement("ASK-02", "ROUND-01", "ROUND-04", "ROUND-05", "ROUND-14", "ROUND-18")
async def test_a_question_is_a_result_and_its_answer_the_next_request(client: RoundsClient) -> None:
    reply = await client.call("name")
    assert reply.status in (None, 200)
    assert reply.result.keys() == {"resultType", "inputRequests", "requestState", "_meta"}
    properties = {"value": {"type": "string", "title": "Value"}}
    schema = {"type": "object", "properties": properties, "required": ["value"]}
    params = {"mode": "form", "message": "What is your name?", "requestedSchema": schema}
    assert questions(reply) == {"question-1": {"method": "elicitation/create", "params": params}}
    done = await client.call("name", inputResponses=ANN, requestState=reply.result["requestState"])
    assert (done.text, done.result["resultType"]) == ("Hello, Ann", "complete")


ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"


@pytest.mark.requirement("ASK-03", "ASK-19", "ASK-22", "ASK-26", "HTTP-13", "ROUND-03", "STDIO-04")
@pytest.mark.parametrize(
    ("tool", "text", "methods"),
    [
        ("name", "Hello, Ann", [[ELICIT]]),
        ("several", "accept: Several(colours=[<Colour.RED: 'red'>])", [[ELICIT]]),
        ("consent", "accept: {}", [[ELICIT]]),
        ("page", "accept: None", [[ELICIT]]),
        ("sample", "m/assistant/endTurn/text: Paris", [[SAMPLE]]),
        ("roots", '["A=file:///a","None=file:///b"]', [[ROOTS]]),
        ("at_once", "Ann, Paris, 2 roots", [[ELICIT, SAMPLE, ROOTS]]),
        ("in_turn", "Ann 7 accept", [[ELICIT]] * 3),
        ("outer", "Hi, Ann | Ho, Ann | Hello, Ann", [[ELICIT] * 2, [ELICIT]]),
        ("careless", "accept: 'Ann'", [[ELICIT]]),
    ],
)
async def test_every_kind_of_question(client: RoundsClient, tool: str, text: str, methods: Any) -> None:
    assert (await client.finish(tool)).text == text
    assert [[one["method"] for one in asked.values()] for asked in client.rounds] == methods
    assert client.told == []  # nothing is sent as a request
    for asked in client.rounds:
        for one in asked.values():
            assert one.get("params", {}).get("includeContext", "none") == "none"
            if tool == "page":
                assert one["params"].keys() == {"mode", "message", "url"}


async def test_forms_and_sampling_have_all_fields(client: RoundsClient) -> None:
    assert (await client.finish("person")).text == (
        "accept: Person(name='Ann', born=None, age=30, height=1.75, member=False, colour=<Colour.RED: 'red'>, "
        "pays='eur')"
    )
    given = accept(name="Bo", born="1999-12-31", age=1, height=2, member=True, colour="green", pays="chf")
    assert (await client.finish("person", answer=lambda *_: given)).text == (
        "accept: Person(name='Bo', born=datetime.date(1999, 12, 31), age=1, height=2.0, member=True, "
        "colour=<Colour.GREEN: 'green'>, pays='chf')"
    )
    assert (await client.finish("sample", {"tools": True})).text == "m/assistant/endTurn/text,tool_use: Paris"
    params = client.rounds[0]["question-1"]["params"]
    assert params["tools"][0]["name"] == "look"
    assert (params["maxTokens"], params["systemPrompt"], params["temperature"]) == (50, "Be brief.", 0.5)


@pytest.mark.requirement("ASK-07")
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_refuse(client: RoundsClient, action: str) -> None:
    assert (await client.finish("name", answer=lambda *_: {"action": action})).text == action
    assert (await client.finish("page", answer=lambda *_: {"action": action})).text == f"{action}: None"


@pytest.mark.requirement("LIST-12", "ROUND-02")
async def test_prompts_and_resources_ask_too_and_no_other_method(client: RoundsClient) -> None:
    requests: list[tuple[str, dict[str, Any], str]] = [
        ("prompts/get", {"name": "asks_welcome", "arguments": {"style": "grand"}}, "Welcome Ann, grand."),
        ("resources/read", {"uri": "asks://card"}, "Card of Ann"),
        ("resources/read", {"uri": "asks://cards/7"}, "Card 7 of Ann"),
    ]
    for method, params, text in requests:
        result = (await client.play(method, params)).result
        got = result["messages"][0]["content"] if method == "prompts/get" else result["contents"][0]
        assert (got["text"], len(client.rounds)) == (text, 1)
        if method == "resources/read":  # a person's answer is in it
            assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
        assert is_error(await client.request(method, params, {}), -32021, 400)
    for method in ("tools/list", "prompts/list", "server/discover", "completion/complete"):
        more = {"ref": {"type": "ref/prompt", "name": "asks_welcome"}, "argument": {"name": "style", "value": ""}}
        params = {"requestState": "x", "inputResponses": None, **(more if method.startswith("comp") else {})}
        reply = await client.request(method, params)
        assert reply.message.get("result", {}).get("resultType", "complete") == "complete"


async def test_progress_and_logs_surround_a_question(client: RoundsClient) -> None:
    """Progress begins anew with each request."""
    meta = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}
    assert (await client.play("tools/call", {"name": "asks_tells", "arguments": {}, "_meta": meta})).text == "Ann"
    told = [one["params"].get("message") or one["params"]["data"] for one in client.told]
    assert sorted(told) == ["asked"] + ["asking"] * 4


# --- answers


@pytest.mark.requirement("ROUND-16", "ROUND-17")
async def test_missing_answers_are_requested_again_and_unexpected_ones_ignored(client: RoundsClient) -> None:
    first = await client.call("at_once")
    for missing in ("capital", "who", "where"):
        answers = {key: willing(one["method"], one["params"]) for key, one in questions(first).items()}
        one = answers.pop(missing)
        reply = await client.call("at_once", inputResponses=answers, requestState=first.result["requestState"])
        assert list(questions(reply)) == [missing]
        state = reply.result["requestState"]
        done = await client.call("at_once", inputResponses={missing: one}, requestState=state)
        assert done.text == "Ann, Paris, 2 roots"
    again = await client.call("at_once", requestState=first.result["requestState"])
    assert questions(again) == questions(first)
    assert again.result["requestState"] != first.result["requestState"]
    early = await client.call("name", inputResponses={"question-1": accept(value="early"), "x": {}})
    assert list(questions(early)) == ["question-1"]  # no question had been asked
    given = {**ANN, "question-2": accept(value="x"), "": {}, "__proto__": {"a": [1]}}
    done = await client.call("name", inputResponses=given, requestState=early.result["requestState"])
    assert done.text == "Hello, Ann"


async def test_a_state_keeps_the_answers_of_earlier_rounds(client: RoundsClient) -> None:
    states = [await client.state("in_turn")]
    for number, answer in ((1, accept(value="a")), (2, accept(value=2))):
        reply = await client.call("in_turn", inputResponses={f"question-{number}": answer}, requestState=states[-1])
        assert list(questions(reply)) == [f"question-{number + 1}"]
        states.append(reply.result["requestState"])
    assert len(set(states)) == 3
    other = {"question-2": accept(value=99), "question-3": {"action": "decline"}}  # the second is not asked any more
    assert (await client.call("in_turn", inputResponses=other, requestState=states[-1])).text == "a 2 decline"
    third = {"question-3": {"action": "accept"}}
    assert (await client.call("in_turn", inputResponses=third, requestState=states[-1])).text == "a 2 accept"
    refused = await client.call(
        "in_turn", inputResponses={"question-1": accept(value="x" * 10**6)}, requestState=states[0]
    )
    assert refused.error["code"] == -32602
    assert "too large" in refused.error["message"]


NO_ANSWERS: list[Any] = [
    *(None, [], "x", 5),
    *({"question-1": one} for one in (None, 12345, "Ann", [accept(value="Ann")], {}, {"action": "accept"})),
    {**ANN, "other": None},
    *({"question-1": {"action": "accept", "content": one}} for one in (None, [], ["Ann"])),
    {"question-1": {"action": "ACCEPT", "content": {"value": "Ann"}}},
    *({"question-1": {"action": one}} for one in (None, ["accept"])),
    *({"question-1": accept(value=one)} for one in (5, None, ["Ann"])),
    {"question-1": accept()},
    {"question-1": {"method": ELICIT, "result": accept(value="Ann")}},
]
SAID: dict[str, Any] = {"role": "user", "model": "m", "content": {"type": "text", "text": "x"}}
WRONG: list[tuple[str, Any]] = [
    ("consent", {"action": "accept", "content": "yes"}),
    ("sample", {"role": "assistant", "model": "m"}),
    *(("sample", {**SAID, **one}) for one in ({"role": "system"}, {"model": 5}, {"stopReason": 5})),
    *(
        ("sample", {**SAID, "content": one})
        for one in ("Paris", [None], {"text": "x"}, {"type": "text"}, {"type": "text", "text": 5})
    ),
    *(("roots", {"roots": one}) for one in (None, ["file:///a"], [{"name": "A"}], [{"uri": "file:///a", "name": 5}])),
    ("roots", {}),
    ("page", {"action": "yes"}),
]


@pytest.mark.requirement("ASK-08", "ROUND-15")
async def test_malformed_answers_are_refused_and_better_ones_taken(client: RoundsClient) -> None:
    for tool in ("name", "careless"):
        state = await client.state(tool)
        for responses in NO_ANSWERS:
            reply = await client.call(tool, inputResponses=responses, requestState=state)
            assert is_error(reply, -32602, 200, 400), responses
            assert "inputResponses" in reply.error["message"]
        assert "Ann" in (await client.call(tool, inputResponses=ANN, requestState=state)).text
    for tool, answer in WRONG:
        given: Any = {"inputResponses": {"question-1": answer}, "requestState": await client.state(tool)}
        assert is_error(await client.call(tool, **given), -32602, 200, 400), answer


async def test_a_tool_that_catches_the_end_of_a_round_fails(client: RoundsClient) -> None:
    reply = await client.call("smothering")
    assert reply.result["isError"] is True
    assert "never go out" not in str(reply.message)


async def test_answers_steps_and_rounds_are_limited(client: RoundsClient) -> None:
    text = "ä" * 300_000
    state = await client.state("name")
    given = {"question-1": accept(value=text)}
    assert (await client.call("name", inputResponses=given, requestState=state)).text == f"Hello, {text}"
    assert (await client.finish("large", {"size": 60_000})).text == "60000 Ann"
    assert (await client.call("large", {"size": 70_000})).result["isError"] is True
    assert (await client.finish("step", {"label": type(client.client).__name__})).text == "1"
    assert (await client.finish("endless")).result["isError"] is True
    assert len(client.rounds) == 20


async def test_many_clients_at_once(client: RoundsClient) -> None:
    def numbered(number: int, params: dict[str, Any]) -> Any:
        if params["mode"] == "url":
            return {"action": "accept"}
        kind = params["requestedSchema"]["properties"]["value"]["type"]
        return accept(value=number if kind == "integer" else f"n{number}")

    async def play(number: int) -> str:
        one = RoundsClient(client.client)
        return (await one.finish("in_turn", answer=lambda _, params: numbered(number, params))).text

    assert await asyncio.gather(*map(play, range(20))) == [f"n{number} {number} accept" for number in range(20)]


# --- capabilities

FORM: dict[str, Any] = {"elicitation": {"form": {}}}
URL: dict[str, Any] = {"elicitation": {"url": {}}}


@pytest.mark.requirement("ASK-01", "ASK-18", "ASK-23", "ERA-19", "ERA-20", "ROUND-06")
@pytest.mark.parametrize(
    ("tool", "arguments", "declared", "required"),
    [
        ("name", {}, {}, FORM),
        ("name", {}, {"sampling": {}, "roots": {}}, FORM),
        ("name", {}, URL, FORM),
        ("page", {}, {}, URL),
        ("page", {}, FORM, URL),
        ("page", {}, {"elicitation": {}}, URL),
        ("sample", {}, FORM, {"sampling": {}}),
        ("sample", {"tools": True}, {}, {"sampling": {"tools": {}}}),
        ("sample", {"tools": True}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("roots", {}, FORM, {"roots": {}}),
        ("at_once", {}, FORM | {"roots": {}}, {"sampling": {}}),
        ("outer", {}, {"roots": {}}, FORM),
    ],
)
async def test_a_client_without_a_capability_is_told_which_is_missing(
    client: RoundsClient, tool: str, arguments: Any, declared: Any, required: Any
) -> None:
    for meta in ({}, {"progressToken": 0}, {"io.modelcontextprotocol/logLevel": "debug"}):
        reply = await client.call(tool, arguments, capabilities=declared, _meta=meta)
        assert is_error(reply, -32021, 400)
        assert reply.error["data"] == {"requiredCapabilities": required}


async def test_an_author_may_catch_a_missing_capability(client: RoundsClient) -> None:
    for kind, missing in (
        ("form", "elicitation.form"),
        ("url", "elicitation.url"),
        ("sampling", "sampling"),
        ("tools", "sampling.tools"),
        ("roots", "roots"),
    ):
        text = (await client.call("careful", {"kind": kind}, capabilities={})).text
        assert text.startswith(f"ClientCapabilityError {missing}: ")


@pytest.mark.requirement("ASK-01", "ERA-19")
async def test_capabilities_are_those_of_the_request_and_objects(client: RoundsClient) -> None:
    for form in values({}, {"form": {}}, {"form": {}, "url": {}}, {"form": {}, "x": 1}):
        assert questions(await client.call("name", capabilities={"elicitation": form})).keys() == {"question-1"}
    wrong: Any
    for wrong in (None, False, True, [], {"form": None}, {"form": False}, "form"):
        assert (await client.call("name", capabilities={"elicitation": wrong})).error["code"] in (-32021, -32602)
        if not isinstance(wrong, dict):
            for tool in ("sample", "roots"):
                refused = await client.call(tool, capabilities={"sampling": wrong, "roots": wrong})
                assert refused.error["code"] in (-32021, -32602)
    given: Any = {"inputResponses": {"question-1": accept(value="a")}, "requestState": await client.state("in_turn")}
    assert is_error(await client.call("in_turn", **given, capabilities={}), -32021, 400)
    assert questions(await client.call("in_turn", **given, capabilities=ABLE))


# --- the state


def refused(reply: Reply) -> str:
    """Return why a state was refused: neither a result nor a question."""
    assert is_error(reply, -32602, 200, 400)
    message: str = reply.error["message"]
    assert message.startswith("params.requestState")
    return message


def flipped(state: str, place: int) -> str:
    """A state with one bit of its content changed."""
    sealed = bytearray(base64.urlsafe_b64decode(state[3:] + "=" * (-len(state[3:]) % 4)))
    sealed[place] ^= 1
    return "v1." + base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def tampered(state: str) -> Iterator[Any]:
    """A state, changed in ways that `test_rounds_properties` does not find by chance."""
    body = state[3:]
    yield from ("v2." + body, "V1." + body, body, "", "v1.AAAA", "v1." + "A" * 100, state.swapcase(), state + "=")
    yield "v1." + body.replace("-", "+").replace("_", "/") + "+"
    yield from (flipped(state, place) for place in (0, 11, 12, 20, -17, -16, -1))
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    if len(body) % 4:  # bits of the last character that mean nothing
        yield state[:-1] + last[last.index(state[-1]) ^ 1]
    yield from (None, 5, True, [state], {"state": state})


@pytest.mark.requirement("ASK-28", "ROUND-07", "ROUND-08")
@pytest.mark.parametrize("greeting", ["Hi", "Hello", "Bonjour"])  # states of three lengths, with other padding each
async def test_a_state_that_was_changed_is_refused(client: RoundsClient, greeting: str) -> None:
    arguments = {"greeting": greeting}
    state, second = await client.state("name", arguments), await client.state("name", arguments)
    assert state.isascii()
    assert state.isprintable()
    assert state != second
    assert b"question" not in base64.urlsafe_b64decode(state[3:] + "=" * (-len(state[3:]) % 4))
    for changed in tampered(state):
        assert changed != state
        refused(await client.call("name", arguments, inputResponses=ANN, requestState=changed))
    assert (await client.call("name", arguments, inputResponses=ANN, requestState=state)).text == f"{greeting}, Ann"


@pytest.mark.requirement("ROUND-11")
async def test_a_state_is_valid_for_its_method_target_and_arguments_alone(client: RoundsClient) -> None:
    card, cards = ("resources/read", {"uri": "asks://card"}), [f"asks://cards/{number}" for number in (7, 8)]
    seven, eight = [("resources/read", {"uri": uri}) for uri in cards]
    named = [
        ("tools/call", {"name": "asks_name", "arguments": one}) for one in ({"greeting": "Hi"}, {"greeting": "Ho"}, {})
    ]
    named.append(("tools/call", {"name": "asks_name", "arguments": {"greeting": "Hi", "options": {}}}))
    tools = [("tools/call", {"name": f"asks_{tool}", "arguments": {"greeting": "Hi"}}) for tool in ("careless", "page")]
    prompts = [("prompts/get", {"name": "asks_welcome", "arguments": {"style": one}}) for one in ("plain", "grand")]
    prompts.append(("prompts/get", {"name": "asks_name", "arguments": {"greeting": "Hi"}}))
    everything: list[tuple[str, Any]] = [*named, *tools, card, seven, eight, *prompts]
    for own in (named[0], seven, prompts[0]):
        state = (await client.request(*own)).result["requestState"]
        for method, params in everything:
            reply = await client.request(method, {**params, "inputResponses": ANN, "requestState": state})
            if (method, params) == own:
                assert "Ann" in str(reply.result)
            else:
                refused(reply)
    left = {"greeting": "Hi", "options": {"b": [{"y": 1, "x": 2}], "a": {"d": None, "c": True}}}
    turned = {"options": {"a": {"c": True, "d": None}, "b": [{"x": 2, "y": 1}]}, "greeting": "Hi"}
    state = await client.state("name", left)
    assert (await client.call("name", turned, inputResponses=ANN, requestState=state)).text == "Hi, Ann"
    state = (await client.request("tools/call", {"name": "asks_name"})).result["requestState"]
    assert (await client.call("name", {}, inputResponses=ANN, requestState=state)).text == "Hello, Ann"


@pytest.mark.requirement("ROUND-10")
async def test_a_state_expires(start: Start) -> None:
    async with start("[plugins.mcp]\nstate_seconds = 0.3", site="asks") as server:
        client = RoundsClient(await server.client(MODERN[-1]))
        state = await client.state("name")
        fresh = await client.state("name")
        assert (await client.call("name", inputResponses=ANN, requestState=fresh)).text == "Hello, Ann"

        async def expired() -> bool:
            reply = await client.call("name", requestState=state)
            return "error" in reply.message and "expired" in refused(reply)

        await until(expired)


@pytest.mark.requirement("ERA-17", "ERA-18", "ROUND-13", "ROUND-14")
async def test_processes_that_share_a_key_serve_each_other_s_calls_and_outlive_one_another(
    sites: dict[str, Path],
) -> None:
    """Rotation: a new key is appended everywhere, then put first, then the old one is left out."""
    keys = [f"key number {number}: {'x' * 32}" for number in range(2)]
    lines = {"old": keys[:1], "first": keys, "second": keys[::-1], "new": keys[1:], "alone": []}
    opens = {"old": {"old", "first", "gone"}, "new": {"second", "new"}, "alone": {"alone"}}
    opens |= {name: {"old", "first", "second", "new", "gone"} for name in ("first", "second")}

    def process(shared: list[str]) -> McpServer:
        return McpServer("http", sites["asks"], more=f"[plugins.mcp]\nstate_keys = {shared}" if shared else "")

    async with AsyncExitStack() as stack:
        async with process(keys[:1]) as gone:
            states = {"gone": await RoundsClient(await gone.client(MODERN[-1])).state("name")}
        clients = {}
        for name, shared in lines.items():
            server = await stack.enter_async_context(process(shared))
            clients[name] = RoundsClient(await server.client(MODERN[-1]))
            states[name] = await clients[name].state("name")
        for name, client in clients.items():
            for maker, state in states.items():
                reply = await client.call("name", inputResponses=ANN, requestState=state)
                if maker in opens[name]:
                    assert reply.text == "Hello, Ann"
                else:
                    refused(reply)


# --- sealing


def call(subject: str | None, **more: Any) -> Call:
    return Call("tools/call", {"name": "x", "arguments": {}, **more}, Caller(subject))


def asked(trips: RoundTrips, subject: str | None) -> str:
    question = Question("elicitation/create", {"mode": "form", "message": "x"})
    result = trips.result(call(subject), InputRequired({"q": question}, Round(1, {"q": "digest"})))
    state: str = result["requestState"]
    return state


def resumed(trips: RoundTrips, one: Call) -> Round | None:
    return trips.begin(one.method, one.params, one.caller)


@pytest.mark.requirement("ASK-09", "ASK-28", "ROUND-09", "ROUND-10")
async def test_a_state_is_for_its_caller_alone_and_until_its_last_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    trips = RoundTrips([], 60)
    for subject in (None, "", "ann", "bo"):
        state = asked(trips, subject)
        for other in (None, "", "ann", "bo"):
            if other == subject:
                assert resumed(trips, call(other, requestState=state)) == Round(1, {"q": "digest"})
            else:
                with pytest.raises(ProtocolError, match="for this request"):
                    resumed(trips, call(other, requestState=state))
    one = call("ann", requestState=asked(trips, "ann"))
    now = 1060.0
    assert resumed(trips, one) == Round(1, {"q": "digest"})
    now = 1060.001
    with pytest.raises(ProtocolError, match="expired"):
        resumed(trips, one)


@pytest.mark.requirement("ROUND-08", "ROUND-11")
async def test_seals_are_unique_and_bind_each_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """AES-GCM is broken by a nonce that is used twice; without keys each process makes its own."""
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    sealer, other = sealing.Sealer([], 60), sealing.Sealer([], 60)
    bound = ["a", "bc", None, {"x": 1}]
    tokens = {sealer.seal("state", bound) for _ in range(100)}
    assert len({token[: len("v1.") + 16] for token in tokens}) == 100
    for token in tokens:
        assert encode(sealer.open(token, ("a", "bc", None, {"x": 1}))) == b'"state"'
        with pytest.raises(ValueError, match="for this request"):
            other.open(token, bound)
    for wrong in (["ab", "c", None, {"x": 1}], ["a", "bc", {"x": 1}], ["a", "bc", None, {"x": "1"}], "abc", []):
        with pytest.raises(ValueError, match="for this request"):
            sealer.open(token, wrong)
