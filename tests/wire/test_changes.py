"""Changes over standard streams: told to a session, and to subscriptions (sections 2.3 and 6)."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.pool import ASKING, CONFIG, make_asking_site
from tests.support.schemas import LEGACY
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

ID = "io.modelcontextprotocol/subscriptionId"
ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
LISTS = {kind: f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}


@pytest.fixture(scope="session")
def asking_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_asking_site(tmp_path_factory.mktemp("asking"))


def asking(site: Path) -> Wire:
    return Wire(config=CONFIG + ASKING, site=site)


async def change(wire: Wire, *what: str) -> None:
    await wire.result("tools/call", {"name": "asking_change", "arguments": {"what": list(what)}}, modern=True)


async def told(wire: Wire, many: int = 1) -> list[str]:
    found = [await wire.receive() for _ in range(many)]
    return [one["params"].get("uri", one["method"]) for one in found]


async def listen(wire: Wire, wanted: Any, request_id: Any) -> Any:
    """Begin to listen; what is honoured."""
    await wire.begin("subscriptions/listen", {"notifications": wanted}, id=request_id, modern=True)
    acknowledged = await wire.receive()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    given = acknowledged["params"]["_meta"][ID]
    assert (type(given), given) == (type(request_id), request_id)
    return acknowledged["params"]["notifications"]


@pytest.mark.requirement("LISTEN-10", "LISTEN-11")
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_session_is_told_of_changes(asking_site: Path, revision: str) -> None:
    async with asking(asking_site) as wire:
        await wire.initialize(revision)
        await wire.result("resources/subscribe", {"uri": "x://a"})
        await change(wire, "tools", "x://b", "tools", "x://a", "prompts", "resources", "x://a")
        assert await told(wire, 4) == [LISTS["tools"], "x://a", LISTS["prompts"], LISTS["resources"]]
        await wire.result("resources/unsubscribe", {"uri": "x://a"})
        await change(wire, "x://a", "tools")
        assert await told(wire) == [LISTS["tools"]]


@pytest.mark.requirement("LISTEN-01", "LISTEN-02", "LISTEN-03")
async def test_subscriptions_are_told_of_what_they_want(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        assert await listen(wire, ALL, 0) == ALL
        assert await listen(wire, {"resourceSubscriptions": ["x://a"]}, "0") == {"resourceSubscriptions": ["x://a"]}
        await change(wire, "tools", "x://a", "x://b", "tools")
        found = [await wire.receive() for _ in range(2)]
        assert [(one["method"], one["params"]["_meta"]) for one in found] == [
            (LISTS["tools"], {ID: 0}),
            ("notifications/resources/updated", {ID: "0"}),
        ]
        again = await wire.request("subscriptions/listen", {"notifications": ALL}, id=0, modern=True)
        assert again["error"]["code"] == -32600


@pytest.mark.requirement("LISTEN-08")
async def test_cancelling_a_subscription_ends_it_without_a_word(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await listen(wire, ALL, "a")
        await listen(wire, {"toolsListChanged": True}, "b")
        await wire.notify("notifications/cancelled", {"requestId": "a"})
        await change(wire, "prompts", "tools")
        (only,) = [await wire.receive()]
        assert (only["method"], only["params"]["_meta"]) == (LISTS["tools"], {ID: "b"})
        assert await wire.settle() == []
        assert await listen(wire, ALL, "a") == ALL  # the id is free again


@pytest.mark.requirement("LISTEN-03")
async def test_both_eras_on_one_pipe(asking_site: Path) -> None:
    """A session is told as sessions are, and a subscription with its id: each its own copy."""
    async with asking(asking_site) as wire:
        await wire.initialize()
        await listen(wire, ALL, 5)
        await change(wire, "tools")
        found = [(await wire.receive())["params"] for _ in range(2)]
        assert sorted(found, key=len) == [{}, {"_meta": {ID: 5}}]


@pytest.mark.requirement("LISTEN-05", "LISTEN-06", "LISTEN-07")
async def test_the_end_of_the_server_is_a_response_and_a_cancellation(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        await listen(wire, ALL, 1)
        wire.signal(signal.SIGTERM)
        ended = await wire.answer(1)
        assert ended["result"]["_meta"][ID] == 1
        assert ended["result"]["resultType"] == "complete"
        assert (await wire.receive())["params"] == {"requestId": 1}
        assert await wire.wait() == 0


async def test_nothing_is_said_after_the_end_of_input(asking_site: Path) -> None:
    """clients.md 1."""
    async with asking(asking_site) as wire:
        await wire.initialize()
        await listen(wire, ALL, 1)
        said = len(wire.messages)
    assert wire.exit_code == 0
    assert len(wire.messages) == said


@pytest.mark.requirement("LISTEN-13")
async def test_there_are_only_so_many(asking_site: Path) -> None:
    async with asking(asking_site) as wire:
        for number in range(100):
            await listen(wire, {}, number)
        more = await wire.request("subscriptions/listen", {"notifications": {}}, id="more", modern=True)
        assert more["error"]["code"] == -32603
        await wire.notify("notifications/cancelled", {"requestId": 7})
        assert await listen(wire, {}, "more") == {}


@pytest.mark.requirement("LISTEN-12")
@pytest.mark.parametrize("params", [{}, {"notifications": 5}, {"notifications": {"toolsListChanged": 1}}])
async def test_what_is_not_sound_is_refused(asking_site: Path, params: Any) -> None:
    async with asking(asking_site) as wire:
        assert (await wire.error("subscriptions/listen", params, modern=True))["code"] == -32602
        await change(wire, "tools")
        assert await wire.settle() == []
