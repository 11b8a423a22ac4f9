"""The official SDK's clients hear of what changes while they are connected, in every era, over both transports."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier
from typing import Any

import pytest

from tests.clients.conftest import Client, Place
from tests.support.sdk import Run, Server

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

GROW: dict[str, tuple[str, str]] = {
    "tools": ("new_tool", "new_tool"),
    "resources": ("new://one", "new://one"),
    "prompts": ("new_prompt", "new_prompt"),
}
NAMES = {"tools": "name", "resources": "uri", "prompts": "name"}
LISTENERS: list[Client] = [("2", "auto"), ("2", "2026-07-28")]
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def is_modern(client: Client) -> bool:
    return client[1] != "legacy"


def start(place: Place, transport: str, client: Client, scenario: str, **plan: Any) -> Run:
    return (place.http if transport == "http" else place.stdio)(client, scenario, **plan)


def received(run: Run, method: str) -> list[dict[str, Any]]:
    """What the server told by itself."""
    lines = [json.loads(line[1:]) for line in run.record if line.startswith(b"<")]
    return [one for one in lines if one.get("method") == method]


@pytest.fixture(scope="module")
def grown(whole_place: Place, transport: str, client: Client) -> Run:
    """What one client saw of things that came and went."""
    return start(whole_place, transport, client, "grown", grow=GROW)


@pytest.mark.parametrize("kind", GROW)
def test_what_is_added_and_removed_is_heard_of_and_listed_anew(grown: Run, kind: str) -> None:
    """2026-07-28: the client keeps lists, and it is the notification that lets it forget them."""
    said, (name, _) = grown.said[kind], GROW[kind]
    assert said["told"] == [[kind], [kind]]
    listed = [{one[NAMES[kind]] for page in pages for one in page[kind]} for pages in said["lists"]]
    assert listed[1] - listed[0] == {name}
    assert listed[2] == listed[0]


@pytest.mark.parametrize("kind", GROW)
def test_what_was_added_works_until_it_is_removed(grown: Run, client: Client, kind: str) -> None:
    said, (name, _) = grown.said[kind], GROW[kind]
    assert name in json.dumps(said["used"]["result"])
    assert said["gone"]["error"]["code"] == (-32002 if kind == "resources" and not is_modern(client) else -32602)


def test_the_server_says_once_what_has_changed(grown: Run) -> None:
    for kind in GROW:
        assert len(received(grown, f"notifications/{kind}/list_changed")) == 2


def test_resources_are_watched(whole_place: Place, transport: str, client: Client) -> None:
    uris = ["doc://static", "doc://templated"]
    run = start(whole_place, transport, client, "subscribed", uris=uris)
    assert sorted(run.said["told"]) == uris
    assert run.said["afterwards"] == ["tools"]
    methods = [message["method"] for message in run.sent()]
    assert methods.count("resources/subscribe") == methods.count("resources/unsubscribe") == 2 * (not is_modern(client))
    assert len(received(run, ACKNOWLEDGED)) == 2 * is_modern(client)


@pytest.mark.parametrize("client", LISTENERS, ids="-".join)
def test_what_is_told_names_its_subscription(whole_place: Place, transport: str, client: Client) -> None:
    """The SDK tells subscriptions apart by their ids; so the second hears nothing of the first."""
    run = start(whole_place, transport, client, "subscribed", uris=["doc://static"])
    listens = [message for message in run.sent() if message["method"] == "subscriptions/listen"]
    (updated,) = received(run, "notifications/resources/updated")
    (changed,) = received(run, "notifications/tools/list_changed")
    named = [one["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in (updated, changed)]
    assert named == [one["id"] for one in listens]
    assert listens[0]["params"]["notifications"] == {"resourceSubscriptions": ["doc://static"]}


def test_several_clients_hear_what_another_does(whole_place: Place) -> None:
    """One server, all kinds of clients at once: each hears, in its own way, of a tool that one of them adds."""
    clients: list[Client] = [("1", "legacy"), ("2", "legacy"), *LISTENERS]
    ready, done = Barrier(len(clients) + 1), Barrier(len(clients) + 1)

    def wait() -> None:
        ready.wait(60)
        done.wait(60)

    with whole_place.serving() as server, ThreadPoolExecutor(len(clients)) as pool:
        watching = [pool.submit(watch, whole_place, client, server, wait) for client in clients]
        ready.wait(60)
        calls = {
            "grow": ("call", "grow", {"kind": "tools", "names": ["for_all"]}),
            "change": ("call", "asking_change", {"what": ["doc://static"]}),
        }
        whole_place.connect(("2", "auto"), "asked", server, calls=calls)
        done.wait(60)
        for one in watching:
            assert sorted(one.result().said["told"]) == ["doc://static", "tools"]


def watch(place: Place, client: Client, server: Server, meanwhile: Any) -> Run:
    """Run a client that listens."""
    return place.connect(client, "watched", server, meanwhile=meanwhile, kinds=["tools"], uris=["doc://static"])


@pytest.mark.parametrize("client", LISTENERS, ids="-".join)
@pytest.mark.parametrize("end", ["graceful", "lost"])
def test_a_client_learns_how_its_subscription_ended(whole_place: Place, client: Client, end: str) -> None:
    """A server that ends says so first, one that is killed does not; the same client listens to the next one."""
    with ExitStack() as stack:
        first = stack.enter_context(whole_place.serving())

        def restart() -> None:
            if end == "lost":
                first.kill()
            else:
                assert first.end() == 0, first.stderr
            stack.enter_context(whole_place.serving(first.port))

        run = whole_place.connect(client, "ended", first, meanwhile=restart, kinds=["tools", "prompts"])
        assert run.said["end"] == end
        assert sorted(run.said["again"]) == ["prompts", "tools"]
