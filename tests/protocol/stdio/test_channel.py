"""The channel: lines, their limits, printing tools, and clients that send or read too slowly or too fast."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegboard import Host, Toolkit
from pegboard.types import LOCAL
from pegboard_plugins.protocols.mcp import message_stream
from tests.protocol.stdio.conftest import New
from tests.support.hostile_kit import SAID
from tests.support.http_mcp import message, modern, opening
from tests.support.memory_client import MemoryClient
from tests.support.peer import modern_meta
from tests.support.wire import Wire

PRINTING = ["say", "say_unflushed", "write_descriptor", "write_from_c", "run_child"]


def call(tool: str, request_id: Any = "mine", *, era: str = "session", **arguments: Any) -> bytes:
    return call_of(f"fixture_{tool}", request_id, {} if era == "session" else {"_meta": modern_meta()}, **arguments)


def call_of(name: str, request_id: Any, meta: Mapping[str, Any] = {}, **arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments, **meta}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}).encode() + b"\n"


@pytest.mark.requirement("STDIO-01", "STDIO-03", "STDIO-12")
async def test_lines_may_end_in_cr_lf_be_blank_come_in_pieces_and_many_at_once(wire: Wire) -> None:
    blank = b"\n\r\n   \n" + call("echo", 0, text="x").replace(b"\n", b"\r\n")
    pieces = call("echo", 1, text="x")
    many = [call("echo", number, text="x") for number in range(2, 20)]
    for request_id in range(20):
        wire.expect(request_id)
    for raw in (blank, *(pieces[start : start + 50] for start in range(0, len(pieces), 50)), b"".join(many)):
        await wire.send_raw(raw)
    for request_id in range(20):
        assert (await wire.answer(request_id))["result"]["content"][0]["text"] == "x"
    assert await wire.settle() == []
    await wire.close()
    assert wire.stderr == ""  # all is well


@pytest.mark.requirement("SEC-03")
async def test_a_line_beyond_the_limit_is_refused_under_its_id_and_not_kept(wire: Wire) -> None:
    before = wire.memory()
    params = b'"method":"ping","params":{"id":1,"x":"' + b"x" * 40_000_000 + b'"}'
    own = b'"jsonrpc":"2.0","id":"big"'
    for members in ((own, params), (params, own)):
        wire.expect("big")
        await wire.send_raw(b"{%b}\n" % b",".join(members))
        error = (await wire.answer("big"))["error"]
        assert error["code"] == -32700
        assert "[plugins.stdio] max_message_bytes" in error["message"]
    await wire.send_raw(b'{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"' + b"x" * 11_000_000 + b'"}}\n')
    assert await wire.settle() == []
    assert wire.memory() - before < 40 * 2**20  # the limit, twice; and what the C library keeps
    await wire.close()
    assert "notification ignored: it is longer than [plugins.stdio] max_message_bytes" in wire.stderr


@pytest.mark.requirement("STDIO-05", "UTIL-04", "UTIL-06")
async def test_a_cancellation_in_the_same_write_cancels_a_call_of_either_era_but_not_the_handshake(new: New) -> None:
    """The notification `initialized` may come late, or never."""
    lines = [
        json.dumps(opening(id="i")).encode() + b"\n",
        call("wait", "l", label="l"),
        call("wait", "m", era="2026-07-28"),
    ]
    async with new() as wire:
        wire.expect("i")
        for line, request_id in zip(lines, "ilm", strict=True):
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
            await wire.send_raw(line + json.dumps(cancel).encode() + b"\n")
        assert (await wire.answer("i"))["result"]["protocolVersion"] == "2025-11-25"
        assert await wire.settle() == []


@pytest.mark.requirement("ERA-12", "ERA-14")
async def test_an_unsupported_version_is_refused_before_its_method(new: New) -> None:
    async with new() as wire:
        served = (await wire.result("server/discover", modern=True))["supportedVersions"]
        for version in ("9999-12-31", "", "2025-11-25"):
            for method in ("tools/list", "no/such"):
                error = await wire.error(method, {"_meta": modern_meta(version)}, modern=False)
                assert (error["code"], error["data"]) == (-32022, {"supported": served, "requested": version})


@pytest.mark.requirement("STDIO-02")
async def test_prints_of_tools_stay_off_the_channel_and_are_logged_with_the_tool(wire: Wire) -> None:
    """The recorder would refuse the line; responses in between are whole."""
    for tool in PRINTING:
        assert not (await wire.call(f"hostile_{tool}")).get("isError")
    names = [f"hostile_{PRINTING[turn % 3]}" for turn in range(30)]
    request_ids = [await wire.begin("tools/call", {"name": name, "arguments": {}}) for name in names]
    for request_id in request_ids:
        assert "result" in await wire.answer(request_id)
    assert await wire.settle() == []
    await wire.close()
    for tool in PRINTING:
        assert [line for line in wire.stderr.splitlines() if SAID in line and f"hostile_{tool}" in line], tool


PRINTERS = """
import asyncio, os
from pegboard import Toolkit

kit, end = Toolkit("print"), asyncio.Event()

@kit.tool(inline=True)
def red() -> None:
    'Write a line.'
    os.write(1, b"red line\\n")

@kit.tool(inline=True)
def blue() -> None:
    'Write an incomplete line.'
    os.write(1, b"blue end")

@kit.tool
async def late() -> None:
    'Write a line after another tool has ended.'
    await end.wait()
    os.write(1, b"late line\\n")

@kit.tool(inline=True)
def let_late_end() -> None:
    'Let the tool `late` write.'
    asyncio.get_running_loop().call_later(0.01, end.set)
"""


@pytest.mark.parametrize("together", [True, False])
async def test_output_is_logged_under_the_tool_that_wrote_it(
    command: tuple[str, ...], tmp_path: Path, together: bool
) -> None:
    file = tmp_path / "printers.py"
    file.write_text(PRINTERS)
    tools = ["red", "blue", "red", "red", "blue", "late", "let_late_end"]
    calls = [call_of(f"print_{tool}", number) for number, tool in enumerate(tools)]
    async with Wire(command, [str(file)]) as wire:
        await wire.initialize()
        for number in range(len(tools)):
            wire.expect(number)
        if together:
            await wire.send_raw(b"".join(calls))
        for number, tool in enumerate(tools):
            if not together:
                await wire.send_raw(calls[number])
            if tool != "late":
                assert "result" in await wire.answer(number)
        await wire.answer(tools.index("late"))
        await wire.close()
    logged = [line.partition("pegboard.stdout: ")[2] for line in wire.stderr.splitlines()]
    mark = "printed to standard output:"
    assert Counter(logged) == {
        f"tool print_red {mark} red line": 3,
        f"tool print_blue {mark} blue end": 2,
        f"tool print_late {mark} late line": 1,
    }


async def test_tools_read_nothing_from_the_channel(wire: Wire) -> None:
    for tool in ("read_input", "child_reads_input"):
        request_id = await wire.begin("tools/call", {"name": f"hostile_{tool}", "arguments": {}})
        following = await wire.begin("tools/call", {"name": "fixture_echo", "arguments": {"text": "mine"}})
        assert (await wire.answer(request_id))["result"]["content"][0]["text"] == "''"
        assert (await wire.answer(following))["result"]["content"][0]["text"] == "mine"


def waiting() -> Host:
    """Return a host with a tool that never ends by itself."""
    kit = Toolkit("slow")

    @kit.tool
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    return Host({"host": {"autoload": False}}, toolkits={"slow": kit})


@pytest.mark.requirement("SEC-03")
async def test_requests_above_the_limit_are_refused_and_the_connection_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_stream, "MAX_REQUESTS_IN_FLIGHT", 3)
    monkeypatch.setattr(message_stream, "MAX_CAPACITY_WAIT_SECONDS", 0.01)
    calls = [message("tools/call", {"name": "slow_wait"}, id=number) for number in range(4)]
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
    client = MemoryClient(finishes=False)
    sent = client.messages(opening(id="i"), *calls, cancel, message("ping", id="p"))
    async with waiting() as host:
        await host.serve(client, sent, caller=LOCAL)
    answers = {answer["id"]: answer for answer in client.sent}
    assert set(answers) == {"i", 3, "p"}
    assert "3 requests are in flight" in str(answers[3]["error"])


@pytest.mark.requirement("LISTEN-05", "LISTEN-06")
async def test_the_end_of_a_connection_ends_its_subscriptions() -> None:
    client = MemoryClient(finishes=False)
    listen = modern(message("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l"))
    async with waiting() as host:
        await host.serve(client, client.messages(listen), caller=LOCAL)
        assert [sent.get("method", sent.get("id")) for sent in client.sent] == [
            "notifications/subscriptions/acknowledged",
            "l",
            "notifications/cancelled",
        ]
