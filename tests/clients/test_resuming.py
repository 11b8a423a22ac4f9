"""The official SDK's clients come back: for the rest of a stream, and to a session whose server was killed.

In 2026-07-28 there is neither: nothing is kept between requests; `test_sdk.py` restarts the server under its clients.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.clients.conftest import SESSION_CLIENTS, Client, Place
from tests.support.pool import stores
from tests.support.sdk import Run, Server

pytestmark = pytest.mark.timeout(600)  # the first run makes environments

POLLING = "\n[plugins.mcp]\npoll_after_seconds = 0.1\nretry_ms = 10\n"


def says(*texts: str, stay: bool = False, level: str = "error") -> tuple[str, dict[str, Any]]:
    """A call that logs these texts, and may stay until it is let go."""
    said = [["notifications/message", {"level": level, "data": text}] for text in texts]
    return "asking_tell", {"notifications": said, "stay": stay}


@pytest.fixture(params=SESSION_CLIENTS, ids="-".join)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client of sessions."""
    chosen: Client = request.param
    return chosen


def let_go(place: Place, server: Server) -> None:
    """Let calls end that stay, from another session."""
    place.connect(("2", "legacy"), "asked", server, calls={"go": ("call", "asking_let_go", {})})


def come_back(place: Place, client: Client, server: Server, folder: Path, lost: Run) -> Run:
    """Another process of a client resumes what the first has begun; its record goes on with the other's."""
    folder.mkdir()
    (folder / "record").write_bytes(b"".join(line + b"\n" for line in lost.record))
    headers = {"Mcp-Session-Id": lost.said["session"], "MCP-Protocol-Version": "2025-11-25"}
    return place.connect(client, "resumed", server, folder, headers=headers, token=lost.said["token"], stay=True)


def test_another_process_of_a_client_resumes_a_call(place: Place, client: Client, tmp_path: Path) -> None:
    """While the call runs, when it has ended, and in another server, where the first has kept all in files."""
    kept = stores(place.factory.mktemp("kept"))
    with ExitStack() as stack:
        first = stack.enter_context(place.serving(more=kept))
        lost = place.connect(client, "dropped", first, call=says("a", "b", stay=True), events=3, stay=True)
        assert lost.said["logged"] == ["a", "b"]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(come_back, place, client, first, tmp_path / "running", lost)
            let_go(place, first)
            backs = [running.result()]
        backs.append(come_back(place, client, first, tmp_path / "ended", lost))
        first.kill()
        second = stack.enter_context(place.serving(first.port, kept))
        backs.append(come_back(place, client, second, tmp_path / "killed", lost))
        for back in backs:
            assert back.said["logged"] == []
            assert back.said["result"]["content"][0]["text"] == "told"
            assert back.sent() == lost.sent()


def test_a_client_resumes_a_stream_until_its_call_is_answered(place: Place, client: Client) -> None:
    """The SDK comes back by itself, as often as it has to, with the id of the last event."""
    with place.serving(more=POLLING) as server:
        run = place.connect(client, "polled", server, call=says("a", stay=True))
        assert run.said["result"]["content"][0]["text"] == "told"
        assert run.said["logged"] == ["a"]
        assert run.statuses().count("GET 200") >= 4


def test_sessions_go_on_when_their_server_was_killed(place: Place) -> None:
    """Two clients keep their sessions, log levels and subscriptions, without another initialize."""
    kept = stores(place.factory.mktemp("kept"))
    ready, again = Barrier(len(SESSION_CLIENTS) + 1), Barrier(len(SESSION_CLIENTS) + 1)

    def wait() -> None:
        ready.wait(60)
        again.wait(60)

    def outlive(client: Client) -> Run:
        quiet = says("x", level="info")
        return place.connect(client, "outlived", first, meanwhile=wait, uris=[f"doc://{client[0]}"], log=quiet)

    with ExitStack() as stack:
        first = stack.enter_context(place.serving(more=kept))
        pool = stack.enter_context(ThreadPoolExecutor(len(SESSION_CLIENTS)))
        runs = [pool.submit(outlive, client) for client in SESSION_CLIENTS]
        ready.wait(60)
        first.kill()
        stack.enter_context(place.serving(first.port, kept))
        again.wait(60)
        for (line, _), one in zip(SESSION_CLIENTS, runs, strict=True):
            run = one.result()
            assert run.said["after"]["content"][0]["text"] == "after"
            assert run.said["told"] == run.said["again"] == [f"doc://{line}"]
            assert run.said["logged"] == []
            assert [message["method"] for message in run.sent()].count("initialize") == 1
            assert run.statuses()[-1] == "DELETE 204"
