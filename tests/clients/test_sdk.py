"""The official Python SDK's clients drive the installed command from outside, in both eras and over both transports.

One run of a client does everything once; each test looks at one part of what came of it.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import pytest

from tests.clients.conftest import Client, Drive, Place
from tests.support.hostile_kit import CANARY
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

CALLS: dict[str, tuple[str, Any]] = {
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
}


@pytest.fixture(scope="module")
def run(drive: Drive, client: Client) -> Run:
    """What one client found."""
    uris = ["fixture://text", "fixture://bytes", "fixture://missing"]
    return drive(client, "everything", calls=CALLS, uris=uris, names=["fixture_review", "fixture_missing"])


def text(run: Run, call: str) -> str:
    """The text of a call that was answered with a result."""
    found: str = run.said["calls"][call]["result"]["content"][0]["text"]
    return found


def is_modern(client: Client) -> bool:
    return client[1] != "legacy"


def test_every_message_fits_its_schema(run: Run) -> None:
    """The recorder has refused none; and it has seen them all."""
    assert run.conversation.checked == sum(line.startswith(b"<") for line in run.record) > 30


def test_the_client_connects_in_its_era(run: Run, client: Client) -> None:
    opening = run.said["opening"]
    assert opening["protocolVersion"] == ("2026-07-28" if is_modern(client) else "2025-11-25")
    assert ("initialize" in [message["method"] for message in run.sent()]) is not is_modern(client)
    assert run.sent()[0]["method"] == {"legacy": "initialize", "auto": "server/discover"}.get(client[1], "tools/list")


def test_the_client_learns_who_serves_it(run: Run, client: Client) -> None:
    opening = run.said["opening"]
    if client[1] == "2026-07-28":
        return  # a client that pins a revision asks nobody
    assert opening["serverInfo"] == {"name": "clients", "version": "4.5.6", "title": "For clients"}
    assert opening["instructions"] == "Ask away."
    assert opening["capabilities"].keys() >= {"tools", "resources", "prompts"}


def test_lists_come_in_pages(run: Run) -> None:
    pages = run.said["tools"]
    assert len(pages) > 2
    assert all(len(page["tools"]) == 5 for page in pages[:-1])
    names = [tool["name"] for page in pages for tool in page["tools"]]
    assert {"fixture_echo", "hostile_say", "files_list", "files_read"} <= set(names)
    assert len(set(names)) == len(names)
    assert "fixture://text" in [item["uri"] for page in run.said["resources"] for item in page["resources"]]
    assert "fixture_review" in [item["name"] for page in run.said["prompts"] for item in page["prompts"]]


def test_a_person_s_own_files_are_listed_and_read(run: Run) -> None:
    """The main job: an installed toolkit, a real client, real files."""
    assert "note.txt" in text(run, "files")
    assert "written by a person" in text(run, "file")


def test_calls_are_answered(run: Run) -> None:
    assert text(run, "echo") == "größer 日本語 🧰"
    assert not run.said["calls"]["no arguments"]["result"].get("isError")
    assert text(run, "printed") == "printed"
    assert text(run, "surrogate").startswith("half")


def test_structured_results_are_accepted(run: Run, client: Client) -> None:
    """clients.md 21: the SDK itself holds them against the listed schema, and raises when they do not fit."""
    assert run.said["calls"]["structured"]["result"]["structuredContent"]["y"] == 2.5
    assert json.loads(text(run, "list")) == [0, 1, 2]
    if is_modern(client):
        assert run.said["calls"]["list"]["result"]["structuredContent"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "told"),
    [("refused", "refused: too heavy"), ("crashed", ""), ("exited", ""), ("wrong arguments", "a")],
)
def test_failures_reach_the_model(run: Run, call: str, told: str) -> None:
    assert run.said["calls"][call]["result"]["isError"] is True
    assert told in text(run, call)
    assert CANARY not in json.dumps(run.said)


def test_errors_of_the_protocol_reach_the_program(run: Run, client: Client) -> None:
    assert run.said["calls"]["unknown"]["error"]["code"] == -32602
    assert run.said["gets"]["fixture_missing"]["error"]["code"] == -32602
    missing = run.said["reads"]["fixture://missing"]["error"]
    assert missing["code"] == (-32602 if is_modern(client) else -32002)
    assert missing["data"] == {"uri": "fixture://missing"}


def test_progress_is_followed(run: Run) -> None:
    assert run.said["progress"] == [[1, 3, "one more"], [2, 3, "one more"], [3, 3, "one more"]]
    assert run.said["counted"]["content"][0]["text"] == "counted"


def test_a_cancelled_call_ends_in_the_host(run: Run, client: Client, transport: str) -> None:
    """A modern client over HTTP says so by closing the response's stream, any other by a notification."""
    assert json.loads(run.said["cancelled"]["content"][0]["text"]) == ["cancelled by the client"]
    (waiting,) = [message["id"] for message in run.sent() if message.get("params", {}).get("name") == "fixture_wait"]
    told = [message["params"]["requestId"] for message in run.sent() if message["method"] == "notifications/cancelled"]
    assert told == ([] if is_modern(client) and transport == "http" else [waiting])
    answered = [json.loads(line[1:]).get("id") for line in run.record if line.startswith(b"<")]
    assert waiting not in answered


def test_resources_and_prompts_are_given(run: Run) -> None:
    reads = run.said["reads"]
    assert reads["fixture://text"]["result"]["contents"][0]["text"] == "# A text\n"
    assert "blob" in reads["fixture://bytes"]["result"]["contents"][0]
    assert run.said["gets"]["fixture_review"]["result"]["messages"][0]["content"]["text"] == "Please review this."


def test_ping_is_answered_where_it_exists(run: Run, client: Client) -> None:
    if is_modern(client):
        assert run.said["ping"]["error"]["code"] == -32601
    else:
        assert "result" in run.said["ping"]


def test_the_host_ends_by_itself_when_the_client_leaves(run: Run, transport: str) -> None:
    """clients.md 1 and 2: no signal was needed. Over HTTP it goes on, and `Place.serving` has it end when asked to."""
    assert run.exit_code() == (0 if transport == "stdio" else None)


def test_sessions_over_http_are_ended_by_the_client(run: Run, client: Client, transport: str) -> None:
    ends = [status for status in run.statuses() if status.startswith("DELETE")]
    assert ends == (["DELETE 204"] if transport == "http" and not is_modern(client) else [])


@pytest.mark.parametrize(
    ("client", "tool"),
    [
        (("1", "legacy"), "fixture_wait"),
        (("1", "legacy"), "fixture_stubborn"),
        (("1", "legacy"), "fixture_block"),
        (("2", "legacy"), "fixture_block"),
        (("2", "auto"), "fixture_stubborn"),
    ],
)
def test_a_client_may_leave_while_a_call_runs(drive: Drive, client: Client, tool: str, transport: str) -> None:
    """clients.md 1: a late answer would break the first line's close, and the host would be killed."""
    run = drive(client, "abandon", tool=tool)
    assert run.said == {"left": True}
    dropped = client[0] == "1"  # the second line cancels its calls before it closes
    assert run.exit_code() == (int(dropped) if transport == "stdio" else None)


def test_many_calls_at_once(drive: Drive, client: Client, transport: str) -> None:
    count = 50 if transport == "http" else 100
    run = drive(client, "at_once", count=count)
    assert run.said["texts"] == [str(number) for number in range(count)]
    assert run.conversation.checked >= count


def test_a_server_restarted_under_a_client(place: Place, client: Client) -> None:
    """A modern client notices nothing; a session is gone with its server, and a fresh client begins another."""
    with ExitStack() as stack:
        first = stack.enter_context(place.serving())

        def restart() -> None:
            assert first.end() == 0, first.stderr
            stack.enter_context(place.serving(first.port))

        run = place.connect(client, "restarted", first, meanwhile=restart)
        assert run.said["before"]["content"][0]["text"] == "before"
        if is_modern(client):
            assert run.said["after"]["result"]["content"][0]["text"] == "after"
            assert set(run.statuses()) == {"POST 200"}
            assert [message["method"] for message in run.sent()].count("server/discover") == (client[1] == "auto")
        else:
            assert abs(run.said["after"]["error"]["code"]) == 32600  # the first line makes up its own, without the sign
            assert "POST 404" in run.statuses()
        fresh = place.connect(client, "at_once", first, count=1)
        assert fresh.said["texts"] == ["0"]
