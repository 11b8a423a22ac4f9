"""The recorder rejects what a server must not send, and no test talks to the host past it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import modern_meta
from tests.support.recorder import Conversation
from tests.support.rules import Added
from tests.support.schemas import SchemaMismatch
from tests.support.wire import Wire

OLD, NEW = "2025-11-25", "2026-07-28"
TEXT = {"content": [{"type": "text", "text": "x"}]}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOL = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": NUMBER}
LISTED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [TOOL]}
ADDED = Added(results={"x/get": NUMBER}, kinds={"job": NUMBER}, notifications={"notifications/x": NUMBER})


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def open_conversation(method: str, revision: str = OLD) -> Conversation:
    """Return a conversation in which a request waits, in a session if the revision has them."""
    conversation = Conversation()
    conversation.added = ADDED
    if revision != NEW:
        conversation.sent(line(id="i", method="initialize", params={}))
        server = {"serverInfo": {"name": "s", "version": "1"}, "capabilities": {}}
        conversation.received(line(id="i", result={"protocolVersion": revision, **server}))
    meta = modern_meta() if revision == NEW else {}
    conversation.sent(line(id=0, method=method, params={"_meta": {**meta, "progressToken": 0}}))
    return conversation


@pytest.mark.requirement("ERR-04", "ERR-05", "ERR-06", "MSG-10", "RES-03", "ROUND-18")
@pytest.mark.parametrize(
    ("revision", "method", "response", "fault"),
    [
        ("2024-11-05", "tools/call", {"result": TEXT}, None),
        (NEW, "tools/list", {"result": LISTED}, None),
        (OLD, "x/get", {"result": {"n": 1}}, None),
        (NEW, "tools/call", {"result": {"n": 1, "resultType": "job"}}, None),
        (OLD, "ping", {"result": {}, "error": {"code": -32603, "message": ""}}, "neither"),
        (OLD, "ping", {"error": {"code": -32001, "message": ""}}, "no error"),
        (OLD, "tools/call", {"result": {**TEXT, "resultType": "complete"}}, "resultType"),
        (OLD, "tools/list", {"result": {"tools": [{**TOOL, "outputSchema": {"required": 1}}]}}, "outputSchema"),
        (OLD, "server/discover", {"result": {}}, "no method"),
        (NEW, "tools/call", {"result": TEXT}, "resultType"),
        (NEW, "tools/list", {"result": {"resultType": "complete", "tools": []}}, "cacheScope|ttlMs"),
        (NEW, "tools/list", {"result": {**LISTED, "resultType": "input_required"}}, "input_required"),
        (NEW, "x", {"error": {"code": -32022, "message": "no", "data": {"supported": []}}}, "requested"),
        (NEW, "tools/call", {"result": {"resultType": "job"}}, "required"),
    ],
)  # fmt: skip
def test_a_response_fits_its_request_and_revision(revision: str, method: str, response: Any, fault: str | None) -> None:
    conversation = open_conversation(method, revision)
    if fault is None:
        conversation.received(line(id=0, **response))
    else:
        with pytest.raises(SchemaMismatch, match=fault):
            conversation.received(line(id=0, **response))


REFUSED = line(id=None, error={"code": -32603, "message": "later"})
ACKNOWLEDGED = line(
    method="notifications/subscriptions/acknowledged",
    params={"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": 0}},
)


@pytest.mark.requirement("LISTEN-07", "MSG-01", "MSG-08", "MSG-12", "UTIL-10")
@pytest.mark.parametrize(
    ("method", "lines"),
    [
        ("ping", [b"Listening ..."]),
        ("ping", [b'{"jsonrpc":"2.0","id":0,"result":{"x":NaN}}']),
        ("ping", [b'{"jsonrpc":"2.0","id":0,"id":0,"result":{}}']),
        ("ping", [line(id="0", result={})]),
        ("ping", [REFUSED]),
        ("ping", [line(id=0, result={}), line(id=0, result={})]),
        ("ping", [line(method="notifications/x", params={"n": "1"})]),
        ("ping", [line(method="notifications/tools/list_changed", id=1)]),
        ("ping", [line(method="notifications/progress", params={"progressToken": 0, "progress": 1})] * 2),
        ("subscriptions/listen", [ACKNOWLEDGED, ACKNOWLEDGED]),
        ("subscriptions/listen", [ACKNOWLEDGED, line(method="notifications/tools/list_changed")]),
    ],
)
def test_an_invalid_line_is_rejected(method: str, lines: list[bytes]) -> None:
    conversation = open_conversation(method, OLD if method == "ping" else NEW)
    for valid in lines[:-1]:
        conversation.received(valid)
    with pytest.raises(SchemaMismatch):
        conversation.received(lines[-1])


def test_an_error_without_an_id_may_refuse_a_notification() -> None:
    conversation = open_conversation("ping")
    conversation.received(line(id=0, result={}))
    conversation.received(REFUSED)


def test_structured_content_must_fit_the_listed_schema() -> None:
    conversation = open_conversation("tools/list")
    conversation.received(line(id=0, result={"tools": [TOOL]}))
    conversation.sent(line(id=1, method="tools/call", params={"name": "t"}))
    with pytest.raises(SchemaMismatch, match="integer"):
        conversation.received(line(id=1, result={**TEXT, "structuredContent": {"n": "1"}}))


async def test_the_wire_raises_faults_that_no_test_reads() -> None:
    babbler = "import sys\nfor line in sys.stdin:\n    print('Listening ...', flush=True)"
    with pytest.raises(SchemaMismatch):
        async with Wire([sys.executable, "-I", "-c", babbler]) as wire:
            await wire.begin("ping", id=0)


SPEAKING = re.compile(r"""["'](initialize|server/discover)["']|io\.modelcontextprotocol/protocolVersion""")
"""The first message of every client, in either era."""
RECORDED_BY = re.compile(r"from tests\.support\.(http_mcp|mcp_client|peer|pool|recorder|rules|sdk|wire) import")
TESTS = Path(__file__).parent.parent
EXEMPT = (
    TESTS / "support", TESTS / "clients" / "scripts", TESTS / "pegboard_testing", TESTS / "pegboard_messages",
    TESTS / "pegboard_client", TESTS / "plugins" / "servers" / "upstreams",
)  # fmt: skip
"""The recorder, programs behind the tee, the client of `pegboard_testing`, types of messages without a host, and
scripted servers of `pegboard_client`."""


@pytest.mark.requirement("MSG-01")
def test_no_test_talks_to_the_host_past_the_recorder() -> None:
    files = [*TESTS.rglob("*.py"), *TESTS.parent.glob("toolkits/*/tests/**/*.py")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if not set(EXEMPT) & set(file.parents)}
    speaking = [file for file, text in texts.items() if SPEAKING.search(text)]
    assert TESTS / "protocol" / "test_eras.py" in speaking
    assert [file for file in speaking if not RECORDED_BY.search(texts[file])] == []
