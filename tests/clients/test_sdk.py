"""The official Python SDK's clients drive the installed command from outside, in both eras and over both transports.

One run of a client does everything once. Each test checks one part of its observations.
"""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.clients.conftest import CLIENTS, Client, Drive, Place, is_stateless
from tests.support.hostile_kit import CANARY
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

CODE = "print('größer')"
REVIEW = {"type": "ref/prompt", "name": "review"}
DOCUMENT = {"type": "ref/resource", "uri": "doc://{name}"}
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
ARGUMENTS = {"language": "c", "strict": "true", "depth": "3", "tone": "blunt", "level": "high", "files": '["a"]'}
LOGGED = [["notifications/message", {"level": level, "data": level}] for level in LEVELS]
READ = [
    "doc://static", "doc://m%C3%BCller", "num://7", "num://seven", "file:///a/b.txt?line=3", "path://root/x/y",
    "many://all", "odd://here",
]  # fmt: skip
MISSING = ["doc://gone", "doc://a%2Fb", "nothing://here", "unknown://here"]

PLAN: dict[str, Any] = {
    "calls": {
        "echo": ("fixture_echo", {"text": "größer 日本語 🧰"}),
        "no arguments": ("fixture_nothing", None),
        "structured": ("fixture_point", {"x": 1, "y": 2.5}),
        "list": ("fixture_numbers", {"count": 3}),
        "refused": ("fixture_refuse", {"reason": "too heavy"}),
        "crashed": ("fixture_crash", {}),
        "exited": ("hostile_burst", {"kind": "SystemExit"}),
        "wrong arguments": ("fixture_add", {"a": "one"}),
        "unknown": ("fixture_missing", {}),
        "printed": ("hostile_say", {}),
        "surrogate": ("hostile_surrogate", {}),
        "files": ("files_list", {"path": "."}),
        "file": ("files_read", {"path": "note.txt"}),
    },
    "progress": {
        "said": ("fixture_count", {"to": 3, "say": "one more"}),
        "halves": ("fixture_count_sync", {"to": 3}),
        "back": ("fixture_stumble", {}),
    },
    "reads": [*READ, *MISSING],
    "gets": {
        "some": ("review", {"code": CODE}),
        "all": ("review", {"code": CODE, **ARGUMENTS}),
        "none": ("review", None),
        "wrong": ("review", {"code": "", "depth": "deep"}),
        "messages": ("messages", None),
        "odd role": ("odd_role", {}),
        "unknown": ("fixture_missing", None),
    },
    "completions": {
        "chosen": (REVIEW, {"name": "language", "value": "py"}, {"code": "c", "level": "high"}),
        "many": (REVIEW, {"name": "code", "value": "x"}, None),
        "variable": (DOCUMENT, {"name": "name", "value": "a"}, {}),
        "crashed": (DOCUMENT, {"name": "name", "value": "fail"}, None),
        "unknown": (REVIEW, {"name": "colour", "value": ""}, None),
    },
    "levels": LEVELS,
    "log": ("asking_tell", {"notifications": LOGGED}),
}


@pytest.fixture(scope="module")
def run(drive: Drive, client: Client) -> Run:
    return drive(client, "everything", **PLAN)


def text(run: Run, call: str) -> str:
    found: str = run.said["calls"][call]["result"]["content"][0]["text"]
    return found


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
    assert {"doc://{name}", "file:///{+path}{?line}", "num://{number}", "path://root{/parts*}"} <= templates.keys()
    for item in (static, templates["doc://{name}"]):
        assert item["annotations"].items() >= {"audience": ["user", "assistant"], "priority": 0.5}.items()
    review = listed(run, "prompts")["review"]
    assert [one["name"] for one in review["arguments"]] == ["code", *ARGUMENTS]
    assert [one["name"] for one in review["arguments"] if one.get("required")] == ["code"]


def test_calls_are_answered(run: Run, client: Client) -> None:
    """The SDK itself validates structured results against the listed schema."""
    assert "note.txt" in text(run, "files")
    assert "written by a person" in text(run, "file")
    assert text(run, "echo") == "größer 日本語 🧰"
    assert not run.said["calls"]["no arguments"]["result"].get("isError")
    assert text(run, "printed") == "printed"
    assert text(run, "surrogate").startswith("half")
    assert run.said["calls"]["structured"]["result"]["structuredContent"]["y"] == 2.5
    assert json.loads(text(run, "list")) == [0, 1, 2]
    if is_stateless(client):
        assert run.said["calls"]["list"]["result"]["structuredContent"] == [0, 1, 2]


def test_failures_reach_the_model_and_protocol_errors_the_program(run: Run, client: Client) -> None:
    for call, told in (("refused", "refused: too heavy"), ("crashed", ""), ("exited", ""), ("wrong arguments", "a")):
        assert run.said["calls"][call]["result"]["isError"] is True
        assert told in text(run, call)
    assert CANARY not in json.dumps(run.said)
    assert "canary" not in json.dumps(run.said["reads"])
    assert error(run, "calls", "unknown")["code"] == error(run, "gets", "unknown")["code"] == -32602
    for uri in MISSING:
        refused = error(run, "reads", uri)
        assert (refused["code"], refused["data"]) == (-32602 if is_stateless(client) else -32002, {"uri": uri})
    assert error(run, "reads", "num://seven")["code"] in (-32602, -32002)
    for key, word in (("none", "code"), ("wrong", "depth")):
        assert error(run, "gets", key)["code"] == -32602
        assert word in error(run, "gets", key)["message"]
    internal = error(run, "reads", "odd://here"), error(run, "gets", "odd role"), error(run, "completions", "crashed")
    assert {one["code"] for one in internal} == {-32603}
    assert error(run, "completions", "unknown")["code"] == -32602


def test_resources_are_read_with_their_variables(run: Run) -> None:
    found = {uri: said["result"]["contents"] for uri, said in run.said["reads"].items() if "result" in said}
    assert [one["text"] for one in found["doc://static"]] == ["static"]
    one, two = found["many://all"]
    assert (one["uri"], one["text"]) == ("many://all/1", "one")
    assert (two["uri"], base64.b64decode(two["blob"])) == ("many://all/2", b"2")
    (document,) = found["doc://m%C3%BCller"]
    assert (document["text"], document["mimeType"]) == ("müller for doc://{name}", "text/x")
    assert json.loads(found["num://7"][0]["text"]) == {"number": 7}
    assert found["file:///a/b.txt?line=3"][0]["text"] == "a/b.txt:3"
    assert json.loads(found["path://root/x/y"][0]["text"]) == ["x", "y"]


def test_prompts_take_arguments_and_hold_content_of_every_kind(run: Run) -> None:
    messages = {key: said["result"]["messages"] for key, said in run.said["gets"].items() if "result" in said}
    assert messages["some"][0]["content"]["text"] == f"{CODE}|python|False|1|kind|low|[]"
    assert messages["all"][0]["content"]["text"] == f"{CODE}|c|True|3|blunt|high|['a']"
    kinds = ["text", "image", "audio", "resource_link", "resource", "text"]
    assert [one["content"]["type"] for one in messages["messages"]] == kinds
    assert (
        messages["messages"][1]["content"]["data"] == messages["messages"][4]["content"]["resource"]["blob"] == "+//+"
    )


def test_arguments_are_completed(run: Run) -> None:
    found = {key: said["result"]["completion"] for key, said in run.said["completions"].items() if "result" in said}
    assert found["chosen"]["values"] == ["py|c|high"]
    assert (len(found["many"]["values"]), found["many"]["total"], found["many"]["hasMore"]) == (100, 1000, True)
    assert (len(found["variable"]["values"]), found["variable"]["hasMore"]) == (100, True)


def test_progress_is_followed(run: Run) -> None:
    assert run.said["progress"] == {
        "said": [[1, 3, "one more"], [2, 3, "one more"], [3, 3, "one more"]],
        "halves": [[0.5, 3, None], [1, 3, None], [1.5, 3, None]],
        "back": [[1, None, None], [2, None, None]],  # a report that does not go up is not sent
    }


def check_log(logged: dict[str, Any], client: Client) -> None:
    """A session begins at "info"; in 2026-07-28 a client that requests no log gets none."""
    assert logged.pop("None") == ([] if is_stateless(client) else LEVELS[1:])
    assert logged == {level: LEVELS[place:] for place, level in enumerate(LEVELS)}


def test_log_messages_from_a_level_on(run: Run, client: Client) -> None:
    check_log(dict(run.said["logged"]), client)


def test_a_cancelled_call_ends_in_the_host(run: Run, client: Client, transport: str) -> None:
    """A stateless client over HTTP closes the response's stream, any other sends a notification."""
    assert json.loads(run.said["cancelled"]) == ["cancelled by the client"]
    (waiting,) = [message["id"] for message in run.sent() if message.get("params", {}).get("name") == "fixture_wait"]
    told = [message["params"]["requestId"] for message in run.sent() if message["method"] == "notifications/cancelled"]
    assert told == ([] if is_stateless(client) and transport == "http" else [waiting])
    received = [json.loads(line[1:]) for line in run.record if line.startswith(b"<")]
    # the SDK may resume the stream before it gives the call up, and learns then that there is no response
    lost = [one for one in received if "The response is lost" in one.get("error", {}).get("message", "")]
    assert waiting not in [one.get("id") for one in received if one not in lost]


def test_a_client_that_leaves_ends_its_host_over_stdio_and_its_session_over_http(
    run: Run, client: Client, transport: str
) -> None:
    assert run.exit_code() == (0 if transport == "stdio" else None)
    ends = [status for status in run.statuses() if status.startswith("DELETE")]
    assert ends == (["DELETE 204"] if transport == "http" and not is_stateless(client) else [])


@pytest.mark.parametrize(
    ("client", "tool"),
    [
        (("1", "legacy"), "fixture_stubborn"),
        (("1", "legacy"), "fixture_block"),
        (("2", "legacy"), "fixture_block"),
        (("2", "auto"), "fixture_stubborn"),
    ],
)
def test_a_client_may_leave_while_a_call_runs(drive: Drive, client: Client, tool: str, transport: str) -> None:
    """A late response would break the first line's close, and the host would be killed."""
    run = drive(client, "abandon", tool=tool)
    assert run.said == {"left": True}
    dropped = client[0] == "1"  # the second line cancels its calls before it closes
    assert run.exit_code() == (int(dropped) if transport == "stdio" else None)


def test_several_clients_of_one_server_are_isolated(place: Place) -> None:
    """They use the same ids at the same time, and each has its own log level."""
    with place.serving() as server, ThreadPoolExecutor(len(CLIENTS)) as pool:
        runs = pool.map(lambda client: place.connect(client, "everything", server, **PLAN), CLIENTS)
        for client, run in zip(CLIENTS, runs, strict=True):
            check_log(run.said["logged"], client)


def test_a_server_restarted_under_a_client(place: Place, client: Client) -> None:
    """A stateless client notices nothing; a session is gone with its server, and a fresh client opens another."""
    with ExitStack() as stack:
        first = stack.enter_context(place.serving())

        def restart() -> None:
            assert first.end() == 0, first.stderr
            stack.enter_context(place.serving(first.port))

        run = place.connect(client, "restarted", first, meanwhile=restart)
        assert run.said["before"]["content"][0]["text"] == "before"
        if is_stateless(client):
            assert run.said["after"]["result"]["content"][0]["text"] == "after"
            assert set(run.statuses()) == {"POST 200"}
            assert [message["method"] for message in run.sent()].count("server/discover") == (client[1] == "auto")
        else:
            assert abs(run.said["after"]["error"]["code"]) == 32600  # the first line makes up its own, without the sign
            assert "POST 404" in run.statuses()
        fresh = place.connect(client, "at_once", first, tool="fixture_echo", argument="text", count=1)
        assert fresh.said["texts"] == ["0"]
