"""The state that a client carries: good for one caller, one request and some minutes, and for nobody who changes it."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pegboard.plugin import ProtocolError, encode
from pegboard.types import Call, Caller, InputRequired, Question, Round
from pegboard_plugins.mcp import sealing
from pegboard_plugins.mcp.round_trips import RoundTrips
from tests.asking.conftest import Modern, Reply, Start, accept
from tests.support.peer import WAIT

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANN = {"question-1": accept(value="Ann")}


async def begun(client: Modern, **arguments: Any) -> str:
    """The state of a call that asked."""
    state: str = (await client.call("name", arguments)).result["requestState"]
    return state


def refused(reply: Reply) -> str:
    """Why a state was refused: a JSON-RPC error, and neither a result nor a question."""
    assert reply.status in (None, 200, 400)
    assert reply.error["code"] == -32602
    message: str = reply.error["message"]
    assert message.startswith("params.requestState")
    return message


def flipped(state: str, place: int) -> str:
    """A state with one bit of what it holds changed."""
    sealed = bytearray(base64.urlsafe_b64decode(state[3:] + "=" * (-len(state[3:]) % 4)))
    sealed[place] ^= 1
    return "v1." + base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def tampered(state: str) -> Iterator[Any]:
    """A state, changed in every way there is."""
    body = state[3:]
    yield from (state + more for more in ("-TAMPERED", "=", "==", "A", "\n", " ", "\x00", "!", "."))
    yield from (" " + state, "v1.=" + body, "v1. " + body, "v1.\n" + body)
    yield from ("v2." + body, "V1." + body, "v1" + body, "v1.v1." + body, body, "." + body)
    yield from (state[:-1], state[:-2], state[:10], state[:3], "", "v1.AAAA", "v1." + "A" * 16, "v1." + "A" * 100)
    middle = len(body) // 2
    yield from ("v1." + body[:middle] + junk + body[middle:] for junk in ("\n", " ", "=", "*", "\r\n", "é", "A"))
    yield "v1." + body.replace("-", "+").replace("_", "/") + "+"
    yield state.swapcase()
    yield state[:3] + body[::-1]
    yield from (flipped(state, place) for place in (0, 5, 11, 12, 20, -17, -16, -1))
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spare = (3 * len(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))) % 4
    if len(body) % 4:  # bits of the last character that mean nothing
        yield state[:-1] + last[last.index(state[-1]) ^ 1]
    assert spare >= 0
    yield from (None, 5, True, [state], {"state": state}, ["v1."])


@pytest.mark.requirement("ROUND-07", "ROUND-08")
@pytest.mark.parametrize("greeting", ["Hi", "Hello", "Bonjour"])  # states of three lengths, with other padding each
async def test_a_state_that_was_changed_is_refused(client: Modern, greeting: str) -> None:
    state = await begun(client, greeting=greeting)
    for changed in tampered(state):
        assert changed != state
        reply = await client.call("name", {"greeting": greeting}, inputResponses=ANN, requestState=changed)
        refused(reply)
    reply = await client.call("name", {"greeting": greeting}, inputResponses=ANN, requestState=state)
    assert reply.text == f"{greeting}, Ann"


@pytest.mark.requirement("ASK-28", "ROUND-08")
async def test_a_state_says_nothing_to_its_client(client: Modern) -> None:
    first, second = await begun(client), await begun(client)
    assert first.isascii()
    assert first.isprintable()
    assert first != second
    assert b"question" not in base64.urlsafe_b64decode(first[3:] + "=" * (-len(first[3:]) % 4))


@pytest.mark.requirement("ROUND-11")
async def test_a_state_is_good_for_what_it_was_made_for(client: Modern) -> None:
    state = await begun(client, greeting="Hi")
    given = {"inputResponses": ANN, "requestState": state}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("name", {}),
        ("name", {"greeting": "Ho"}),
        ("name", {"greeting": "Hi", "options": {}}),
        ("careless", {"greeting": "Hi"}),
        ("page", {}),
    ]
    for tool, arguments in calls:
        refused(await client.call(tool, arguments, **given))
    requests: list[tuple[str, dict[str, Any]]] = [
        ("prompts/get", {"name": "asks_name", "arguments": {"greeting": "Hi"}}),
        ("prompts/get", {"name": "asks_welcome"}),
        ("resources/read", {"uri": "asks://card"}),
    ]
    for method, params in requests:
        refused(await client.request(method, {**params, **given}))
    assert (await client.call("name", {"greeting": "Hi"}, **given)).text == "Hi, Ann"


@pytest.mark.requirement("ROUND-11")
async def test_states_of_resources_and_prompts_are_their_own(client: Modern) -> None:
    seven = await client.request("resources/read", {"uri": "asks://cards/7"})
    given = {"inputResponses": ANN, "requestState": seven.result["requestState"]}
    refused(await client.request("resources/read", {"uri": "asks://cards/8", **given}))
    refused(await client.request("resources/read", {"uri": "asks://card", **given}))
    plain = await client.request("prompts/get", {"name": "asks_welcome", "arguments": {"style": "plain"}})
    given = {"inputResponses": ANN, "requestState": plain.result["requestState"]}
    refused(await client.request("prompts/get", {"name": "asks_welcome", "arguments": {"style": "grand"}, **given}))


@pytest.mark.requirement("ROUND-11")
async def test_the_order_of_arguments_means_nothing(client: Modern) -> None:
    options = {"b": [{"y": 1, "x": 2}], "a": {"d": None, "c": True}}
    turned = {"a": {"c": True, "d": None}, "b": [{"x": 2, "y": 1}]}
    state = (await client.call("name", {"greeting": "Hi", "options": options})).result["requestState"]
    reply = await client.call("name", {"options": turned, "greeting": "Hi"}, inputResponses=ANN, requestState=state)
    assert reply.text == "Hi, Ann"
    other = {**turned, "b": [1, {"x": 2, "y": 1}]}
    refused(await client.call("name", {"greeting": "Hi", "options": other}, inputResponses=ANN, requestState=state))


async def test_absent_arguments_are_empty_ones(client: Modern) -> None:
    reply = await client.request("tools/call", {"name": "asks_name"})
    given = {"inputResponses": ANN, "requestState": reply.result["requestState"]}
    assert (await client.call("name", {}, **given)).text == "Hello, Ann"


@pytest.mark.requirement("ROUND-10")
async def test_a_state_expires(start: Start) -> None:
    async with start("state_seconds = 0.3") as client:
        state = await begun(client)
        fresh = await begun(client)
        assert (await client.call("name", inputResponses=ANN, requestState=fresh)).text == "Hello, Ann"
        reply = await client.call("name", requestState=state)
        async with asyncio.timeout(WAIT):
            while "result" in reply.message:  # each of them gives a state of its own, the first grows older
                reply = await client.call("name", requestState=state)
        assert "expired" in refused(reply)


# --- several processes


KEYS = [f"key number {number}: {'x' * 32}" for number in range(3)]


def keys(*numbers: int) -> str:
    """A line of `[plugins.mcp]`."""
    return f"state_keys = {[KEYS[number] for number in numbers]}"


@pytest.mark.requirement("ERA-17", "ERA-18", "ROUND-13", "ROUND-14")
async def test_processes_of_one_key_serve_each_other_s_calls(start: Start) -> None:
    """Rotation: a new key is appended everywhere, then put first, then the old one is left out."""
    async with AsyncExitStack() as stack:
        old, first, second, new, alone = [
            await stack.enter_async_context(start(line)) for line in (keys(0), keys(0, 1), keys(1, 0), keys(1), "")
        ]
        states = {client: await begun(client) for client in (old, first, second, new, alone)}
        opens = {old: {old, first}, first: {old, first, second, new}, second: {old, first, second, new}}
        opens |= {new: {second, new}, alone: {alone}}
        for client, theirs in opens.items():
            for maker, state in states.items():
                reply = await client.call("name", inputResponses=ANN, requestState=state)
                if maker in theirs:
                    assert reply.text == "Hello, Ann"
                else:
                    refused(reply)


@pytest.mark.requirement("ERA-17", "ERA-18", "ROUND-13", "ROUND-14")
async def test_a_state_outlives_its_process(start: Start) -> None:
    async with start(keys(2)) as client:
        state = await begun(client)
    async with start(keys(2)) as client:
        assert (await client.call("name", inputResponses=ANN, requestState=state)).text == "Hello, Ann"


# --- callers: no transport authenticates yet


def call(subject: str | None, **more: Any) -> Call:
    return Call("tools/call", {"name": "x", "arguments": {}, **more}, Caller(subject))


def asked(trips: RoundTrips, subject: str | None) -> str:
    question = Question("elicitation/create", {"mode": "form", "message": "x"})
    result = trips.result(call(subject), InputRequired({"q": question}, Round(1, {"q": "digest"})))
    state: str = result["requestState"]
    return state


def resumed(trips: RoundTrips, one: Call) -> Round | None:
    return trips.begin(one.method, one.params, one.caller)


@pytest.mark.requirement("ASK-09", "ASK-28", "ROUND-09")
async def test_a_state_is_its_caller_s_alone() -> None:
    trips = RoundTrips([], 60)
    for subject in (None, "", "ann", "bo"):
        state = asked(trips, subject)
        for other in (None, "", "ann", "bo"):
            one = call(other, requestState=state)
            if other == subject:
                assert resumed(trips, one) == Round(1, {"q": "digest"})
            else:
                with pytest.raises(ProtocolError, match="for this request"):
                    resumed(trips, one)


@pytest.mark.requirement("ROUND-10")
async def test_a_state_is_good_until_its_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    trips = RoundTrips([], 60)
    one = call("ann", requestState=asked(trips, "ann"))
    now = 1060.0
    assert resumed(trips, one) == Round(1, {"q": "digest"})
    now = 1060.001
    with pytest.raises(ProtocolError, match="expired"):
        resumed(trips, one)


@pytest.mark.requirement("ROUND-11")
async def test_what_a_state_is_bound_to_cannot_be_shifted() -> None:
    """Members of the binding are apart from each other, whatever they hold."""
    sealer = sealing.Sealer([], 60)
    token = sealer.seal("state", ["a", "bc", None, {"x": 1}])
    for other in (["ab", "c", None, {"x": 1}], ["a", "bc", {"x": 1}], ["a", "bc", None, {"x": "1"}], "abc", []):
        with pytest.raises(ValueError, match="for this request"):
            sealer.open(token, other)
    assert encode(sealer.open(token, ("a", "bc", None, {"x": 1}))) == b'"state"'


@pytest.mark.requirement("ROUND-08")
async def test_nothing_is_sealed_twice_alike_nor_by_a_key_that_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """AES-GCM is broken by a nonce that comes again; without keys, each process has one that nobody knows."""
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    one, other = sealing.Sealer([], 60), sealing.Sealer([], 60)
    tokens = {one.seal("state", "bound") for _ in range(100)}
    assert len({token[: len("v1.") + 16] for token in tokens}) == 100
    for token in tokens:
        assert one.open(token, "bound") == "state"
        with pytest.raises(ValueError, match="for this request"):
            other.open(token, "bound")
