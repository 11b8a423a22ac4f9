"""The recorder rejects what a server must not send."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.recorder import RECORDED, Conversation, replay
from tests.support.rules import Added, check_error, check_result, check_sent
from tests.support.schemas import LEGACY, REVISIONS, SchemaMismatch, check, methods
from tests.support.wire import Wire

Message = dict[str, Any]
OLD, NEW = "2025-11-25", "2026-07-28"
TEXT = {"content": [{"type": "text", "text": "x"}]}


AUDIO = {"type": "audio", "data": "", "mimeType": "a/b"}


def tool(**schema: Any) -> Message:
    return {"name": "t", "inputSchema": {"type": "object", **schema}}


LISTED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [tool()]}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def session(revision: str = OLD) -> Conversation:
    """Return a conversation whose `initialize` agreed on a revision."""
    conversation = Conversation()
    conversation.sent(line(id="i", method="initialize", params={}))
    server = {"serverInfo": {"name": "s", "version": "1"}, "capabilities": {}}
    conversation.received(line(id="i", result={"protocolVersion": revision, **server}))
    return conversation


def asked(method: str, revision: str = OLD, **params: Any) -> Conversation:
    """Return a conversation in which a request waits."""
    conversation = Conversation() if revision == NEW else session(revision)
    meta = {"_meta": modern_meta()} if revision == NEW else {}
    conversation.sent(line(id=0, method=method, params={**meta, **params}))
    return conversation


@pytest.mark.parametrize(
    ("revision", "method", "answer"),
    [
        *[(revision, "ping", {"result": {}}) for revision in LEGACY],
        *[(revision, "tools/call", {"result": TEXT}) for revision in LEGACY],
        (NEW, "tools/call", {"result": {**TEXT, "resultType": "complete", "structuredContent": None}}),
        (NEW, "tools/call", {"result": {"resultType": "input_required", "requestState": "s"}}),
        (NEW, "tools/list", {"result": LISTED}),
        (NEW, "ping", {"error": {"code": -32601, "message": "no"}}),
        (NEW, "x", {"error": {"code": -32022, "message": "no", "data": {"supported": [], "requested": ""}}}),
        (OLD, "x", {"error": {"code": 7, "message": "ours"}}),
    ],
)
def test_a_right_response_passes(revision: str, method: str, answer: Message) -> None:
    before = RECORDED[revision]
    asked(method, revision).received(line(id=0, **answer))
    assert RECORDED[revision] > before


@pytest.mark.requirement("ERR-04", "ERR-05", "ERR-06", "MSG-10", "RES-03", "ROUND-18")
@pytest.mark.parametrize(
    ("revision", "method", "answer", "fault"),
    [
        (OLD, "ping", {"result": []}, "object"),
        (OLD, "ping", {"result": {}, "error": {"code": -32603, "message": ""}}, "neither"),
        (OLD, "ping", {"error": {"code": "-32603", "message": ""}}, "integer"),
        (OLD, "ping", {"error": {"code": -32001, "message": ""}}, "no error"),
        (OLD, "tools/call", {"result": {"structuredContent": {}}}, "content"),
        (OLD, "tools/call", {"result": {**TEXT, "isError": None}}, "isError"),
        (OLD, "tools/call", {"result": {**TEXT, "structuredContent": []}}, "structuredContent"),
        (OLD, "tools/call", {"result": {**TEXT, "resultType": "complete"}}, "resultType"),
        (OLD, "tools/list", {"result": {"tools": [], "nextCursor": None}}, "nextCursor"),
        (OLD, "tools/list", {"result": {"tools": [{"name": "t"}]}}, "inputSchema"),
        (OLD, "tools/list", {"result": {"tools": [{**tool(), "inputSchema": {"type": "string"}}]}}, "object"),
        (OLD, "tools/list", {"result": {"tools": [tool(required=1)]}}, "required"),
        ("2024-11-05", "tools/call", {"result": {"content": [AUDIO]}}, "audio"),
        (OLD, "server/discover", {"result": {}}, "no method"),
        (OLD, "initialize", {"result": {"protocolVersion": NEW}}, "protocolVersion"),
        (NEW, "ping", {"result": {"resultType": "complete"}}, "no method"),
        (NEW, "tools/call", {"result": TEXT}, "resultType"),
        (NEW, "tools/call", {"result": {**TEXT, "resultType": "task"}}, "resultType"),
        (NEW, "tools/call", {"result": {**TEXT, "resultType": "complete", "ttlMs": 0}}, "ttlMs"),
        (NEW, "tools/list", {"result": {"resultType": "complete", "tools": []}}, "cacheScope|ttlMs"),
        (NEW, "tools/list", {"result": {**LISTED, "ttlMs": 0.5}}, "ttlMs"),
        (NEW, "tools/list", {"result": {**LISTED, "resultType": "input_required"}}, "input_required"),
        (NEW, "resources/read", {"error": {"code": -32002, "message": ""}}, "no error"),
        (NEW, "x", {"error": {"code": -32022, "message": "no", "data": {"supported": []}}}, "requested"),
    ],
)  # fmt: skip
def test_a_wrong_response_is_rejected(revision: str, method: str, answer: Message, fault: str) -> None:
    with pytest.raises(SchemaMismatch, match=fault):
        asked(method, revision).received(line(id=0, **answer))


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
def test_an_invalid_line_is_rejected(raw: bytes) -> None:
    with pytest.raises(SchemaMismatch):
        asked("ping").received(raw)


def test_one_request_gets_one_response_and_an_unreadable_one_a_response_without_an_id() -> None:
    conversation = asked("ping")
    conversation.received(line(id=0, result={}))
    with pytest.raises(SchemaMismatch, match="nobody waits"):
        conversation.received(line(id=0, result={}))
    conversation.sent(b"{bad")
    conversation.received(line(id=None, error={"code": -32700, "message": "bad"}))


@pytest.mark.requirement("UTIL-10")
@pytest.mark.parametrize("steps", [[1, 1], [2, 1]])
def test_progress_must_increase(steps: list[int]) -> None:
    conversation = asked("tools/call", name="t", _meta={"progressToken": 0})
    first, second = (
        line(method="notifications/progress", params={"progressToken": 0, "progress": step}) for step in steps
    )
    conversation.received(first)
    with pytest.raises(SchemaMismatch, match="progress went"):
        conversation.received(second)


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({}, "no structuredContent"),
        ({"structuredContent": {"n": "1"}}, "integer"),
        ({"structuredContent": {"n": 1}, "isError": True}, "failed"),
    ],
)
def test_structured_content_must_fit_the_listed_schema(more: Message, fault: str) -> None:
    conversation = asked("tools/list")
    conversation.received(line(id=0, result={"tools": [{**tool(), "outputSchema": NUMBER}]}))
    conversation.sent(line(id=1, method="tools/call", params={"name": "t"}))
    with pytest.raises(SchemaMismatch, match=fault):
        conversation.received(line(id=1, result={**TEXT, **more}))


def test_a_batch_is_rejected_outside_its_revision_and_checked_within() -> None:
    for revision in ("2025-03-26", "2025-06-18"):
        conversation = session(revision)
        conversation.sent(b"[" + line(id=0, method="ping") + b"]")
        answers = b"[" + line(id=0, result={}).strip() + b"]\n"
        if revision == "2025-03-26":
            conversation.received(answers)
        else:
            with pytest.raises(SchemaMismatch, match="batch"):
                conversation.received(answers)


def test_a_record_of_a_tee_is_replayed() -> None:
    request = b">" + line(id=0, method="ping")
    assert replay([request, b"<" + line(id=0, result={})]).checked == 1
    with pytest.raises(SchemaMismatch):
        replay([request, b"<" + line(id=0, result=None)])


# --- the wire passes everything through it


def babbler(said: str) -> list[str]:
    """Return a server that says the same to everything."""
    return [sys.executable, "-I", "-c", f"import sys\nfor line in sys.stdin:\n    print({said!r}, flush=True)"]


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


SPEAKING = re.compile(r"""["'](initialize|server/discover)["']|io\.modelcontextprotocol/protocolVersion""")
"""The first message of every client, in either era."""
SUPPORT = "http_mcp|mcp_client|memory_line|peer|pool|recorder|rules|sdk|wire"
RECORDED_BY = re.compile(rf"from tests\.support\.({SUPPORT}) import")
TESTS = Path(__file__).parent.parent
EXEMPT = (TESTS / "support", TESTS / "clients" / "scripts", TESTS / "host" / "testing", TESTS / "host" / "types")
"""The recorder, programs behind the tee, the client of `pegboard.testing`, and types of messages without a host."""


@pytest.mark.requirement("MSG-01")
def test_no_test_talks_to_the_host_past_the_recorder() -> None:
    files = [*TESTS.rglob("*.py"), *TESTS.parent.glob("toolkits/*/tests/**/*.py")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if not set(EXEMPT) & set(file.parents)}
    speaking = [file for file, text in texts.items() if SPEAKING.search(text)]
    assert TESTS / "protocol" / "test_eras.py" in speaking
    assert [file for file in speaking if not RECORDED_BY.search(texts[file])] == []


# --- subscriptions


def told(name: str, request_id: Any = 0, **params: Any) -> bytes:
    meta = {"io.modelcontextprotocol/subscriptionId": request_id}
    return line(method=f"notifications/{name}", params={**params, "_meta": meta})


CHANGED = told("tools/list_changed")
ACKNOWLEDGED = told("subscriptions/acknowledged", notifications={"toolsListChanged": True})


def listening() -> Conversation:
    return asked("subscriptions/listen", NEW, notifications={"toolsListChanged": True})


def test_a_subscription_is_acknowledged_and_notified() -> None:
    conversation = listening()
    for message in (ACKNOWLEDGED, CHANGED, CHANGED):
        conversation.received(message)
    assert conversation.checked == 3


@pytest.mark.parametrize(
    "messages",
    [
        [CHANGED],
        [ACKNOWLEDGED, ACKNOWLEDGED],
        [ACKNOWLEDGED, told("tools/list_changed", "0")],
        [ACKNOWLEDGED, line(method="notifications/tools/list_changed")],
        [told("subscriptions/acknowledged", "0", notifications={})],
    ],
    ids=["not acknowledged", "acknowledged twice", "an id of another type", "no id", "acknowledged by another"],
)
def test_a_wrong_notification_of_a_subscription_is_rejected(messages: list[bytes]) -> None:
    conversation = listening()
    for message in messages[:-1]:
        conversation.received(message)
    with pytest.raises(SchemaMismatch):
        conversation.received(messages[-1])


# --- extensions

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ADDED = Added(results={"x/get": NUMBER}, kinds={"job": NUMBER}, notifications={"notifications/x": NUMBER})


def message(**members: Any) -> Message:
    return {"jsonrpc": "2.0", "id": 1, **members}


@pytest.mark.parametrize(
    ("revision", "method", "result", "valid"),
    [
        (NEW, "x/get", {"n": 1, "resultType": "complete"}, True),
        (OLD, "x/get", {"n": 1}, True),
        (NEW, "tools/call", {"n": 1, "resultType": "job"}, True),
        (OLD, "tools/call", {"n": 1, "resultType": "job", "content": []}, True),
        (NEW, "x/get", {"n": "1", "resultType": "complete"}, False),
        (NEW, "x/get", {"n": 1}, False),
        (NEW, "x/get", {"n": 1, "resultType": "task"}, False),
        (OLD, "x/get", {"n": 1, "resultType": "complete"}, False),
        (NEW, "x/put", {"n": 1, "resultType": "complete"}, False),
        (NEW, "tools/call", {"resultType": "job"}, False),
        (OLD, "tools/call", {"n": 1, "resultType": "job"}, False),
    ],
)
def test_only_messages_of_an_extension_are_accepted(revision: str, method: str, result: Message, valid: bool) -> None:
    if valid:
        check_result(revision, method, message(result=result), ADDED)
    with pytest.raises(SchemaMismatch):
        check_result(revision, method, message(result=result), *[] if valid else [ADDED])


def test_errors_and_notifications_of_an_extension_are_checked() -> None:
    data: Message = {"requiredCapabilities": {"extensions": {"com.x/y": {}}}}
    check_error(OLD, message(error={"code": -32021, "message": "", "data": data}), ADDED)
    for incomplete, added in (({}, [ADDED]), (data, [])):
        with pytest.raises(SchemaMismatch):
            check_error(OLD, message(error={"code": -32021, "message": "", "data": incomplete}), *added)
    note = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"n": 1}}
    check_sent(OLD, "notification", note, ADDED)
    for faulty, added in ((note, []), ({**note, "params": {"n": ""}}, [ADDED])):
        with pytest.raises(SchemaMismatch):
            check_sent(OLD, "notification", faulty, *added)


# --- the official schemas, mended


@pytest.mark.parametrize("value", [0.5, None, [1.5, {"deep": None}]])
def test_a_mended_schema_accepts_valid_values(value: Any) -> None:
    result = {"resultType": "complete", "supportedVersions": [], "ttlMs": 0, "cacheScope": "public"}
    check(NEW, "DiscoverResult", {**result, "capabilities": {"experimental": {"x": {"y": value}}}})


@pytest.mark.parametrize("revision", REVISIONS)
def test_methods_come_from_the_schema(revision: str) -> None:
    assert methods(revision, "ServerNotification")["notifications/progress"] == "ProgressNotification"
    assert ("ping" in methods(revision, "ServerRequest")) is (revision != NEW)


def test_formats_are_checked() -> None:
    with pytest.raises(SchemaMismatch, match="blob"):
        check(OLD, "BlobResourceContents", {"uri": "a://b", "blob": "not base64!"})
    with pytest.raises(SchemaMismatch, match="uri"):
        check(OLD, "TextResourceContents", {"uri": "no scheme", "text": ""})
