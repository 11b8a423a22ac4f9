"""The official SDK's clients are notified of changes while they are connected, in every era, over both transports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import PAIRS, Client, Drive, is_stateless
from tests.support.sdk import Run

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

GROW = {"tools": "new_tool", "resources": "new://one", "prompts": "new_prompt"}
URIS = ["doc://static", "doc://templated"]


def received(run: Run, method: str) -> list[dict[str, Any]]:
    """Return the server's messages of a method."""
    lines = [json.loads(line[1:]) for line in run.record if line.startswith(b"<")]
    return [one for one in lines if one.get("method") == method]


@pytest.mark.parametrize("pair", [PAIRS[1], PAIRS[3], PAIRS[4]], ids=str, scope="module")
def test_a_client_is_notified_of_changes_and_lists_again(drive: Drive, client: Client) -> None:
    run = drive(client, "changes", grow=GROW, uris=URIS)
    for kind, name in GROW.items():
        said, key = run.said[kind], "uri" if kind == "resources" else "name"
        assert said["told"] == [[kind], [kind]]
        before, between, after = [{one[key] for page in pages for one in page[kind]} for pages in said["lists"]]
        assert (between - before, after) == ({name}, before)
        assert name in json.dumps(said["used"]["result"])
        assert "error" in said["gone"]
        assert len(received(run, f"notifications/{kind}/list_changed")) == 2 + (kind == "tools")
    assert sorted(run.said["told"]) == URIS
    assert run.said["afterwards"] == ["tools"]
    methods = [message["method"] for message in run.sent()]
    if not is_stateless(client):
        assert methods.count("resources/subscribe") == methods.count("resources/unsubscribe") == 2
        return
    assert "resources/subscribe" not in methods
    listens = [message for message in run.sent() if message["method"] == "subscriptions/listen"]
    assert len(received(run, "notifications/subscriptions/acknowledged")) == len(listens) == 5
    updated = received(run, "notifications/resources/updated")
    ids = {one["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in updated}
    assert ids == {listens[3]["id"]}
    assert listens[3]["params"]["notifications"] == {"resourceSubscriptions": URIS}
