"""The recorder rejects what a server must not send, and no test talks to the host past it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.recorder import RECORDED, Conversation, replay
from tests.support.rules import Added
from tests.support.schemas import REVISIONS, SchemaMismatch, definitions
from tests.support.wire import Wire

Message = dict[str, Any]
OLD, NEW = "2025-11-25", "2026-07-28"
TEXT = {"content": [{"type": "text", "text": "x"}]}
AUDIO = {"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
LISTED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [TOOL]}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ADDED = Added(results={"x/get": NUMBER}, kinds={"job": NUMBER}, notifications={"notifications/x": NUMBER})
CAPABILITY = {"code": -32021, "message": "", "data": {"requiredCapabilities": {"extensions": {"com.x/y": {}}}}}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def asked(method: str, revision: str = OLD, **params: Any) -> Conversation:
    """Return a conversation in which a request waits, in a session if the revision has them."""
    conversation = Conversation()
    if revision != NEW:
        conversation.sent(line(id="i", method="initialize", params={}))
        server = {"serverInfo": {"name": "s", "version": "1"}, "capabilities": {}}
        conversation.received(line(id="i", result={"protocolVersion": revision, **server}))
    meta = {"_meta": modern_meta()} if revision == NEW else {}
    conversation.sent(line(id=0, method=method, params={**meta, **params}))
    return conversation


def told(name: str, request_id: Any = 0, **params: Any) -> bytes:
    meta = {"io.modelcontextprotocol/subscriptionId": request_id}
    return line(method=f"notifications/{name}", params={**params, "_meta": meta})


@pytest.mark.parametrize(
    ("revision", "method", "answer", "added"),
    [
        ("2024-11-05", "tools/call", {"result": TEXT}, False),
        (OLD, "x", {"error": {"code": 7, "message": "ours"}}, False),
        (NEW, "tools/call", {"result": {"resultType": "input_required", "requestState": "s"}}, False),
        (NEW, "tools/list", {"result": LISTED}, False),
        (OLD, "x/get", {"result": {"n": 1}}, True),
        (NEW, "tools/call", {"result": {"n": 1, "resultType": "job"}}, True),
        (OLD, "x", {"error": CAPABILITY}, True),
    ],
)
def test_a_right_response_passes(revision: str, method: str, answer: Message, added: bool) -> None:
    before = RECORDED[revision]
    conversation = asked(method, revision)
    conversation.added = ADDED if added else conversation.added
    conversation.received(line(id=0, **answer))
    assert RECORDED[revision] > before


@pytest.mark.requirement("ERR-04", "ERR-05", "ERR-06", "MSG-10", "RES-03", "ROUND-18")
@pytest.mark.parametrize(
    ("revision", "method", "answer", "fault"),
    [
        (OLD, "ping", {"result": {}, "error": {"code": -32603, "message": ""}}, "neither"),
        (OLD, "ping", {"error": {"code": -32001, "message": ""}}, "no error"),
        (OLD, "tools/call", {"result": {**TEXT, "isError": None}}, "isError"),
        (OLD, "tools/call", {"result": {**TEXT, "resultType": "complete"}}, "resultType"),
        (OLD, "tools/list", {"result": {"tools": [{**TOOL, "inputSchema": {"type": "string"}}]}}, "object"),
        (OLD, "tools/list", {"result": {"tools": [{**TOOL, "outputSchema": {"required": 1}}]}}, "outputSchema"),
        ("2024-11-05", "tools/call", {"result": AUDIO}, "audio"),
        (OLD, "server/discover", {"result": {}}, "no method"),
        (OLD, "initialize", {"result": {"protocolVersion": NEW}}, "protocolVersion"),
        (NEW, "tools/call", {"result": TEXT}, "resultType"),
        (NEW, "tools/call", {"result": {**TEXT, "resultType": "complete", "ttlMs": 0}}, "ttlMs"),
        (NEW, "tools/list", {"result": {"resultType": "complete", "tools": []}}, "cacheScope|ttlMs"),
        (NEW, "tools/list", {"result": {**LISTED, "resultType": "input_required"}}, "input_required"),
        (NEW, "resources/read", {"error": {"code": -32002, "message": ""}}, "no error"),
        (NEW, "x", {"error": {"code": -32022, "message": "no", "data": {"supported": []}}}, "requested"),
        (OLD, "x/get", {"result": {"n": "1"}}, "integer"),
        (NEW, "tools/call", {"result": {"resultType": "job"}}, "required"),
        (OLD, "x", {"error": {**CAPABILITY, "data": {}}}, "requiredCapabilities"),
    ],
)  # fmt: skip
def test_a_wrong_response_is_rejected(revision: str, method: str, answer: Message, fault: str) -> None:
    conversation = asked(method, revision)
    conversation.added = ADDED
    with pytest.raises(SchemaMismatch, match=fault):
        conversation.received(line(id=0, **answer))


@pytest.mark.requirement("LISTEN-07", "MSG-01", "MSG-08", "UTIL-10")
@pytest.mark.parametrize(
    "raw",
    [
        b"Listening ...",
        b'{"jsonrpc":"2.0","id":0,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":0,"result":{"x":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":0,"id":0,"result":{}}',
        b'{"id":0,"result":{}}',
        b'{"jsonrpc":"2.0","id":"0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":""}}',
        b'[{"jsonrpc":"2.0","id":0,"result":{}}]',
        line(method="notifications/unheard"),
        line(method="notifications/x", params={"n": 1}),
        line(method="notifications/progress", params={"progressToken": 1, "progress": 1}),
        line(method="notifications/progress", params={"progressToken": 0, "progress": 1}),
    ],
)
def test_an_invalid_line_is_rejected(raw: bytes) -> None:
    conversation = asked("ping", _meta={"progressToken": 0})
    conversation.received(line(method="notifications/progress", params={"progressToken": 0, "progress": 1}))
    with pytest.raises(SchemaMismatch):
        conversation.received(raw)


def test_one_request_gets_one_response_and_an_unreadable_one_a_response_without_an_id() -> None:
    request, response = line(id=0, method="ping"), line(id=0, result={})
    conversation = replay([b">" + request, b"<" + response])
    with pytest.raises(SchemaMismatch, match="nobody waits"):
        conversation.received(response)
    conversation.sent(b"{bad")
    conversation.received(line(id=None, error={"code": -32700, "message": "bad"}))


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
    conversation.received(line(id=0, result={"tools": [{**TOOL, "outputSchema": NUMBER}]}))
    conversation.sent(line(id=1, method="tools/call", params={"name": "t"}))
    with pytest.raises(SchemaMismatch, match=fault):
        conversation.received(line(id=1, result={**TEXT, **more}))


CHANGED = told("tools/list_changed")
ACKNOWLEDGED = told("subscriptions/acknowledged", notifications={"toolsListChanged": True})


@pytest.mark.parametrize(
    "wrong",
    [
        [CHANGED],
        [ACKNOWLEDGED, ACKNOWLEDGED],
        [ACKNOWLEDGED, CHANGED, told("tools/list_changed", "0")],
        [ACKNOWLEDGED, CHANGED, line(method="notifications/tools/list_changed")],
    ],
    ids=["not acknowledged", "acknowledged twice", "an id of another type", "no id"],
)
def test_a_wrong_notification_of_a_subscription_is_rejected(wrong: list[bytes]) -> None:
    conversation = asked("subscriptions/listen", NEW, notifications={"toolsListChanged": True})
    for message in wrong[:-1]:
        conversation.received(message)
    with pytest.raises(SchemaMismatch):
        conversation.received(wrong[-1])


def babbler(said: str) -> list[str]:
    """Return a server that says the same to everything."""
    return [sys.executable, "-I", "-c", f"import sys\nfor line in sys.stdin:\n    print({said!r}, flush=True)"]


async def test_the_wire_raises_faults_where_a_test_waits_and_unread_ones_at_its_end() -> None:
    async with Wire(babbler('{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"t"}]}}')) as wire:
        with pytest.raises(SchemaMismatch, match="inputSchema"):
            await wire.request("tools/list", id=0)
    for said in ("Listening ...", '{"jsonrpc":"2.0","id":0,"result":null}'):
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


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_schema_demands_an_integer_of_a_free_value(revision: str) -> None:
    """The generator of the official schemas wrote `integer` for `number`; `FAULTS` has the places."""
    known = definitions(revision)
    for name in ("ElicitResult", "JSONValue"):
        assert '"integer"' not in json.dumps(known.get(name))
