"""What is no JSON, and what is no message (rows A): refused in every era, and nothing of it ends the process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http import LEAKS, Served
from tests.support.http_mcp import JSON_FIELDS, Session, ask, call, exchange, message, mirrored, modern

pytestmark = pytest.mark.asyncio(loop_scope="session")


def request(**changes: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"} | changes).encode()


@pytest.mark.requirement("ERR-01", "ERR-02", "HTTP-08", "MSG-02", "MSG-03", "MSG-04", "SEC-07")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", -32700, id="nothing"),
        pytest.param(b"{bad", -32700, id="A-1"),
        pytest.param(b"[" * 30_000, -32700, id="A-6 unfinished"),
        pytest.param(b"[" * 30_000 + b"]" * 30_000, -32700, id="A-6"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, id="A-7 NaN"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', -32700, id="A-7 Infinity"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}', -32700, id="A-7 1e400"),
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', -32700, id="A-8"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, id="A-11 not UTF-8"),
        pytest.param(b"\xef\xbb\xbf" + request(), -32700, id="A-11 BOM"),
        pytest.param(request().decode().encode("utf-16"), -32700, id="A-11 UTF-16"),
        pytest.param(b'{"foo":1}', -32600, id="A-2"),
        pytest.param(b'{"jsonrpc":"2.0"}', -32600, id="A-2 only the version"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', -32600, id="A-2 neither method nor result"),
        pytest.param(b"[]", -32600, id="A-3"),
        pytest.param(b"null", -32600, id="null"),
        pytest.param(b'"x"', -32600, id="string"),
        pytest.param(request(id=None), -32600, id="A-5 null"),
        pytest.param(request(id=1.5), -32600, id="A-5 fraction"),
        pytest.param(request(id=True), -32600, id="A-5 true"),
        pytest.param(request(id={}), -32600, id="A-5 object"),
        pytest.param(request(jsonrpc="1.0"), -32600, id="version"),
        pytest.param(request(method=5), -32600, id="method"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600, id="twice"),
    ],
)
@pytest.mark.parametrize("era", ["outside", "session", "modern"])
async def test_what_is_no_message(strict: Served, body: bytes, code: int, era: str) -> None:
    fields = list(JSON_FIELDS)
    if era == "session":
        session = Session(strict)
        await session.open()
        fields = session.fields()
    elif era == "modern":
        fields += [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "ping")]
    async with await strict.connect() as line:
        done = await exchange(line, body, fields)
        assert done.refused == (400, code)
        text = done.last["error"]["message"]
        assert "\n" not in text
        assert not [leak for leak in LEAKS if leak in text]
        assert (await line.request("GET", "/healthz")).status == 200  # the connection goes on


@pytest.mark.requirement("SEC-07")
@pytest.mark.parametrize("params", [b'{"a":{"b":1,"b":1},"c":"x: y"}', b'{"_meta":[]}', b'{"_meta":null}'])
@pytest.mark.parametrize("era", ["session", "modern"])
async def test_params_that_can_be_read_in_two_ways_and_a_meta_that_is_no_object(
    strict: Served, params: bytes, era: str
) -> None:
    fields = [*JSON_FIELDS, ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")]
    if era == "session":
        session = Session(strict)
        await session.open()
        fields = session.fields()
    body = b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":%b}' % params
    async with await strict.connect() as line:
        done = await exchange(line, body, fields)
    assert done.refused == (200 if era == "session" else 400, -32602)
    assert done.last["id"] == 7


async def test_params_that_are_null_are_left_out(strict: Served) -> None:
    session = Session(strict)
    await session.open()
    for method in ("ping", "tools/list"):
        assert "result" in (await session.post(message(method) | {"params": None})).last


@pytest.mark.requirement("ERR-01")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * 100_000, id="unfinished"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="arrays"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="objects"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
            id="in a message",
        ),
    ],
)
async def test_what_is_nested_too_deeply(served: Served, body: bytes) -> None:
    """A-6, within the limit on size."""
    async with await served.connect() as line:
        assert (await exchange(line, body)).refused == (400, -32700)
        assert (await line.request("GET", "/healthz")).status == 200


async def test_half_a_character(strict: Served) -> None:
    """A-12: refused in an argument; in a result it becomes something that can be sent."""
    one = modern(call("fixture_echo", {"text": "PLACE"}))
    body = json.dumps(one).replace("PLACE", "\\ud83d").encode()
    async with await strict.connect() as line:
        assert (await exchange(line, body, mirrored(one))).refused == (400, -32700)
    assert "half" in (await ask(strict, call("hostile_surrogate"))).result["content"][0]["text"]


@pytest.mark.parametrize("kind", ["SystemExit", "KeyboardInterrupt", "CancelledError", "GeneratorExit"])
@pytest.mark.parametrize("tool", ["hostile_burst", "hostile_burst_async", "hostile_burst_inline"])
async def test_a_tool_that_raises_what_no_tool_should(strict: Served, tool: str, kind: str) -> None:
    assert (await ask(strict, call(tool, {"kind": kind}))).result["isError"] is True
    session = Session(strict)
    await session.open()
    assert (await session.post(call(tool, {"kind": kind}))).result["isError"] is True


@pytest.mark.requirement("ERR-08")
async def test_nothing_tells_what_the_server_is_made_of(strict: Served) -> None:
    answers = [
        await strict.request("GET", "/healthz"),
        await strict.request("GET", "/nothing"),
        await strict.request("POST", "/mcp", JSON_FIELDS, b"{"),
        (await ask(strict, message("tools/list"))).answer,
        (await ask(strict, call("fixture_count", token="p"))).answer,
    ]
    async with await strict.connect() as line:
        await line.send(b"nonsense\r\n\r\n")
        answers.append(await line.answer())
    for answer in answers:
        assert answer.get("Server") == "pegboard"
