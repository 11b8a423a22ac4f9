"""Calls of tools: arguments, results, errors, options; and definitions that are invalid."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.conftest import Start
from tests.support import unruly_kit
from tests.support.hostile_kit import CANARY, ERRORS
from tests.support.mcp_client import NEWEST, McpClient, McpServer, text_of, values
from tests.support.peer import META
from tests.support.pool import make_site

LEAKS = ("pydantic", "Traceback", "errors.pydantic.dev", "fixture_kit", "hostile_kit", ".py", "File ", "<", "http")


@pytest.mark.requirement("TOOL-16", "TOOL-25")
async def test_arguments_and_results(every: McpClient) -> None:
    result = await every.call("fixture_echo", text="x")
    assert (result["content"], result.get("isError")) == ([{"type": "text", "text": "x"}], False)
    assert "structuredContent" not in result
    assert await every.text("fixture_add", a=2) == "3"
    shape = await every.text("fixture_shape", points=[{"x": 1, "y": 2.5}], meta={"a": [None, True]})
    assert json.loads(shape) == {"count": 1, "meta": {"a": [None, True]}}
    task = {"name": "fixture_greet", "task": {"ttl": 1000}}  # a task without the capability is an ordinary call
    assert text_of(await every.result("tools/call", task)) == "hello you"
    about = json.loads((await every.request("tools/call", {"name": "fixture_about"}, id="mine")).text)
    assert (about["tool"], about["request_id"], about["revision"]) == ("fixture_about", "mine", every.revision)
    assert about["client"] == ("" if every.modern else "wire")


@pytest.mark.requirement("TOOL-17", "TOOL-19")
async def test_structured_content_is_sent_as_far_as_the_revision_has_it(every: McpClient) -> None:
    """Before 2026-07-28, values are wrapped in an object. The recorder compares them with the listed schema."""
    await every.result("tools/list")
    for tool, arguments, value in (
        ("point", {"x": 1, "y": 2.5}, {"x": 1.0, "y": 2.5, "label": None}),
        ("numbers", {"count": 3}, [0, 1, 2]),
        ("add", {"a": 1}, 2),
    ):
        result = await every.call(f"fixture_{tool}", **arguments)
        assert json.loads(text_of(result)) == value
        wraps = not every.modern and not isinstance(value, dict)
        expected = {"result": value} if wraps else value
        assert result.get("structuredContent") == (expected if every.since("2025-06-18") else None)


@pytest.mark.requirement("TOOL-11", "TOOL-18")
async def test_a_result_that_cannot_be_sent_as_declared_is_a_failed_call(either: McpClient) -> None:
    await either.result("tools/list")
    for tool in ("not_a_number", "unserialisable", "broken_promise", "no_text"):
        result = await either.call(f"hostile_{tool}")
        assert result["isError"] is True
        assert not [leak for leak in LEAKS if leak in text_of(result)]


@pytest.mark.requirement("TOOL-05", "TOOL-12", "TOOL-13")
async def test_unknown_tools_and_malformed_calls_are_protocol_errors(either: McpClient) -> None:
    names = ("fixture_missing", "echo", "Fixture.Echo", "fixture_Echo", "", "fixture_echo ", "*", "../x")
    wrong: list[dict[str, Any]] = [{"name": name, "arguments": {}} for name in names]
    if not either.modern:
        wrong += [{}, {"name": 5}, {"name": None}, {"name": ["fixture_echo"]}]
    wrong += [{"name": "fixture_echo", "arguments": value} for value in values([], "text=x", 0, False)]
    for params in wrong:
        reply = await either.request("tools/call", params)
        assert (reply.error["code"], reply.status) == (-32602, 200), params


@pytest.mark.requirement("TOOL-08", "TOOL-14")
async def test_invalid_arguments_are_a_failed_call_that_names_them(either: McpClient) -> None:
    """The model must see and mend it; without the words of the validation library."""
    cases: list[tuple[str, dict[str, Any], list[str]]] = [
        ("echo", {}, ["text"]),
        ("echo", {"text": None}, ["text"]),
        ("echo", {"text": "x", "extra": 1}, ["extra"]),
        ("add", {"a": "one", "b": -1}, ["a", "b"]),
        ("shape", {"points": [{"x": 1}]}, ["points", "y"]),
        ("point", {"x": "NaN?", "y": 1}, ["x"]),
    ]
    for tool, arguments, named in cases:
        result = await either.call(f"fixture_{tool}", **arguments)
        assert result["isError"] is True
        assert all(re.search(rf"\b{name}\b", text_of(result)) for name in named), arguments
        assert not [leak for leak in LEAKS if leak in text_of(result)]


@pytest.mark.requirement("ERR-08", "TOOL-15", "UTIL-21")
async def test_an_accident_reaches_only_the_log(start: Start) -> None:
    """`tests/errors` has the responses to errors that tools raise on purpose."""
    async with start(host='[toolkits.fixture]\ngreeting = "moin"') as server:
        client = await server.client(NEWEST[0])
        assert await client.text("fixture_greet", name="du") == "moin du"
        await client.result("logging/setLevel", {"level": "debug"})
        for modern in (True, False):
            for tool in ("crash", "crash_later"):
                params = {"name": f"fixture_{tool}", "_meta": {f"{META}logLevel": "debug"}}
                reply = await client.request("tools/call", params, modern=modern)
                assert reply.result["isError"] is True
                assert CANARY not in json.dumps([reply.message, reply.told])
                (error_id,) = re.findall(r"\b[0-9a-f]{8,}\b", text_of(reply.result))
                await server.wait_for_stderr(error_id)
        assert CANARY in server.stderr
        assert "fixture_crash_later" in server.stderr


@pytest.mark.requirement("ERR-04", "ERR-07", "MSG-10")
async def test_an_error_that_is_malformed_itself_is_answered_with_a_sound_one(either: McpClient) -> None:
    for kind in ERRORS:
        reply = await either.request("tools/call", {"name": "hostile_misreport", "arguments": {"kind": kind}})
        assert CANARY not in json.dumps(reply.message)
        assert "error" in reply.message if kind in {"code", "data"} else reply.result["isError"] is True


async def test_a_call_that_blocks_threads_or_waits_delays_no_other(client: McpClient) -> None:
    blocked = [await client.begin_call("fixture_block", progress=True) for _ in range(30)]
    for pending in blocked:
        await pending.next()
    assert await client.text("fixture_echo", text="meanwhile") == "meanwhile"
    assert await client.text("fixture_open_gate") == "open"
    assert [await pending.text() for pending in blocked] == ["through"] * 30


async def test_an_exit_in_a_task_of_a_tool_fails_that_call_at_most(tmp_path: Path) -> None:
    async with McpServer("http", make_site(tmp_path, {"unruly": unruly_kit})) as server:
        client = await server.client(NEWEST[1])
        failed = [how for how in unruly_kit.EXITS if (await client.call("unruly_exits", how=how))["isError"]]
        assert failed[:3] == list(unruly_kit.EXITS)[:3]
        assert await client.text("unruly_nap") == "rested"


@pytest.mark.parametrize("kind", ["text", "list"])
async def test_a_result_far_beyond_the_limit_is_never_copied(sites: dict[str, Path], kind: str) -> None:
    """The tool's own result takes so much memory; a copy in any form would take as much again."""
    size = 256 * 2**20
    async with McpServer("http", sites["fixture"]) as server:
        client = await server.client(NEWEST[1])
        await client.text("fixture_echo", text="x")
        before = server.served.memory("VmHWM")
        assert "more than 10,485,760 bytes" in text_of(await client.call("hostile_flood", kind=kind, size=size))
        assert server.served.memory("VmHWM") - before < size * 1.2
