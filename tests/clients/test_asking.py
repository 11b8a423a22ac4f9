"""The official SDK's clients are asked: forms, pages, models with tools, roots; in every era, over both transports."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.clients.conftest import Client, Place
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

CALLS: dict[str, tuple[str, str, Any]] = {
    "name": ("call", "asks_name", {"greeting": "größer"}),
    "person": ("call", "asks_person", {}),
    "several": ("call", "asks_several", {}),
    "consent": ("call", "asks_consent", {}),
    "page": ("call", "asks_page", {}),
    "sample": ("call", "asks_sample", {}),
    "tools": ("call", "asks_sample", {"tools": True}),
    "roots": ("call", "asks_roots", {}),
    "at once": ("call", "asks_at_once", {}),
    "in turn": ("call", "asks_in_turn", {}),
    "outer": ("call", "asks_outer", {}),
    "step": ("call", "asks_step", {"label": "x"}),
    "tells": ("call", "asks_tells", {}),
    "large": ("call", "asks_large", {"size": 60_000}),
    "prompt": ("prompt", "asks_welcome", None),
    "resource": ("read", "asks://card", None),
    "template": ("read", "asks://cards/7", None),
}

TEXTS = {
    "name": "größer, Ann",
    "person": "accept: Person(name='Ann', born=None, age=30, height=1.75, member=False, colour=<Colour.RED: 'red'>, "
    "pays='eur')",
    "several": "accept: Several(colours=[<Colour.RED: 'red'>])",
    "consent": "accept: {}",
    "page": "accept: None",
    "sample": "m/assistant/endTurn/text: Paris",
    "tools": "m/assistant/toolUse/text,tool_use: Paris",
    "at once": "Ann, Paris, 2 roots",
    "in turn": "Ann 7 accept",
    "outer": "Hi, Ann | Ho, Ann | Hello, Ann",
    "step": "1",
    "tells": "Ann",
    "large": "60000 Ann",
}


def drive(place: Place, transport: str, client: Client, scenario: str, **plan: Any) -> Run:
    """Run a scenario with a client that answers."""
    start = place.http if transport == "http" else place.stdio
    return start(client, scenario, answers=True, **plan)


@pytest.fixture(scope="module")
def run(asking_place: Place, transport: str, client: Client) -> Run:
    """What came of every call."""
    return drive(asking_place, transport, client, "asked", calls=CALLS)


def is_modern(client: Client) -> bool:
    return client[1] != "legacy"


@pytest.mark.parametrize("call", TEXTS)
def test_a_call_that_asks_comes_to_its_end(run: Run, call: str) -> None:
    result = run.said[call]["result"]
    assert not result.get("isError"), result
    assert result["content"][0]["text"] == TEXTS[call]


def test_roots_are_listed(run: Run) -> None:
    assert [block["text"] for block in run.said["roots"]["result"]["content"]] == ['["A=file:///a","None=file:///b"]']


def test_prompts_and_resources_ask_too(run: Run) -> None:
    assert run.said["prompt"]["result"]["messages"][0]["content"]["text"] == "Welcome Ann, plain."
    assert run.said["resource"]["result"]["contents"][0]["text"] == "Card of Ann"
    assert run.said["template"]["result"]["contents"][0]["text"] == "Card 7 of Ann"


def test_what_the_client_was_asked(run: Run) -> None:
    asked = {key: [kind for kind, _ in found["asked"]] for key, found in run.said.items()}
    assert sorted(asked["at once"]) == ["elicitation/create", "roots/list", "sampling/createMessage"]
    assert asked["in turn"] == ["elicitation/create"] * 3
    assert asked["outer"] == ["elicitation/create"] * 3
    ((_, page),) = run.said["page"]["asked"]
    assert (page["mode"], page["url"]) == ("url", "https://example.invalid/sign-in?x=1")
    ((_, person),) = run.said["person"]["asked"]
    assert person["requestedSchema"]["properties"]["pays"]["oneOf"][1] == {"const": "chf", "title": "Swiss franc"}
    ((_, tools),) = run.said["tools"]["asked"]
    assert [tool["name"] for tool in tools["tools"]] == ["look"]


def test_progress_and_the_log_around_a_question(run: Run, client: Client) -> None:
    """What a retry says again comes with the retry: in rounds the function runs from the top."""
    told = run.said["tells"]
    assert told["logged"] == ["asking"] * (2 if is_modern(client) else 1)
    first, last = [1, 2, "asking"], [2, 2, "asked"]
    assert told["progress"] == ([first, first, last] if is_modern(client) else [first, last])


def test_the_server_asks_by_requests_in_sessions_alone(run: Run, client: Client) -> None:
    requests = [line for line in run.record if line.startswith(b"<") and b'"method"' in line and b'"id"' in line]
    questions = [line for line in requests if b'"inputRequests"' not in line and b'"params"' in line]
    retries = [one for one in run.sent() if "inputResponses" in one.get("params", {})]
    assert bool(retries) is is_modern(client)
    if is_modern(client):
        assert [line for line in questions if b'"result"' not in line] == []


@pytest.mark.parametrize("action", ["decline", "cancel", "fail"])
def test_who_does_not_agree(asking_place: Place, transport: str, client: Client, action: str) -> None:
    calls = {key: CALLS[key] for key in ("name", "page")}
    run = drive(asking_place, transport, client, "asked", calls=calls, action=action)
    for key, found in run.said.items():
        if action != "fail":
            assert found["result"]["content"][0]["text"] == (action if key == "name" else f"{action}: None")
        elif is_modern(client):
            assert found["error"]["message"] == "nobody is here"  # the client gives up, and asks no more
        else:
            assert found["result"]["isError"] is True
            assert "nobody is here" in found["result"]["content"][0]["text"]


def test_many_calls_ask_at_once(asking_place: Place, transport: str, client: Client) -> None:
    run = drive(asking_place, transport, client, "asked_at_once", count=20)
    assert run.said == {"texts": [f"{number}, Ann" for number in range(20)], "asked": 20}


def test_several_clients_at_once(asking_place: Place) -> None:
    """One server, a session and two clients of 2026-07-28, all of whom it asks."""
    clients: list[Client] = [("1", "legacy"), ("2", "legacy"), ("2", "2026-07-28")]
    with asking_place.serving() as server, ThreadPoolExecutor(3) as pool:

        def one(client: Client) -> Run:
            return asking_place.connect(client, "asked_at_once", server, answers=True, count=10)

        for run in pool.map(one, clients):
            assert run.said == {"texts": [f"{number}, Ann" for number in range(10)], "asked": 10}


def test_who_cannot_be_asked(asking_place: Place, transport: str, client: Client) -> None:
    start = asking_place.http if transport == "http" else asking_place.stdio
    run = start(client, "asked", calls={"name": CALLS["name"]})
    if is_modern(client):
        assert run.said["name"]["error"]["code"] == -32021
        assert run.said["name"]["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    else:
        assert run.said["name"]["result"]["isError"] is True
        assert "elicitation.form" in run.said["name"]["result"]["content"][0]["text"]
