"""The official Python SDK's clients drive the installed command from outside, in both eras and over both transports.

One run of a client does everything once. Each test checks one part of its observations.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import Client, Drive, is_stateless
from tests.support.hostile_kit import CANARY
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

REVIEW = {"type": "ref/prompt", "name": "review"}
DOCUMENT = {"type": "ref/resource", "uri": "doc://{name}"}
LEVELS = ["debug", "info", "warning", "emergency"]
ARGUMENTS = {"code": "größer", "language": "c", "strict": "true", "depth": "3", "tone": "blunt", "files": '["a"]'}
LOGGED = [["notifications/message", {"level": level, "data": level}] for level in LEVELS]
READ = {
    "doc://m%C3%BCller": "müller for doc://{name}",
    "file:///a/b.txt?line=3": "a/b.txt:3",
    "path://root/x/y": '["x","y"]',
    "many://all": "one",
}
MISSING = ["doc://gone", "doc://a%2Fb", "nothing://here", "unknown://here"]

PLAN: dict[str, Any] = {
    "calls": {
        "echo": ("fixture_echo", {"text": "größer 日本語 🧰"}),
        "no arguments": ("fixture_nothing", None),
        "list": ("fixture_numbers", {"count": 3}),
        "refused": ("fixture_refuse", {"reason": "too heavy"}),
        "crashed": ("fixture_crash", {}),
        "exited": ("hostile_burst", {"kind": "SystemExit"}),
        "wrong arguments": ("fixture_add", {"a": "one"}),
        "unknown": ("fixture_missing", {}),
        "printed": ("hostile_say", {}),
        "surrogate": ("hostile_surrogate", {}),
        "file": ("files_read", {"path": "note.txt"}),
    },
    "progress": {"said": ("fixture_count", {"to": 3, "say": "one more"}), "back": ("fixture_stumble", {})},
    "reads": [*READ, *MISSING, "odd://here"],
    "gets": {
        "all": ("review", ARGUMENTS),
        "none": ("review", None),
        "messages": ("messages", None),
        "odd role": ("odd_role", {}),
        "unknown": ("fixture_missing", None),
    },
    "completions": {
        "chosen": (REVIEW, {"name": "language", "value": "py"}, {"code": "c", "level": "high"}),
        "many": (REVIEW, {"name": "code", "value": "x"}, None),
        "crashed": (DOCUMENT, {"name": "name", "value": "fail"}, None),
        "unknown": (REVIEW, {"name": "colour", "value": ""}, None),
    },
    "levels": LEVELS,
    "log": ("asking_tell", {"notifications": LOGGED}),
}


@pytest.fixture(scope="module")
def run(drive: Drive, client: Client) -> Run:
    return drive(client, "everything", **PLAN)


def error(run: Run, kind: str, key: str) -> Any:
    return run.said[kind][key]["error"]


def listed(run: Run, kind: str, member: str = "") -> dict[str, Any]:
    """Return the items of all pages of a list by their names, or URIs."""
    items = [one for page in run.said[kind] for one in page[member or kind]]
    return {one.get("uri", one.get("uriTemplate", one["name"])): one for one in items}


def test_the_client_connects_in_its_era_and_every_message_is_valid(run: Run, client: Client) -> None:
    assert run.conversation.checked == sum(line.startswith(b"<") for line in run.record) > 30
    opening, stateless = run.said["opening"], is_stateless(client)
    assert opening["protocolVersion"] == ("2026-07-28" if stateless else "2025-11-25")
    assert ("initialize" in [message["method"] for message in run.sent()]) is not stateless
    assert run.sent()[0]["method"] == {"legacy": "initialize", "auto": "server/discover"}.get(client[1], "tools/list")
    if client[1] != "2026-07-28":  # a client that pins a revision does not discover the server
        assert opening["serverInfo"] == {"name": "clients", "version": "4.5.6", "title": "For clients"}
        assert opening["instructions"] == "Ask away."
        assert opening["capabilities"].keys() >= {"tools", "resources", "prompts"}
    assert run.said["ping"].get("error", {}).get("code") == (-32601 if stateless else None)


def test_lists_come_in_pages_and_describe_their_items(run: Run) -> None:
    pages = run.said["tools"]
    assert len(pages) > 2
    assert all(len(page["tools"]) == 5 for page in pages[:-1])
    assert {"fixture_echo", "hostile_say", "files_list", "files_read"} <= listed(run, "tools").keys()
    static = listed(run, "resources")["doc://static"]
    assert (static["title"], static["size"], static["mimeType"]) == ("Static", 6, "text/plain")
    assert (static["icons"][0]["sizes"], static["_meta"]["com.example/key"]) == (["48x48", "any"], {"deep": 1})
    templates = listed(run, "resource_templates", "resourceTemplates")
    assert templates["doc://{name}"]["annotations"]["audience"] == ["user", "assistant"]
    arguments = listed(run, "prompts")["review"]["arguments"]
    assert [one["name"] for one in arguments if one.get("required")] == ["code"]


def test_requests_are_answered(run: Run, client: Client) -> None:
    """The SDK itself validates structured results against the listed schema."""
    texts = {
        key: [one.get("text") for one in said["result"]["content"]]
        for key, said in run.said["calls"].items()
        if "result" in said
    }
    assert (texts["echo"], texts["printed"]) == (["größer 日本語 🧰"], ["printed"])
    assert "written by a person" in texts["file"][0]
    assert texts["surrogate"][0].startswith("half")
    assert not run.said["calls"]["no arguments"]["result"].get("isError")
    structured = run.said["calls"]["list"]["result"].get("structuredContent")
    assert structured == ([0, 1, 2] if is_stateless(client) else {"result": [0, 1, 2]})
    assert {uri: run.said["reads"][uri]["result"]["contents"][0]["text"] for uri in READ} == READ
    prompts = {key: said["result"]["messages"] for key, said in run.said["gets"].items() if "result" in said}
    assert prompts["all"][0]["content"]["text"] == "größer|c|True|3|blunt|low|['a']"
    kinds = ["text", "image", "audio", "resource_link", "resource", "text"]
    assert [one["content"]["type"] for one in prompts["messages"]] == kinds
    found = {key: said["result"]["completion"] for key, said in run.said["completions"].items() if "result" in said}
    assert found["chosen"]["values"] == ["py|c|high"]
    assert (len(found["many"]["values"]), found["many"]["total"], found["many"]["hasMore"]) == (100, 1000, True)
    reports = [[number, 3, "one more"] for number in (1, 2, 3)]  # a report that does not go up is not sent
    assert run.said["progress"] == {"said": reports, "back": [[1, None, None], [2, None, None]]}
    # a session begins at "info"; in 2026-07-28 a client that requests no log gets none
    logged = {level: LEVELS[place:] for place, level in enumerate(LEVELS)}
    assert run.said["logged"] == {"None": [] if is_stateless(client) else LEVELS[1:], **logged}


def test_failures_reach_the_model_and_protocol_errors_the_program(run: Run, client: Client) -> None:
    for call, told in (("refused", "refused: too heavy"), ("crashed", ""), ("exited", ""), ("wrong arguments", "a")):
        result = run.said["calls"][call]["result"]
        assert result["isError"] is True
        assert told in result["content"][0]["text"]
    assert CANARY not in json.dumps(run.said)
    assert "canary" not in json.dumps(run.said["reads"])
    for uri in MISSING:
        refused = error(run, "reads", uri)
        assert (refused["code"], refused["data"]) == (-32602 if is_stateless(client) else -32002, {"uri": uri})
    invalid = [("calls", "unknown"), ("gets", "unknown"), ("gets", "none"), ("completions", "unknown")]
    assert {error(run, *one)["code"] for one in invalid} == {-32602}
    internal = [("reads", "odd://here"), ("gets", "odd role"), ("completions", "crashed")]
    assert {error(run, *one)["code"] for one in internal} == {-32603}


def test_a_cancelled_call_ends_in_the_host(run: Run, client: Client, transport: str) -> None:
    """A stateless client over HTTP closes the response's stream, any other sends a notification."""
    assert json.loads(run.said["cancelled"]) == ["cancelled by the client"]
    (waiting,) = [message["id"] for message in run.sent() if message.get("params", {}).get("name") == "fixture_wait"]
    told = [message["params"]["requestId"] for message in run.sent() if message["method"] == "notifications/cancelled"]
    assert told == ([] if is_stateless(client) and transport == "http" else [waiting])
    received = [json.loads(line[1:]) for line in run.record if line.startswith(b"<")]
    # the SDK may resume the stream before it gives the call up, and learns then that there is no response
    lost = [one for one in received if "There is no response" in one.get("error", {}).get("message", "")]
    assert waiting not in [one.get("id") for one in received if one not in lost]


def test_a_client_that_leaves_ends_its_host_over_stdio_and_its_session_over_http(
    run: Run, client: Client, transport: str
) -> None:
    assert run.exit_code() == (0 if transport == "stdio" else None)
    ends = [status for status in run.statuses() if status.startswith("DELETE")]
    assert ends == (["DELETE 204"] if transport == "http" and not is_stateless(client) else [])
