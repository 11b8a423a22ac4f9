"""The recorder refuses what a server must not send: each case is a message that real servers sent wrongly, or might."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.recorder import RECORDED, Conversation, replay
from tests.support.schemas import LEGACY, SchemaMismatch
from tests.support.wire import Wire

Message = dict[str, Any]
SERVER = {"name": "s", "version": "1"}
TEXT = {"content": [{"type": "text", "text": "x"}]}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def session(revision: str) -> Conversation:
    """A conversation whose `initialize` agreed on a revision."""
    conversation = Conversation()
    conversation.sent(line({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {}}))
    result = {"protocolVersion": revision, "capabilities": {}, "serverInfo": SERVER}
    conversation.received(line({"jsonrpc": "2.0", "id": "i", "result": result}))
    return conversation


def exchange(method: str, answer: Message, *, revision: str = "2025-11-25", params: Message | None = None) -> None:
    """Have a request answered, in the era of the revision."""
    conversation = Conversation() if revision == "2026-07-28" else session(revision)
    meta = {"_meta": modern_meta()} if revision == "2026-07-28" else {}
    conversation.sent(line({"jsonrpc": "2.0", "id": 0, "method": method, "params": {**meta, **(params or {})}}))
    conversation.received(line({"jsonrpc": "2.0", "id": 0, **answer}))


def modern_list(**more: Any) -> Message:
    return {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [TOOL], **more}}


GOOD: list[tuple[str, str, Message]] = [
    *[(revision, "ping", {"result": {}}) for revision in LEGACY],
    *[(revision, "tools/call", {"result": TEXT}) for revision in LEGACY],
    ("2026-07-28", "tools/call", {"result": {**TEXT, "resultType": "complete", "structuredContent": None}}),
    ("2026-07-28", "tools/call", {"result": {"resultType": "input_required", "requestState": "s"}}),
    ("2026-07-28", "tools/list", modern_list()),
    ("2026-07-28", "ping", {"error": {"code": -32601, "message": "no"}}),
    ("2026-07-28", "x", {"error": {"code": -32022, "message": "no", "data": {"supported": [], "requested": ""}}}),
    ("2025-11-25", "x", {"error": {"code": 7, "message": "ours"}}),
]

BAD: list[tuple[str, str, Message, str]] = [
    ("2025-11-25", "ping", {"result": []}, "object"),
    ("2025-11-25", "ping", {"result": {}, "error": {"code": -32603, "message": ""}}, "neither"),
    ("2025-11-25", "ping", {"error": {"code": "-32603", "message": ""}}, "integer"),
    ("2025-11-25", "ping", {"error": {"code": -32001, "message": ""}}, "no error"),
    ("2025-11-25", "tools/call", {"result": {"content": None}}, "content"),
    ("2025-11-25", "tools/call", {"result": {"structuredContent": {}}}, "content"),
    ("2025-11-25", "tools/call", {"result": {**TEXT, "isError": None}}, "isError"),
    ("2025-11-25", "tools/call", {"result": {**TEXT, "structuredContent": []}}, "structuredContent"),
    ("2025-11-25", "tools/call", {"result": {**TEXT, "resultType": "complete"}}, "resultType"),
    ("2025-11-25", "tools/list", {"result": {"tools": [], "nextCursor": None}}, "nextCursor"),
    ("2025-11-25", "tools/list", {"result": {"tools": [{"name": "t"}]}}, "inputSchema"),
    ("2025-11-25", "tools/list", {"result": {"tools": [{**TOOL, "title": None}]}}, "title"),
    ("2025-11-25", "tools/list", {"result": {"tools": [{**TOOL, "inputSchema": {"type": "string"}}]}}, "object"),
    (
        "2025-11-25",
        "tools/list",
        {"result": {"tools": [{**TOOL, "inputSchema": {"type": "object", "required": 1}}]}},
        "required",
    ),
    ("2024-11-05", "tools/call", {"result": {"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]}}, "audio"),
    ("2025-11-25", "server/discover", {"result": {}}, "no method"),
    ("2025-11-25", "initialize", {"result": {"protocolVersion": "2026-07-28"}}, "protocolVersion"),
    ("2026-07-28", "ping", {"result": {"resultType": "complete"}}, "no method"),
    ("2026-07-28", "tools/call", {"result": TEXT}, "resultType"),
    ("2026-07-28", "tools/call", {"result": {**TEXT, "resultType": "task"}}, "resultType"),
    ("2026-07-28", "tools/call", {"result": {**TEXT, "resultType": "complete", "ttlMs": 0}}, "ttlMs"),
    ("2026-07-28", "tools/list", {"result": {"resultType": "complete", "tools": []}}, "cacheScope|ttlMs"),
    ("2026-07-28", "tools/list", modern_list(ttlMs=0.5), "ttlMs"),
    ("2026-07-28", "tools/list", modern_list(resultType="input_required"), "input_required"),
    ("2026-07-28", "resources/read", {"error": {"code": -32002, "message": ""}}, "no error"),
    ("2026-07-28", "x", {"error": {"code": -32022, "message": "no", "data": {"supported": []}}}, "requested"),
]


@pytest.mark.parametrize(("revision", "method", "answer"), GOOD)
def test_a_right_answer_passes(revision: str, method: str, answer: Message) -> None:
    before = RECORDED[revision]
    exchange(method, answer, revision=revision)
    assert RECORDED[revision] > before


@pytest.mark.requirement("ERR-04", "ERR-05", "ERR-06", "MSG-10", "RES-03", "ROUND-18")
@pytest.mark.parametrize(("revision", "method", "answer", "fault"), BAD)
def test_a_wrong_answer_is_refused(revision: str, method: str, answer: Message, fault: str) -> None:
    with pytest.raises(SchemaMismatch, match=fault):
        exchange(method, answer, revision=revision)


@pytest.mark.requirement("LISTEN-07", "MSG-01", "MSG-08")
@pytest.mark.parametrize(
    "raw",
    [
        b"Listening ...",
        b"",
        b"\xff",
        b'{"jsonrpc":"2.0","id":0,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":0,"result":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":0,"id":0,"result":{}}',
        b'{"id":0,"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":"0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":""}}',
        b'[{"jsonrpc":"2.0","id":0,"result":{}}]',
        b"[]",
        b'{"jsonrpc":"2.0","method":"notifications/unheard"}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
    ],
)
def test_a_line_that_fits_nothing_is_refused(raw: bytes) -> None:
    conversation = session("2025-11-25")
    conversation.sent(line({"jsonrpc": "2.0", "id": 0, "method": "ping"}))
    with pytest.raises(SchemaMismatch):
        conversation.received(raw)


def test_one_request_gets_one_answer_and_an_unreadable_one_an_answer_without_an_id() -> None:
    conversation = session("2025-11-25")
    conversation.sent(line({"jsonrpc": "2.0", "id": 0, "method": "ping"}))
    conversation.received(line({"jsonrpc": "2.0", "id": 0, "result": {}}))
    with pytest.raises(SchemaMismatch, match="nobody waits"):
        conversation.received(line({"jsonrpc": "2.0", "id": 0, "result": {}}))
    conversation.sent(b"{bad")
    conversation.received(line({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "bad"}}))


@pytest.mark.requirement("UTIL-10")
@pytest.mark.parametrize("steps", [[1, 1], [2, 1]])
def test_progress_must_increase(steps: list[int]) -> None:
    conversation = session("2025-11-25")
    params = {"name": "t", "_meta": {"progressToken": 0}}
    conversation.sent(line({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params}))
    first, second = (
        line({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 0, "progress": step}})
        for step in steps
    )
    conversation.received(first)
    with pytest.raises(SchemaMismatch, match="progress went"):
        conversation.received(second)


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (TEXT, "no structuredContent"),
        ({**TEXT, "structuredContent": {"n": "1"}}, "integer"),
        ({**TEXT, "structuredContent": {"n": 1}, "isError": True}, "failed"),
    ],
)
def test_structured_content_must_fit_the_listed_schema(result: Message, fault: str) -> None:
    conversation = session("2025-11-25")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    conversation.sent(line({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}))
    listed = {"tools": [{**TOOL, "outputSchema": schema}]}
    conversation.received(line({"jsonrpc": "2.0", "id": 0, "result": listed}))
    conversation.sent(line({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}))
    with pytest.raises(SchemaMismatch, match=fault):
        conversation.received(line({"jsonrpc": "2.0", "id": 1, "result": result}))


def test_a_batch_is_refused_outside_its_revision_and_checked_within() -> None:
    answers = [{"jsonrpc": "2.0", "id": 0, "result": {}}]
    for revision, passes in (("2025-03-26", True), ("2025-06-18", False)):
        conversation = session(revision)
        conversation.sent(line([{"jsonrpc": "2.0", "id": 0, "method": "ping"}]))
        if passes:
            conversation.received(line(answers))
        else:
            with pytest.raises(SchemaMismatch, match="batch"):
                conversation.received(line(answers))


def test_a_record_of_a_tee_is_replayed() -> None:
    asked = b">" + line({"jsonrpc": "2.0", "id": 0, "method": "ping"})
    assert replay([asked, b"<" + line({"jsonrpc": "2.0", "id": 0, "result": {}})]).checked == 1
    with pytest.raises(SchemaMismatch):
        replay([asked, b"<" + line({"jsonrpc": "2.0", "id": 0, "result": None})])


# --- and the wire does pass everything through it

BABBLER = """
import sys
for line in sys.stdin:
    print({said!r}, flush=True)
"""


def babbler(said: str) -> list[str]:
    """A server that says the same to everything."""
    return [sys.executable, "-I", "-c", BABBLER.format(said=said)]


async def test_the_wire_passes_faults_to_the_test_that_waits() -> None:
    async with Wire(babbler('{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"t"}]}}')) as wire:
        with pytest.raises(SchemaMismatch, match="inputSchema"):
            await wire.request("tools/list", id=0)
    async with Wire(babbler("Listening ...")) as wire:
        await wire.notify("notifications/initialized")
        with pytest.raises(SchemaMismatch, match="not strict JSON"):
            await wire.receive()
    async with Wire([sys.executable, "-I", "-c", "raise SystemExit('out of order')"]) as wire:
        with pytest.raises(EOFError, match="out of order"):
            await wire.request("ping")


@pytest.mark.parametrize("said", ["Listening ...", '{"jsonrpc":"2.0","id":0,"result":null}'])
async def test_the_wire_raises_unread_faults_at_its_end(said: str) -> None:
    with pytest.raises(SchemaMismatch):
        async with Wire(babbler(said)) as wire:
            await wire.begin("ping", id=0)


# --- and nothing passes beside it

SPEAKING = re.compile(r"""["'](initialize|server/discover)["']|io\.modelcontextprotocol/protocolVersion""")
"""The first message of every client, in either era."""
SUPPORT = "http_mcp|mcp_client|memory_line|peer|pool|recorder|rules|sdk|wire"
RECORDED_BY = re.compile(rf"from tests\.support\.({SUPPORT}) import")
TESTS = Path(__file__).parent.parent
EXEMPT = (TESTS / "support", TESTS / "clients" / "scripts", TESTS / "host" / "testing", TESTS / "host" / "types")
"""The recorder, programs behind the tee, the client of `pegboard.testing`, and types of messages without a host."""


@pytest.mark.requirement("MSG-01")
def test_no_test_talks_to_the_host_past_the_recorder() -> None:
    """A test with its own client would receive messages without a check."""
    files = [*TESTS.rglob("*.py"), *TESTS.parent.glob("toolkits/*/tests/**/*.py")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if not set(EXEMPT) & set(file.parents)}
    speaking = [file for file, text in texts.items() if SPEAKING.search(text)]
    assert TESTS / "protocol" / "test_eras.py" in speaking
    assert [file for file in speaking if not RECORDED_BY.search(texts[file])] == []


# --- subscriptions

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def listening(*messages: Message, request_id: Any = 1) -> Conversation:
    """A conversation in which a subscription was asked for, and the host said so much."""
    conversation = Conversation()
    params = {"notifications": {"toolsListChanged": True}, "_meta": modern_meta()}
    asked = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
    conversation.sent(line(asked))
    for message in messages:
        conversation.received(line({"jsonrpc": "2.0", **message}))
    return conversation


def told(name: str, request_id: Any = 1, **params: Any) -> Message:
    return {"method": f"notifications/{name}", "params": {**params, "_meta": {SUBSCRIPTION: request_id}}}


ACKNOWLEDGED = told("subscriptions/acknowledged", notifications={"toolsListChanged": True})


def test_a_subscription_is_acknowledged_and_told() -> None:
    assert listening(ACKNOWLEDGED, told("tools/list_changed"), told("tools/list_changed")).checked == 3


@pytest.mark.parametrize(
    "messages",
    [
        [told("tools/list_changed")],
        [ACKNOWLEDGED, ACKNOWLEDGED],
        [ACKNOWLEDGED, told("tools/list_changed", "1")],
        [ACKNOWLEDGED, {"method": "notifications/tools/list_changed"}],
        [told("subscriptions/acknowledged", "1", notifications={})],
    ],
    ids=[
        "before it is acknowledged",
        "acknowledged twice",
        "an id of another type",
        "no id",
        "acknowledged by another",
    ],
)
def test_a_subscription_that_is_told_wrongly(messages: list[Message]) -> None:
    with pytest.raises(SchemaMismatch):
        listening(*messages)
