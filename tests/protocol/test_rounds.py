"""Questions that end a call, and the state that a client returns with its answers (2026-07-28)."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard.plugin import ProtocolError
from pegboard.types import Call, Caller, InputRequired, Question, Round
from pegboard_plugins.protocols.mcp import sealing
from pegboard_plugins.protocols.mcp.round_trips import RoundTrips
from tests.protocol.conftest import Servers
from tests.support.mcp_client import McpServer, Reply, values
from tests.support.mcp_rounds import RoundsClient, questions, willing
from tests.support.rounds import accept
from tests.support.schemas import MODERN

ANN = {"question-1": accept(value="Ann")}
ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
GROUP = "asks"


@pytest_asyncio.fixture(loop_scope="session")
async def client(servers: Servers) -> RoundsClient:
    return RoundsClient(await (await servers.get("http", "asks")).shared(MODERN[-1]))


def refused(reply: Reply, place: str = "params.requestState") -> str:
    """Return why a request was refused: its parameters are invalid."""
    assert (reply.error["code"], reply.status) in ((-32602, 200), (-32602, 400))
    message: str = reply.error["message"]
    assert place in message
    return message


@pytest.mark.requirement("ASK-02", "ROUND-01", "ROUND-04", "ROUND-05", "ROUND-14", "ROUND-18")
async def test_a_question_is_a_result_and_its_answer_the_next_request(server: McpServer) -> None:
    client = RoundsClient(await server.shared(MODERN[-1]))
    reply = await client.call("name")
    assert reply.status in (None, 200)
    assert reply.result.keys() == {"resultType", "inputRequests", "requestState", "_meta"}
    properties = {"value": {"type": "string", "title": "Value"}}
    schema = {"type": "object", "properties": properties, "required": ["value"]}
    params = {"mode": "form", "message": "What is your name?", "requestedSchema": schema}
    assert questions(reply) == {"question-1": {"method": "elicitation/create", "params": params}}
    done = await client.call("name", inputResponses=ANN, requestState=reply.result["requestState"])
    assert (done.text, done.result["resultType"]) == ("Hello, Ann", "complete")


@pytest.mark.requirement("ASK-03", "ASK-19", "ASK-22", "ASK-26", "HTTP-13", "ROUND-03", "STDIO-04")
async def test_every_kind_of_question(server: McpServer) -> None:
    client = RoundsClient(await server.shared(MODERN[-1]))
    for tool, text, methods in (
        ("several", "accept: Several(colours=[<Colour.RED: 'red'>])", [[ELICIT]]),
        ("page", "accept: None", [[ELICIT]]),
        ("sample", "m/assistant/endTurn/text: Paris", [[SAMPLE]]),
        ("roots", '["A=file:///a","None=file:///b"]', [[ROOTS]]),
        ("at_once", "Ann, Paris, 2 roots", [[ELICIT, SAMPLE, ROOTS]]),
        ("in_turn", "Ann 7 accept", [[ELICIT]] * 3),
        ("outer", "Hi, Ann | Ho, Ann | Hello, Ann", [[ELICIT] * 2, [ELICIT]]),
    ):
        assert (await client.finish(tool)).text == text
        assert [[question["method"] for question in requests.values()] for requests in client.rounds] == methods
        assert client.told == []  # nothing is sent as a request
        for question in [question for requests in client.rounds for question in requests.values()]:
            assert question.get("params", {}).get("includeContext", "none") == "none"
            if tool == "page":
                assert question["params"].keys() == {"mode", "message", "url"}
    assert (await client.finish("sample", {"tools": True})).text == "m/assistant/endTurn/text,tool_use: Paris"
    params = client.rounds[0]["question-1"]["params"]
    assert (params["tools"][0]["name"], params["maxTokens"], params["temperature"]) == ("look", 50, 0.5)


@pytest.mark.requirement("LIST-12", "ROUND-02")
async def test_prompts_and_resources_ask_too_and_no_other_method(client: RoundsClient) -> None:
    requests: list[tuple[str, dict[str, Any], str]] = [
        ("prompts/get", {"name": "asks_welcome", "arguments": {"style": "grand"}}, "Welcome Ann, grand."),
        ("resources/read", {"uri": "asks://cards/7"}, "Card 7 of Ann"),
    ]
    for method, params, text in requests:
        result = (await client.play(method, params)).result
        assert text in str(result)
        assert len(client.rounds) == 1
        if method == "resources/read":  # a person's answer is in it
            assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
        assert (await client.request(method, params, {})).error["code"] == -32021
    for method in ("tools/list", "server/discover"):
        reply = await client.request(method, {"requestState": "x", "inputResponses": None})
        assert reply.result["resultType"] == "complete"


@pytest.mark.requirement("ROUND-16", "ROUND-17")
async def test_missing_answers_are_requested_again_and_unexpected_ones_ignored(client: RoundsClient) -> None:
    first = await client.call("at_once")
    answers = {key: willing(question["method"], question["params"]) for key, question in questions(first).items()}
    capital = answers.pop("capital")
    reply = await client.call("at_once", inputResponses=answers, requestState=first.result["requestState"])
    assert list(questions(reply)) == ["capital"]
    state = reply.result["requestState"]
    done = await client.call("at_once", inputResponses={"capital": capital}, requestState=state)
    assert done.text == "Ann, Paris, 2 roots"
    early = await client.call("name", inputResponses={"question-1": accept(value="early"), "x": {}})
    assert list(questions(early)) == ["question-1"]  # no question had been asked
    responses = {**ANN, "question-2": accept(value="x"), "": {}, "__proto__": {"a": [1]}}
    done = await client.call("name", inputResponses=responses, requestState=early.result["requestState"])
    assert done.text == "Hello, Ann"


async def test_a_state_keeps_the_answers_of_earlier_rounds(client: RoundsClient) -> None:
    states = [await client.state("in_turn")]
    for number, answer in ((1, accept(value="a")), (2, accept(value=2))):
        reply = await client.call("in_turn", inputResponses={f"question-{number}": answer}, requestState=states[-1])
        assert list(questions(reply)) == [f"question-{number + 1}"]
        states.append(reply.result["requestState"])
    other = {"question-2": accept(value=99), "question-3": {"action": "decline"}}  # the second is not asked any more
    assert (await client.call("in_turn", inputResponses=other, requestState=states[-1])).text == "a 2 decline"


MALFORMED: list[tuple[str, Any]] = [
    *(("name", value) for value in values(None, [], {"question-1": None}, {**ANN, "other": None})),
    *(("name", {"question-1": value}) for value in values({}, {"action": "accept"}, {"action": ["accept"]})),
    *(("name", {"question-1": accept(value=answer)}) for answer in (5, None)),
    ("consent", {"question-1": {"action": "accept", "content": "yes"}}),
    ("sample", {"question-1": {"role": "assistant", "model": "m"}}),
    ("sample", {"question-1": {"role": "user", "model": "m", "content": {"type": "text", "text": 5}}}),
    ("roots", {"question-1": {"roots": [{"name": "A"}]}}),
    ("page", {"question-1": {"action": "yes"}}),
]


@pytest.mark.requirement("ASK-08", "ROUND-15")
async def test_malformed_answers_are_refused_and_better_ones_taken(client: RoundsClient) -> None:
    for tool, responses in MALFORMED:
        params: Any = {"inputResponses": responses, "requestState": await client.state(tool)}
        refused(await client.call(tool, **params), "inputResponses")
        if tool == "name":
            assert (await client.call("name", **params | {"inputResponses": ANN})).text == "Hello, Ann"
    for tool, content in (("name", {"value": "\ud800"}), ("person", {"name": "x", "age": 10**400})):
        params = {"inputResponses": {"question-1": accept(**content)}, "requestState": await client.state(tool)}
        assert (await client.call(tool, **params)).error["code"] in (-32602, -32700)


async def test_answers_steps_and_rounds_are_limited(client: RoundsClient) -> None:
    text = "ä" * 300_000
    params: Any = {"inputResponses": {"question-1": accept(value=text)}, "requestState": await client.state("name")}
    assert (await client.call("name", **params)).text == f"Hello, {text}"
    params |= {
        "inputResponses": {"question-1": accept(value="x" * 10**6)},
        "requestState": await client.state("in_turn"),
    }
    refused(await client.call("in_turn", **params), "too large")
    assert (await client.finish("large", {"size": 60_000})).text == "60000 Ann"
    assert (await client.call("large", {"size": 70_000})).result["isError"] is True
    assert (await client.finish("step", {"label": "rounds"})).text == "1"
    assert (await client.finish("endless")).result["isError"] is True
    assert len(client.rounds) == 20


@pytest.mark.requirement("ASK-01", "ASK-18", "ASK-23", "ERA-19", "ERA-20", "ROUND-06")
async def test_a_client_without_a_capability_is_told_which_is_missing(client: RoundsClient) -> None:
    form: Any = {"elicitation": {"form": {}}}
    url: Any = {"elicitation": {"url": {}}}
    cases: list[tuple[str, Any, Any, Any]] = [
        ("name", {}, {}, form),
        ("name", {}, url, form),
        ("page", {}, {"elicitation": {}}, url),
        ("sample", {"tools": True}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("roots", {}, form, {"roots": {}}),
        ("at_once", {}, form | {"roots": {}}, {"sampling": {}}),
        ("outer", {}, {"roots": {}}, form),
    ]
    for tool, arguments, declared, required in cases:
        reply = await client.call(tool, arguments, capabilities=declared, _meta={"progressToken": 0})
        assert (reply.error["code"], reply.status) == (-32021, 400)
        assert reply.error["data"] == {"requiredCapabilities": required}
    for elicitation in ({}, {"form": {}, "x": 1}):
        assert questions(await client.call("name", capabilities={"elicitation": elicitation})).keys() == {"question-1"}
    wrong: Any
    for wrong in (None, True, [], {"form": None}):
        assert (await client.call("name", capabilities={"elicitation": wrong})).error["code"] in (-32021, -32602)
    params: Any = {"inputResponses": {"question-1": accept(value="a")}, "requestState": await client.state("in_turn")}
    assert (await client.call("in_turn", **params, capabilities={})).error["code"] == -32021  # in each round


def unsealed(state: str) -> bytearray:
    return bytearray(base64.urlsafe_b64decode(state[3:] + "=" * (-len(state[3:]) % 4)))


def flipped(state: str, place: int) -> str:
    """Return a state with one bit of its content changed."""
    sealed = unsealed(state)
    sealed[place] ^= 1
    return "v1." + base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def tampered(state: str) -> Iterator[Any]:
    """Change a state in many ways."""
    body = state[3:]
    yield from ("v2." + body, "V1." + body, body, "", "v1.AAAA", "v1.\x00é", state.swapcase(), state + "=", state[:-4])
    yield "v1." + body.replace("-", "+").replace("_", "/") + "+"
    yield from (flipped(state, place) for place in (0, 11, 12, 20, -17, -16, -1))
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    if len(body) % 4:  # bits of the last character that mean nothing
        yield state[:-1] + last[last.index(state[-1]) ^ 1]
    yield from (None, 5, [state])


@pytest.mark.requirement("ASK-28", "ROUND-07", "ROUND-08")
@pytest.mark.parametrize("greeting", ["Hi", "Hello", "Bonjour"])  # states of three lengths, with other padding each
async def test_a_state_that_was_changed_is_refused(client: RoundsClient, greeting: str) -> None:
    arguments = {"greeting": greeting}
    state, second = await client.state("name", arguments), await client.state("name", arguments)
    assert state != second
    assert b"question" not in unsealed(state)
    for changed in tampered(state):
        assert changed != state
        refused(await client.call("name", arguments, inputResponses=ANN, requestState=changed))
    assert (await client.call("name", arguments, inputResponses=ANN, requestState=state)).text == f"{greeting}, Ann"


@pytest.mark.requirement("ROUND-11")
async def test_a_state_is_valid_for_its_method_target_and_arguments_alone(client: RoundsClient) -> None:
    def tool(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        return "tools/call", {"name": f"asks_{name}", "arguments": arguments}

    prompts = [("prompts/get", {"name": "asks_welcome", "arguments": {"style": style}}) for style in ("plain", "grand")]
    cards = [("resources/read", {"uri": f"asks://cards/{number}"}) for number in (7, 8)]
    own = (tool("name", greeting="Hi"), prompts[0], cards[0])
    others = [tool("name", greeting="Ho"), tool("name"), tool("name", greeting="Hi", options={}), prompts[1], cards[1]]
    others += [tool("careless", greeting="Hi"), ("prompts/get", {"name": "asks_name", "arguments": {"greeting": "Hi"}})]
    for method, params in own:
        state = {"inputResponses": ANN, "requestState": (await client.request(method, params)).result["requestState"]}
        for other in (*own, *others):
            reply = await client.request(other[0], {**other[1], **state})
            if other == (method, params):
                assert "Ann" in str(reply.result)
            else:
                refused(reply)
    left = {"greeting": "Hi", "options": {"b": [{"y": 1, "x": 2}], "a": {"d": None, "c": True}}}
    turned = {"options": {"a": {"c": True, "d": None}, "b": [{"x": 2, "y": 1}]}, "greeting": "Hi"}
    reply = await client.call("name", turned, inputResponses=ANN, requestState=await client.state("name", left))
    assert reply.text == "Hi, Ann"


@pytest.mark.requirement("ERA-17", "ERA-18", "ROUND-13", "ROUND-14")
async def test_processes_that_share_a_key_serve_each_other_s_calls_and_outlive_one_another(
    sites: dict[str, Path], client: RoundsClient
) -> None:
    """The first key seals, every key opens; a process without keys has its own."""
    old, new = (f"key number {number}: {'x' * 32}" for number in range(2))

    def process(*keys: str) -> McpServer:
        return McpServer("http", sites["asks"], more=f"[plugins.mcp]\nstate_keys = {list(keys)}")

    async with process(old) as gone:
        states = {"old": await RoundsClient(await gone.client(MODERN[-1])).state("name")}
    states["alone"] = await client.state("name")
    async with process(new, old) as both, process(new) as renewed:
        clients = {wire: RoundsClient(await wire.client(MODERN[-1])) for wire in (both, renewed)}
        states["new"] = await clients[both].state("name")
        for rounds_client, opens in ((clients[both], {"old", "new"}), (clients[renewed], {"new"}), (client, {"alone"})):
            for maker, state in states.items():
                reply = await rounds_client.call("name", inputResponses=ANN, requestState=state)
                assert reply.text == "Hello, Ann" if maker in opens else refused(reply)


def call(subject: str | None, **more: Any) -> Call:
    return Call("tools/call", {"name": "x", "arguments": {}, **more}, Caller(subject))


def resumed(trips: RoundTrips, request: Call) -> Round | None:
    return trips.begin(request.method, request.params, request.caller)


@pytest.mark.requirement("ASK-09", "ASK-28", "ROUND-09", "ROUND-10")
async def test_a_state_is_for_its_caller_alone_and_until_its_last_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    trips, round_before = RoundTrips([], 60), Round(1, {"q": "digest"}, seconds=60)
    question = Question("elicitation/create", {"mode": "form", "message": "x"})
    state, subjects = "", (None, "", "bo", "ann")
    for subject in subjects:
        state = trips.result(call(subject), InputRequired({"q": question}, round_before))["requestState"]
        for other in subjects:
            if other == subject:
                assert resumed(trips, call(other, requestState=state)) == round_before
            else:
                with pytest.raises(ProtocolError, match="for this request"):
                    resumed(trips, call(other, requestState=state))
    now = 1060.0
    assert resumed(trips, call("ann", requestState=state)) == round_before
    now = 1060.001
    with pytest.raises(ProtocolError, match="expired"):
        resumed(trips, call("ann", requestState=state))


@pytest.mark.requirement("ROUND-08", "ROUND-11")
async def test_seals_are_unique_and_bind_each_member() -> None:
    """AES-GCM is broken by a nonce that is used twice; without keys each process makes its own."""
    sealer, other = sealing.Sealer([], 60), sealing.Sealer([], 60)
    bound = ["a", "bc", None, {"x": 1}]
    tokens = {sealer.seal("state", bound) for _ in range(100)}
    assert len({token[: len("v1.") + 16] for token in tokens}) == 100
    for token in tokens:
        assert sealer.open(token, bound) == "state"
        with pytest.raises(ValueError, match="for this request"):
            other.open(token, bound)
    for wrong in (["ab", "c", None, {"x": 1}], ["a", "bc", {"x": 1}], ["a", "bc", None, {"x": "1"}], "abc", []):
        with pytest.raises(ValueError, match="for this request"):
            sealer.open(token, wrong)
