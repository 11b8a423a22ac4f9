"""What the page on asking shows is what happens: its toolkit asks, in rounds and in a session."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pegboard import ToolResult
from pegboard.types import Call, Question
from tests.docs.pages import Page
from tests.host.hosting import make_host
from tests.support.rounds import ABLE, Rounds, accept

PAGE = Page("docs/elicitation.md")


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(PAGE.write(tmp_path))
    monkeypatch.delitem(sys.modules, "toolkit_trips", raising=False)
    return import_module("toolkit_trips")


def answer(key: str, question: Question) -> Any:
    if question.method == "roots/list":
        return {"roots": [{"uri": "file:///home"}]}
    if question.method == "sampling/createMessage":
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Porto"}}
    if question.params["mode"] == "url":
        return {"action": "accept"}
    fields = question.params["requestedSchema"]["properties"]
    if "seat" in fields:
        return accept(name="Ada", day="2026-07-28", seat="aisle", extras=["meal"])
    return accept(value=True if fields["value"]["type"] == "boolean" else "Rome")


async def ask(method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
    return dict(answer("", Question(method, params)))


CASES = [
    ("book", {"city": "Bern"}, "receipt for Ada on 2026-07-28, sent", 2),
    ("sign_in", {}, "Thank you.", 1),
    ("idea", {}, "Porto", 1),
    ("plan", {}, {"to": "Rome", "see": "Porto", "files": ["file:///home"]}, 1),
]


@pytest.mark.parametrize(("tool", "arguments", "value", "rounds"), CASES)
async def test_the_tools_ask_in_rounds_and_in_a_session(
    trips: ModuleType, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: Any, value: Any, rounds: int
) -> None:
    charged: list[str] = []
    charge = trips.charge

    async def counted(name: str, day: str) -> Any:
        charged.append(name)
        return await charge(name, day)

    monkeypatch.setattr(trips, "charge", counted)
    async with make_host(trips.kit) as host:
        assert host.problems == ()
        played = Rounds(host, f"trips_{tool}", arguments)
        outcome = await played.finish(answer)
        rounds_charged = list(charged)
        call = Call("tools/call", {"name": f"trips_{tool}", "arguments": arguments}, client=ABLE, ask=ask)
        in_session = await host.dispatch(call)
    for result in (outcome, in_session):
        assert isinstance(result, ToolResult)
        assert result.value == value
    assert len(played.asked) == rounds
    assert rounds_charged == (["Ada"] if tool == "book" else [])
