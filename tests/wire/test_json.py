"""Rows A of the attacks: what is no JSON, no JSON-RPC, or too much of either. Nothing of it may end the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.pool import CONFIG, Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

LEAKS = ("pydantic", "Traceback", "jiter", "line 1 column", "int_max_str", "sys.", ".py", "validation error", "http")
"""What the answer to nonsense must not betray of the machinery (A-2, A-8, D-4)."""


def ping(**changes: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping"} | changes


def call(raw_arguments: str, wire: Wire) -> bytes:
    """A call of `echo` whose arguments are written by hand."""
    meta = json.dumps(modern_meta() if wire.modern else {})
    return (
        '{"jsonrpc":"2.0","id":"hand-made","method":"tools/call","params":'
        f'{{"name":"fixture_echo","arguments":{raw_arguments},"_meta":{meta}}}}}\n'
    ).encode()


async def refusal(wire: Wire, raw: bytes) -> dict[str, Any]:
    """Send a line that must be refused without an id; return the error, having seen that the host goes on."""
    await wire.send_raw(raw.rstrip(b"\n") + b"\n")
    answer = await wire.receive()
    assert answer.get("id") is None
    error: dict[str, Any] = answer["error"]
    assert "\n" not in error["message"]
    assert not [leak for leak in LEAKS if leak in json.dumps(error)]
    assert await wire.settle() == []
    return error


@pytest.mark.requirement("ERR-01", "ERR-09", "MSG-02")
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"{bad", id="A-1 not JSON"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping"', id="A-1 cut off"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}', id="A-1 something after it"),
        pytest.param(b"{'jsonrpc':'2.0'}", id="A-1 wrong quotes"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping",}', id="A-1 comma at the end"),
        pytest.param(b"\x00", id="A-1 NUL"),
        pytest.param(b"[" * 100_000, id="A-6 deep and unfinished"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="A-6 deep array"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="A-6 deep object"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', id="A-7 NaN"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', id="A-7 Infinity"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}', id="A-7 1e400"),
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', id="A-8 long id"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[' + b"9" * 5000 + b"]}", id="A-8 long number"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', id="A-11 not UTF-8"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', id="A-11 a surrogate as bytes"),
        pytest.param(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', id="A-11 BOM"),
        pytest.param('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), id="A-11 UTF-16"),
    ],
)
async def test_what_is_no_json_is_a_parse_error(wire: Wire, raw: bytes) -> None:
    assert (await refusal(wire, raw))["code"] == -32700


@pytest.mark.requirement("ERR-02", "ERR-09", "MSG-03", "MSG-04")
@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"foo": 1}, id="A-2 some object"),
        pytest.param({}, id="A-2 empty object"),
        pytest.param({"jsonrpc": "2.0"}, id="A-2 only the version"),
        pytest.param({"jsonrpc": "2.0", "id": 1}, id="A-2 neither method nor result"),
        pytest.param({"jsonrpc": "2.0", "result": {}}, id="A-2 a result of nothing"),
        pytest.param([], id="A-3 empty array"),
        pytest.param(None, id="null"),
        pytest.param("ping", id="string"),
        pytest.param(5, id="number"),
        pytest.param(ping(id=None), id="A-5 null"),
        pytest.param(ping(id=1.5), id="A-5 fraction"),
        pytest.param(ping(id=1.0), id="A-5 float"),
        pytest.param(ping(id=True), id="A-5 true"),
        pytest.param(ping(id={}), id="A-5 object"),
        pytest.param(ping(id=[1]), id="A-5 array"),
    ],
)
async def test_what_is_no_request_is_refused_without_an_id(wire: Wire, message: Any) -> None:
    assert (await refusal(wire, json.dumps(message).encode()))["code"] == -32600


@pytest.mark.requirement("MSG-09")
@pytest.mark.parametrize(
    "changes",
    [
        {"jsonrpc": None},
        {"jsonrpc": "1.0"},
        {"jsonrpc": 2.0},
        {"method": None},
        {"method": 5},
        {"method": ["ping"]},
        {"params": []},
        {"params": "x"},
        {"params": 5},
    ],
)
async def test_a_malformed_request_with_an_id_gets_its_id_back(wire: Wire, changes: dict[str, Any]) -> None:
    """JSON-RPC 2.0, section 5; a client that gets no id back waits for ever."""
    wire.expect("mine")
    await wire.send({**ping(id="mine"), **changes})
    answer = await wire.answer("mine")
    assert answer["error"]["code"] in {-32600, -32602}
    assert not [leak for leak in LEAKS if leak in json.dumps(answer)]


@pytest.mark.requirement("SEC-07")
@pytest.mark.parametrize("key", ["id", "method", "jsonrpc", "params"])
async def test_a_member_that_stands_twice_is_refused(wire: Wire, key: str) -> None:
    """RFC 8259 section 4 leaves open which of the two counts, so two programs could see two different requests."""
    twice = {"id": '"id":2', "method": '"method":"tools/list"', "jsonrpc": '"jsonrpc":"2.0"', "params": '"params":{}'}
    raw = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{}},{twice[key]}}}'
    await wire.send_raw(raw.encode() + b"\n")
    answer = await wire.receive()
    assert answer["error"]["code"] in {-32600, -32700}


@pytest.mark.requirement("SEC-07")
@pytest.mark.parametrize(
    "arguments",
    ['{"text":"a","text":"b"}', '{"text":"a: b","x":[{"a":1,"\\u0061":1}]}', '{"text":"a","te\\u0078t":"a"}'],
)
async def test_a_member_that_stands_twice_inside_of_params_is_refused_under_the_id(wire: Wire, arguments: str) -> None:
    wire.expect("hand-made")
    await wire.send_raw(call(arguments, wire))
    assert (await wire.answer("hand-made"))["error"]["code"] == -32602
    assert await wire.settle() == []


@pytest.mark.parametrize("meta", [None, [], "x", 5], ids=repr)
@pytest.mark.parametrize("method", ["tools/list", "ping"])
async def test_a_meta_that_is_no_object_is_refused(session: Wire, method: str, meta: Any) -> None:
    assert (await session.error(method, {"_meta": meta}))["code"] == -32602


async def test_params_that_are_null_are_left_out(session: Wire) -> None:
    for method in ("ping", "tools/list"):
        session.expect("null")
        await session.send({"jsonrpc": "2.0", "id": "null", "method": method, "params": None})
        assert "result" in await session.answer("null")
    await session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": None})
    assert await session.settle() == []


@pytest.mark.parametrize("raw", ['"\\ud800"', '"a\\udc00b"', '"\\ud83d\\ud83d"'])
async def test_a_lone_surrogate_in_an_argument_is_refused_cleanly(wire: Wire, raw: str) -> None:
    """A-12."""
    await wire.send_raw(call(f'{{"text":{raw}}}', wire))
    answer = await wire.receive()
    assert answer["error"]["code"] in {-32700, -32602}
    assert await wire.settle() == []


@pytest.mark.requirement("TOOL-11")
async def test_a_lone_surrogate_in_a_result_is_answered(wire: Wire) -> None:
    """A-12: the answer always arrives."""
    result = await wire.call("hostile_surrogate")
    assert result["content"][0]["text"].startswith("half ")


@pytest.mark.parametrize("number", ["9" * 4000, str(2**64), str(-(2**63) - 1)])
async def test_large_integers_stay_exact(wire: Wire, number: str) -> None:
    """Section 9 of the design: integers of any size that can be read are read exactly."""
    result = await wire.call("fixture_add", a=int(number), b=0)
    assert json.loads(result["content"][0]["text"]) == int(number)


@pytest.mark.requirement("MSG-02", "STDIO-01")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("naïve, größer, 日本語, Ω", id="beyond ASCII"),
        pytest.param("🧰 and 👩‍🔧", id="beyond the basic plane"),
        pytest.param("line one\nline two\r\nline three\u2028four\u2029\x85five", id="line ends of every kind"),
        pytest.param("\x00\x01\x1b[31m\x7f", id="control characters"),
        pytest.param('"\\/{}[]', id="what JSON escapes"),
        pytest.param("", id="nothing"),
    ],
)
@pytest.mark.parametrize("escaped", [True, False])
async def test_text_comes_back_as_it_went(wire: Wire, text: str, escaped: bool) -> None:
    """Section 4: UTF-8, one message a line, whatever the text holds."""
    arguments = json.dumps({"text": text}, ensure_ascii=escaped)
    wire.expect("hand-made")
    await wire.send_raw(call(arguments, wire))
    answer = await wire.answer("hand-made")
    assert answer["result"]["content"][0]["text"] == text


async def test_lines_may_end_in_cr_lf_and_blank_lines_mean_nothing(wire: Wire) -> None:
    """Section 4."""
    wire.expect("hand-made")
    await wire.send_raw(b"\n\r\n   \n" + call('{"text":"x"}', wire).replace(b"\n", b"\r\n") + b"\n")
    assert (await wire.answer("hand-made"))["result"]["content"][0]["text"] == "x"
    assert await wire.settle() == []


@pytest.mark.requirement("STDIO-12")
async def test_a_line_may_come_in_pieces_and_many_at_once(wire: Wire) -> None:
    raw = call('{"text":"in pieces"}', wire)
    wire.expect("hand-made")
    for start in range(0, len(raw), 50):
        await wire.send_raw(raw[start : start + 50])
    assert (await wire.answer("hand-made"))["result"]["content"][0]["text"] == "in pieces"
    raws = [raw.replace(b"hand-made", f"n{number}".encode()) for number in range(20)]
    for number in range(20):
        wire.expect(f"n{number}")
    await wire.send_raw(b"".join(raws))
    for number in range(20):
        assert "result" in await wire.answer(f"n{number}")


def resident(wire: Wire) -> int:
    """MiB of memory that the host's process holds."""
    status = Path(f"/proc/{wire.process.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
async def test_ten_megabytes_in_one_argument_are_served_and_given_back(pool: Pool, modern: bool) -> None:
    """A-18. Within the limit that is configured; five such calls leave nothing behind: the memory returns."""
    big = "x" * 10_000_000
    async with pool.new(CONFIG + "\n[plugins.stdio]\nmax_message_bytes = 11_000_000\n") as wire:
        await wire.initialize()
        before = resident(wire)
        for _ in range(5):
            assert (await wire.call("fixture_length", text=big, modern=modern))["content"][0]["text"] == "10000000"
        await wire.settle()
        assert resident(wire) - before < 25  # the C library keeps up to twice the size of what was freed


@pytest.mark.requirement("SEC-03")
@pytest.mark.parametrize("id_first", [True, False])
async def test_a_line_beyond_the_limit_is_refused_under_its_id_and_not_kept(wire: Wire, id_first: bool) -> None:
    """Section 4: -32700, and the host goes on; a client that gets no id back waits for ever."""
    before = resident(wire)
    params = b'"method":"ping","params":{"id":1,"x":"' + b"x" * 40_000_000 + b'"}'
    own = b'"jsonrpc":"2.0","id":"big"'
    wire.expect("big")
    await wire.send_raw(b"{%b}\n" % b",".join((own, params) if id_first else (params, own)))
    error = (await wire.answer("big"))["error"]
    assert error["code"] == -32700
    assert "[plugins.stdio] max_message_bytes" in error["message"]
    assert await wire.settle() == []
    assert resident(wire) - before < 40  # the limit, twice; and what the C library keeps


async def test_a_notification_beyond_the_limit_is_not_answered(wire: Wire) -> None:
    await wire.send_raw(b'{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"' + b"x" * 11_000_000 + b'"}}\n')
    assert await wire.settle() == []
    assert "ignored a notification that is longer than [plugins.stdio] max_message_bytes" in wire.stderr


async def test_six_megabytes_in_one_argument_are_served_by_default(wire: Wire) -> None:
    """As bytes in base64, too."""
    assert (await wire.call("fixture_length", text="x" * 8 * 2**20))["content"][0]["text"] == str(8 * 2**20)


@pytest.mark.requirement("STDIO-01", "STDIO-12")
async def test_ten_megabytes_come_back_in_one_line(wire: Wire) -> None:
    assert len((await wire.call("fixture_large", size=10_000_000))["content"][0]["text"]) == 10_000_000
