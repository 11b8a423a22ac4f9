"""tools/call: results, errors, and what may be seen of them. Sections 8 and 11.3, clients.md 21 and 22, D-1, D-4."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.hostile_kit import CANARY, ERRORS, OUTBURSTS
from tests.support.pool import CONFIG, Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

LEAKS = ("pydantic", "Traceback", "errors.pydantic.dev", "fixture_kit", "hostile_kit", ".py", "File ", "<", "http")


def text(result: dict[str, Any]) -> str:
    """The one text of a result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    found: str = block["text"]
    return found


async def test_a_text_is_the_result(every: Wire) -> None:
    result = await every.call("fixture_echo", text="x")
    assert text(result) == "x"
    assert not result.get("isError")
    assert "structuredContent" not in result


async def test_arguments_become_what_the_signature_says(every: Wire) -> None:
    assert text(await every.call("fixture_add", a=2, b=3)) == "5"
    assert text(await every.call("fixture_add", a=2)) == "3"
    shape = await every.call("fixture_shape", points=[{"x": 1, "y": 2.5}], meta={"a": [None, True]})
    assert json.loads(text(shape)) == {"count": 1, "meta": {"a": [None, True]}}


async def test_arguments_may_be_left_out(every: Wire) -> None:
    assert text(await every.result("tools/call", {"name": "fixture_greet"})) == "hello you"


@pytest.mark.requirement("TOOL-16")
async def test_a_tool_that_returns_nothing_still_has_content(every: Wire) -> None:
    """clients.md 22: `content` is always there."""
    result = await every.call("fixture_nothing")
    assert isinstance(result["content"], list)
    assert not result.get("isError")


async def test_the_configuration_reaches_the_tool(pool: Pool) -> None:
    async with pool.new(CONFIG + '\n[toolkits.fixture]\ngreeting = "moin"\n') as wire:
        assert text(await wire.call("fixture_greet", name="du", modern=True)) == "moin du"


# --- structured results


@pytest.mark.requirement("TOOL-17")
@pytest.mark.parametrize(
    ("revision", "structured"),
    [("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), ("2025-11-25", True), ("2026-07-28", True)],
)
async def test_an_object_is_sent_as_structured_content_and_as_text(pool: Pool, revision: str, structured: bool) -> None:
    """Section 11.3, clients.md 21: the recorder holds it against the schema that was listed."""
    wire = await pool.get(revision)
    await wire.result("tools/list")
    result = await wire.call("fixture_point", x=1, y=2.5)
    assert json.loads(text(result)) == {"x": 1.0, "y": 2.5, "label": None}
    assert ("structuredContent" in result) is structured
    if structured:
        assert result["structuredContent"] == {"x": 1.0, "y": 2.5, "label": None}


@pytest.mark.requirement("TOOL-17", "TOOL-19")
@pytest.mark.parametrize(("tool", "arguments", "value"), [("numbers", {"count": 3}, [0, 1, 2]), ("add", {"a": 1}, 2)])
async def test_other_values_are_structured_only_in_the_modern_era(
    every: Wire, tool: str, arguments: dict[str, Any], value: Any
) -> None:
    """Section 11.3, clients.md 22: a list as structuredContent fails in every client of a session."""
    await every.result("tools/list")
    result = await every.call(f"fixture_{tool}", **arguments)
    assert json.loads(text(result)) == value
    if every.modern:
        assert result["structuredContent"] == value
    else:
        assert isinstance(result.get("structuredContent", {}), dict)


@pytest.mark.requirement("TOOL-11", "TOOL-18")
@pytest.mark.parametrize("tool", ["not_a_number", "unserialisable", "broken_promise"])
async def test_a_result_that_cannot_be_sent_as_promised_is_a_failed_call(wire: Wire, tool: str) -> None:
    """Section 11.3: never data that does not fit, which the recorder would see; and no secrets."""
    await wire.result("tools/list")
    result = await wire.call(f"hostile_{tool}")
    assert result["isError"] is True
    assert not [leak for leak in LEAKS if leak in text(result)]


# --- what goes wrong


@pytest.mark.requirement("TOOL-05", "TOOL-12")
@pytest.mark.parametrize(
    "name",
    ["fixture_missing", "echo", "Fixture.Echo", "FIXTURE_ECHO", "fixture_Echo", "", "fixture_echo ", "*", "../x"],
)
async def test_an_unknown_tool_is_a_protocol_error(every: Wire, name: str) -> None:
    """Section 8; a tool is called by its name on the wire and by nothing else."""
    error = await every.error("tools/call", {"name": name, "arguments": {}})
    assert error["code"] == -32602


@pytest.mark.requirement("TOOL-13")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"arguments": {}},
        {"name": 5},
        {"name": None},
        {"name": ["fixture_echo"]},
        {"name": "fixture_echo", "arguments": []},
        {"name": "fixture_echo", "arguments": "text=x"},
        {"name": "fixture_echo", "arguments": 0},
        {"name": "fixture_echo", "arguments": False},
    ],
)
async def test_a_malformed_call_is_a_protocol_error(every: Wire, params: dict[str, Any]) -> None:
    assert (await every.error("tools/call", params))["code"] == -32602


@pytest.mark.requirement("TOOL-08", "TOOL-14")
@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("echo", {}, ["text"]),
        ("echo", {"text": 5}, ["text"]),
        ("echo", {"text": None}, ["text"]),
        ("echo", {"text": "x", "extra": 1}, ["extra"]),
        ("add", {"a": "one", "b": -1}, ["a", "b"]),
        ("add", {"a": 1.5}, ["a"]),
        ("shape", {"points": [{"x": 1}]}, ["points", "y"]),
        ("point", {"x": "NaN?", "y": 1}, ["x"]),
    ],
)
async def test_arguments_that_do_not_fit_are_a_failed_call_that_says_why(
    every: Wire, tool: str, arguments: dict[str, Any], named: list[str]
) -> None:
    """Section 8 and trap 39: the model must see it and mend it, in every era; D-4: without the machinery's words."""
    result = await every.call(f"fixture_{tool}", **arguments)
    assert result["isError"] is True
    assert all(re.search(rf"\b{name}\b", text(result)) for name in named)
    assert not [leak for leak in LEAKS if leak in text(result)]


@pytest.mark.requirement("TOOL-15")
async def test_what_a_tool_raises_on_purpose_reaches_the_model(every: Wire) -> None:
    result = await every.call("fixture_refuse", reason="too heavy")
    assert result["isError"] is True
    assert "refused: too heavy" in text(result)
    assert CANARY not in json.dumps(result)


@pytest.mark.requirement("TOOL-15")
async def test_advice_for_the_next_attempt_reaches_the_model(every: Wire) -> None:
    result = await every.call("fixture_try_again")
    assert result["isError"] is True
    assert "too early" in text(result)
    assert "Try it later." in text(result)


async def test_a_fatal_error_reaches_the_model(every: Wire) -> None:
    result = await every.call("fixture_give_up")
    assert result["isError"] is True
    assert "beyond repair" in text(result)


@pytest.mark.requirement("ERR-08")
@pytest.mark.parametrize("tool", ["crash", "crash_later"])
async def test_what_a_tool_raises_by_accident_is_masked_under_an_id_of_the_log(pool: Pool, tool: str) -> None:
    """D-1: the text stays in the log, under an id that the answer carries."""
    async with pool.new() as wire:
        result = await wire.call(f"fixture_{tool}", modern=True)
        assert result["isError"] is True
        assert CANARY not in json.dumps(result)
        await wire.close()
        ids = [word for word in re.findall(r"\b[0-9a-f]{8,}\b", json.dumps(result)) if word in wire.stderr]
        assert ids
        assert CANARY in wire.stderr
        assert f"fixture_{tool}" in wire.stderr


@pytest.mark.requirement("ERR-08")
async def test_two_accidents_have_two_ids(wire: Wire) -> None:
    first, second = [json.dumps((await wire.call("fixture_crash"))["content"]) for _ in range(2)]
    assert first != second


@pytest.mark.requirement("TOOL-15")
@pytest.mark.parametrize("kind", OUTBURSTS)
@pytest.mark.parametrize("tool", ["burst", "burst_async", "burst_inline"])
async def test_what_no_tool_should_raise_loses_that_call_only(wire: Wire, tool: str, kind: str) -> None:
    """Section 9 of the design: out of a task, SystemExit and KeyboardInterrupt would end the event loop."""
    waiting = await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {}})
    result = await wire.call(f"hostile_{tool}", kind=kind)
    assert result["isError"] is True
    assert CANARY not in json.dumps(result)
    assert await wire.settle() == []
    await wire.call("fixture_release")
    assert text((await wire.answer(waiting))["result"]) == "released"


@pytest.mark.requirement("ERR-04", "ERR-07", "MSG-10")
@pytest.mark.parametrize("kind", ERRORS)
async def test_an_error_that_is_wrong_itself_is_still_answered_with_one(wire: Wire, kind: str) -> None:
    """The recorder sees that it is a right one. What a tool raises stays the tool's failure where it can."""
    answer = await wire.request("tools/call", {"name": "hostile_misreport", "arguments": {"kind": kind}})
    assert CANARY not in json.dumps(answer)
    if kind in {"code", "data"}:
        assert "error" in answer
    else:
        assert answer["result"]["isError"] is True


@pytest.mark.requirement("TOOL-25")
async def test_a_task_is_not_asked_for_by_those_who_may(wire: Wire) -> None:
    """Sections 10.2 and 10.3: without the capability a request for a task is served as if it were none."""
    params = {"name": "fixture_echo", "arguments": {"text": "x"}, "task": {"ttl": 1000}}
    assert text(await wire.result("tools/call", params)) == "x"


async def test_the_call_knows_itself(every: Wire) -> None:
    answer = await every.request("tools/call", {"name": "fixture_about", "arguments": {}}, id="my-id")
    about = json.loads(text(answer["result"]))
    assert about["tool"] == "fixture_about"
    assert about["request_id"] == "my-id"
    assert about["revision"] == (every.conversation.revision or "2026-07-28")
    assert about["client"] == ("" if every.modern else "wire")


# --- side by side


async def test_a_call_that_blocks_a_thread_holds_up_no_other(wire: Wire) -> None:
    """F-5."""
    blocked = [await wire.begin("tools/call", {"name": "fixture_block", "arguments": {}}) for _ in range(5)]
    assert text(await wire.call("fixture_echo", text="meanwhile")) == "meanwhile"
    assert text(await wire.call("fixture_open_gate")) == "open"
    for request_id in blocked:
        assert text((await wire.answer(request_id))["result"]) == "through"


async def test_calls_are_answered_as_they_end(wire: Wire) -> None:
    slow = await wire.begin("tools/call", {"name": "fixture_wait", "arguments": {}})
    fast = await wire.begin("tools/call", {"name": "fixture_echo", "arguments": {"text": "first"}})
    assert text((await wire.answer(fast))["result"]) == "first"
    await wire.call("fixture_release")
    assert text((await wire.answer(slow))["result"]) == "released"
