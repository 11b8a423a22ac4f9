"""The official SDK's clients are notified of changes while they are connected, in every era, over both transports."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import pytest

from tests.clients.conftest import STATELESS_CLIENTS, Client, Drive, Place, is_stateless
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

GROW = {"tools": "new_tool", "resources": "new://one", "prompts": "new_prompt"}
URIS = ["doc://static", "doc://templated"]


def received(run: Run, method: str) -> list[dict[str, Any]]:
    """Return the server's messages of a method."""
    lines = [json.loads(line[1:]) for line in run.record if line.startswith(b"<")]
    return [one for one in lines if one.get("method") == method]


def test_a_client_is_notified_of_changes_and_lists_again(drive: Drive, client: Client) -> None:
    run = drive(client, "changes", grow=GROW, uris=URIS)
    for kind, name in GROW.items():
        said, key = run.said[kind], "uri" if kind == "resources" else "name"
        assert said["told"] == [[kind], [kind]]
        before, between, after = [{one[key] for page in pages for one in page[kind]} for pages in said["lists"]]
        assert (between - before, after) == ({name}, before)
        assert name in json.dumps(said["used"]["result"])
        unknown = -32002 if kind == "resources" and not is_stateless(client) else -32602
        assert said["gone"]["error"]["code"] == unknown
        assert len(received(run, f"notifications/{kind}/list_changed")) == 2 + (kind == "tools")
    assert sorted(run.said["told"]) == URIS
    assert run.said["afterwards"] == ["tools"]
    methods = [message["method"] for message in run.sent()]
    assert (
        methods.count("resources/subscribe") == methods.count("resources/unsubscribe") == 2 * (not is_stateless(client))
    )
    if is_stateless(client):
        listens = [message for message in run.sent() if message["method"] == "subscriptions/listen"]
        assert len(received(run, "notifications/subscriptions/acknowledged")) == len(listens) == 5
        updated = received(run, "notifications/resources/updated")
        assert {one["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in updated} == {
            listens[3]["id"]
        }
        assert listens[3]["params"]["notifications"] == {"resourceSubscriptions": URIS}


@pytest.mark.parametrize("client", STATELESS_CLIENTS, ids="-".join)
@pytest.mark.parametrize("end", ["graceful", "lost"])
def test_a_client_learns_how_its_subscription_ended(place: Place, client: Client, end: str) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(place.serving())

        def restart() -> None:
            if end == "lost":
                first.kill()
            else:
                assert first.end() == 0, first.stderr
            stack.enter_context(place.serving(first.port))

        run = place.connect(client, "ended", first, meanwhile=restart, kinds=["tools", "prompts"])
        assert run.said["end"] == end
        assert sorted(run.said["again"]) == ["prompts", "tools"]
