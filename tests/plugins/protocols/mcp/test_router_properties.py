"""Arbitrary messages in either era: no server error, no hang, and exactly one response to each request."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict

from pegboard import Host, Toolkit
from pegboard.types import LOCAL, EventStream, Request, Response
from tests.support.peer import WAIT, modern_meta
from tests.support.recorder import Conversation

VERSION, ABLE = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"

kit = Toolkit("k", prefix=False)


@kit.tool
async def echo(text: str = "") -> str:
    """Say it again."""
    return text


@kit.resource("docs://{name}")
def docs(name: str) -> str:
    return name


@kit.prompt
def review(language: str) -> str:
    """Review."""
    return language


class Running:
    """A host on its own event loop."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.host = Host({"host": {"autoload": False}}, toolkits={"k": kit})
        runner.run(self.host.start())

    def stream(self, lines: list[bytes]) -> list[Any]:
        """Return the messages that the host sends for lines."""
        return self._runner.run(self._stream(lines))

    async def _stream(self, lines: list[bytes]) -> list[Any]:
        sent, conversation = list[bytes](), Conversation()
        connection = AsyncMock(peer="test", finishes=False, delivered=None, send=Mock(side_effect=sent.append))

        async def messages() -> AsyncIterator[bytes]:
            for line in lines:
                conversation.sent(line)
                yield line
            for _ in range(20):
                await asyncio.sleep(0)

        async with asyncio.timeout(WAIT):
            await self.host.serve(connection, messages(), caller=LOCAL)
        return [conversation.received(line) for line in sent]

    def http(self, request: Request) -> tuple[int, bytes]:
        """Return the status and the body of a response; of a stream, its first message."""
        return self._runner.run(self._http(request))

    async def _http(self, request: Request) -> tuple[int, bytes]:
        async with asyncio.timeout(WAIT):
            response = await self.host.respond(request)
            if isinstance(response, Response):
                return response.status, response.body
            assert isinstance(response, EventStream)
            messages = aiter(response.messages)
            first = await anext(messages)
            await messages.aclose()  # type: ignore[attr-defined]
            return 200, first if isinstance(first, bytes) else first.data


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with asyncio.Runner() as runner:
        router = Running(runner)
        yield router
        runner.run(router.host.stop())


@pytest.fixture(autouse=True)
def no_fault(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check that nothing is logged as an error of the server."""
    yield
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    SCALARS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KNOWN_METHODS = """
    initialize ping server/discover tools/list tools/call resources/list resources/read resources/templates/list
    resources/subscribe resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel
    subscriptions/listen notifications/initialized notifications/cancelled notifications/progress tasks/get
"""
METHODS = st.sampled_from(KNOWN_METHODS.split()) | st.text(max_size=6)
REVISIONS = st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", ""])
META = st.one_of(
    st.just(modern_meta()),
    st.fixed_dictionaries({}, optional={VERSION: REVISIONS | JSON, ABLE: JSON, "progressToken": JSON}),
    JSON,
)
NAMES = st.sampled_from(["echo", "review", "docs://x", "docs://", "nothing"]) | JSON
MEMBERS = {
    "_meta": META,
    "name": NAMES,
    "uri": NAMES,
    "arguments": st.just({"text": "x"}) | st.just({"language": "y"}) | JSON,
    "level": st.sampled_from(["info", "loud"]) | JSON,
    "protocolVersion": REVISIONS | JSON,
    "ref": st.just({"type": "ref/prompt", "name": "review"}) | JSON,
    "argument": st.just({"name": "language", "value": "p"}) | JSON,
    "notifications": st.just({"toolsListChanged": True}) | JSON,
    **dict.fromkeys(("cursor", "capabilities", "clientInfo", "requestId", "inputResponses", "requestState"), JSON),
}
PARAMS = JSON | st.fixed_dictionaries({}, optional=MEMBERS)
IDS = st.integers(0, 5) | st.sampled_from(["a", ""]) | JSON
MESSAGES = st.one_of(
    JSON,
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": METHODS}, optional={"id": IDS, "params": PARAMS}),
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS}, optional={"result": JSON, "error": JSON}),
)
OPENING = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}


def is_request(message: Any) -> bool:
    """Return True if a message needs a response with its own id."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and type(message.get("id")) in (int, str)
    )


def flattened(messages: list[Any]) -> list[Any]:
    """Return messages, with those of batches."""
    return [item for message in messages for item in (message if isinstance(message, list) else [message])]


def check_error(answer: Any) -> None:
    """Check that an error is the client's."""
    if "error" in answer:
        assert answer["error"]["code"] != -32603, answer
        assert answer["error"]["message"]


@settings(max_examples=25)
@given(st.lists(MESSAGES | st.lists(MESSAGES, max_size=3), max_size=4), st.booleans())
@example([[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]], True)
@example([{"jsonrpc": "2.0", "id": 0, "method": "ping"}, {"jsonrpc": "2.0", "id": 0}], False)
@example([{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"_meta": modern_meta()}}], False)
def test_on_a_stream_each_request_has_one_answer(running: Running, messages: list[Any], opened: bool) -> None:
    for number, item in enumerate(flattened(messages)):
        if is_request(item):
            item["id"] = number if type(item["id"]) is int else f"{item['id']}-{number}"  # ids are unique in a session
    opening = [{"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": OPENING}] if opened else []
    answers = running.stream([json.dumps(item).encode() for item in [*opening, *messages]])
    responses = [answer for answer in flattened(answers) if "method" not in answer]
    for answer in responses:
        check_error(answer)
    given_ids = Counter(json.dumps(answer.get("id")) for answer in responses)
    flat = flattened(messages) if opened else messages
    requested = [json.dumps(item["id"]) for item in flat if is_request(item)]
    cancels = [item for item in flat if isinstance(item, dict) and item.get("method") == "notifications/cancelled"]
    gone = {
        json.dumps(cancel["params"].get("requestId")) for cancel in cancels if isinstance(cancel.get("params"), dict)
    }
    listening = {
        json.dumps(item["id"]) for item in flat if is_request(item) and item["method"] == "subscriptions/listen"
    }
    for key in set(requested) - gone - listening:
        assert given_ids[key] == 1, (key, answers)


FIELDS = st.fixed_dictionaries(
    {"Content-Type": st.just("application/json")},
    optional={
        "Accept": st.sampled_from(["application/json, text/event-stream", "application/json", "*/*", "text/html"]),
        "MCP-Protocol-Version": REVISIONS | st.text(max_size=5),
        "Mcp-Method": METHODS,
        "Mcp-Name": st.sampled_from(["echo", "review", "docs://x", "=?base64?ZWNobw==?=", "=?base64?!?="]),
        "Mcp-Session-Id": st.text(max_size=5),
        "Last-Event-ID": st.text(max_size=5),
    },
)
VERBS = st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "PUT", "HEAD"])


@settings(max_examples=25)
@given(VERBS, FIELDS, MESSAGES | st.lists(MESSAGES, max_size=3), st.none() | st.binary(max_size=6))
@example("POST", {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28"}, {}, None)
def test_over_http_each_request_has_a_status_and_its_answer(
    running: Running, verb: str, fields: dict[str, str], message: Any, raw: bytes | None
) -> None:
    body = json.dumps(message).encode() if raw is None else raw
    status, answered = running.http(Request(verb, "/mcp", {}, CIMultiDict(fields), body, LOCAL, "test"))
    assert status < 500
    if verb == "POST" and raw is None and is_request(message) and status not in (202, 406, 415):
        answer = json.loads(answered)
        assert status == 200 or "error" in answer
        if "method" not in answer:
            assert answer.get("id", message["id"]) == message["id"]
            check_error(answer)
