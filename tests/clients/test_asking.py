"""The official SDK's clients answer requests for forms, pages, models with tools, and roots, in every era."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.conftest import Client, Drive, is_stateless
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments


CALLS: dict[str, tuple[str, Any, str]] = {
    "name": ("asks_name", {"greeting": "größer"}, "größer, Ann"),
    "page": ("asks_page", {}, "accept: None"),
    "tools": ("asks_sample", {"tools": True}, "m/assistant/toolUse/text,tool_use: Paris"),
    "roots": ("asks_roots", {}, '["A=file:///a","None=file:///b"]'),
    "at once": ("asks_at_once", {}, "Ann, Paris, 2 roots"),
    "in turn": ("asks_in_turn", {}, "Ann 7 accept"),
    "outer": ("asks_outer", {}, "Hi, Ann | Ho, Ann | Hello, Ann"),
    "tells": ("asks_tells", {}, "Ann"),
}


def test_calls_prompts_and_resources_ask_their_client(drive: Drive, client: Client) -> None:
    calls = {key: ("call", *call[:2]) for key, call in CALLS.items()}
    calls |= {"prompt": ("prompt", "asks_welcome", None), "resource": ("read", "asks://cards/7", None)}
    run = drive(client, "asked", answers=True, calls=calls)
    said = {key: run.said[key]["result"]["content"][0]["text"] for key in CALLS}
    assert said == {key: text for key, (*_, text) in CALLS.items()}
    assert run.said["prompt"]["result"]["messages"][0]["content"]["text"] == "Welcome Ann, plain."
    assert run.said["resource"]["result"]["contents"][0]["text"] == "Card 7 of Ann"
    asked = {key: [kind for kind, _ in found["asked"]] for key, found in run.said.items()}
    assert sorted(asked["at once"]) == ["elicitation/create", "roots/list", "sampling/createMessage"]
    assert asked["in turn"] == asked["outer"] == ["elicitation/create"] * 3
    ((_, page),) = run.said["page"]["asked"]
    assert (page["mode"], page["url"]) == ("url", "https://example.invalid/sign-in?x=1")
    check_rounds(run, client)


def check_rounds(run: Run, client: Client) -> None:
    """In the stateless era questions are results, and a retry runs the function from the top."""
    told, stateless = run.said["tells"], is_stateless(client)
    first, last = [1, 2, "asking"], [2, 2, "asked"]
    assert told["logged"] == ["asking"] * (1 + stateless)
    assert told["progress"] == [first] * (1 + stateless) + [last]
    assert any("inputResponses" in one.get("params", {}) for one in run.sent()) is stateless
    requests = [line for line in run.record if line.startswith(b"<") and b'"method"' in line and b'"id"' in line]
    assert any(b'"result"' not in line for line in requests) is not stateless
