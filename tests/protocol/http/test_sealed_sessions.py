"""Sessions without a store: sealed ones, which every process with the same keys serves, and none at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
import pytest_asyncio

from pegboard.types import Caller, Client
from pegboard_plugins.protocols.mcp.http.sealed_sessions import SealedSessions
from pegboard_plugins.protocols.mcp.settings import McpConfig
from tests.support import asking_plugin, asks_kit
from tests.support.http import Served, http_config
from tests.support.http_mcp import Session, ask, call, exchanged, message, mirrored, modern, opened
from tests.support.mcp_rounds import ABLE
from tests.support.peer import META
from tests.support.pool import ASKING, FIXTURE, make_site
from tests.support.schemas import LEGACY, MODERN

KEY = "0123456789abcdef0123456789abcdef"
SEALED = f'[plugins.mcp]\nsessions = "sealed"\nstate_keys = ["{KEY}"]\n'
PING = message("ping")
ALICE = Caller("alice", issuer="https://a.example")


class Pair(NamedTuple):
    """Two processes with the same keys, and a session that the first has opened."""

    second: Served
    session: Session
    capabilities: dict[str, Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"), {**FIXTURE, "asks": asks_kit}, asking_plugin)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pair(site: Path) -> AsyncIterator[Pair]:
    config = http_config(host=ASKING, more=f'{SEALED}[plugins.mcp.profiles.part]\ntools = ["fixture_echo"]\n')
    async with Served(site, config) as first, Served(site, config) as second:
        session = Session(first, capabilities=ABLE)
        answer = (await session.open()).result
        session.served = second
        yield Pair(second, session, answer["capabilities"])


async def test_another_process_serves_a_sealed_session(pair: Pair) -> None:
    assert (await pair.session.post(call("fixture_echo", {"text": "a"}))).result["content"][0]["text"] == "a"
    assert (await pair.session.listen()).head.status == 200
    assert len(pair.session.id) < 1000


@pytest.mark.parametrize(
    "request_message",
    [
        call("asks_name"),
        call("asking_keep", {"value": "a"}),
        message("logging/setLevel", {"level": "error"}),
        message("resources/subscribe", {"uri": "x://a"}),
    ],
    ids=["question", "data", "level", "subscription"],
)
async def test_what_needs_a_stored_session_fails_with_the_reason(pair: Pair, request_message: Any) -> None:
    answer = (await pair.session.post(request_message)).last
    assert "error" in answer or answer["result"]["isError"]
    assert "sealed session" in str(answer)
    assert "subscribe" not in pair.capabilities["resources"]


async def test_a_method_of_a_declared_capability_is_found(pair: Pair) -> None:
    assert "logging" in pair.capabilities
    assert (await pair.session.post(message("logging/setLevel", {"level": "error"}))).refused == (200, -32603)


async def test_a_sealed_session_cannot_be_deleted(pair: Pair) -> None:
    refused = await pair.second.request("DELETE", "/mcp", pair.session.fields())
    assert (refused.status, refused.get("Allow")) == (405, "GET, POST")
    assert "ends by itself" in refused.text
    assert (await pair.session.post(PING)).status == 200


async def test_a_changed_id_and_one_of_another_endpoint_are_unknown(pair: Pair) -> None:
    own = pair.session.id
    for name in (own[:-1], own[:40] + own[40:].swapcase(), f"part.{own}", "x" * 5000):
        assert (await pair.session.post(PING, ("Mcp-Session-Id", name))).status == 404
    for name in (own, f"part.{own}"):
        fields = pair.session.fields(("Mcp-Session-Id", name))
        async with await pair.second.connect() as line:
            answer = await line.request("POST", "/mcp/part", fields, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert answer.status == 404


async def test_a_client_that_describes_itself_at_length_gets_no_session(pair: Pair) -> None:
    answer = await Session(pair.second, capabilities={"experimental": {"a": {"b": "x" * 4000}}}).open()
    assert answer.refused == (400, -32602)
    assert "may have 4096" in answer.last["error"]["message"]


@pytest.mark.parametrize("caller", [Caller("bob", issuer=ALICE.issuer), Caller("alice"), Caller(client_id="alice")])
async def test_a_sealed_session_is_for_its_caller_alone(caller: Caller) -> None:
    sessions, others = (SealedSessions(McpConfig.model_validate({"state_keys": [KEY]}), Mock()) for _ in range(2))
    session = await sessions.open(Client(revision=LEGACY[-1]), ALICE)
    assert session is not None
    assert await others.find(session.id, caller) is None
    assert await others.find(session.id, ALICE) is not None


async def test_a_sealed_session_ends_at_its_time_even_in_use(site: Path) -> None:
    async with Served(site, http_config(more=f"{SEALED}sealed_seconds = 0.3\n")) as served:
        session = await opened(served)
        async with asyncio.timeout(20):
            while (await session.post(PING)).status == 200:
                pass
        assert (await session.post(PING)).refused == (404, -32600)


@pytest.mark.requirement("ERA-22")
async def test_without_sessions_a_client_learns_which_revision_to_use(site: Path) -> None:
    async with Served(site, http_config(more='[plugins.mcp]\nsessions = "off"\n')) as served:
        session = Session(served)
        for answer in (await session.post(message("initialize")), await session.post(PING), await session.post([PING])):
            assert answer.refused == (400, -32600)
            assert answer.last["error"]["data"] == {"supported": [*MODERN]}
            assert 'sessions = "off"' in answer.last["error"]["message"]
        for method in ("GET", "DELETE"):
            assert (await served.request(method, "/mcp", session.fields())).status == 405
        assert (await ask(served, message("server/discover"))).result["supportedVersions"] == [*MODERN]
        assert (await ask(served, call("fixture_echo", {"text": "a"}))).result["content"][0]["text"] == "a"


@pytest.mark.requirement("ERA-14")
async def test_without_sessions_no_error_names_a_revision_with_sessions(site: Path) -> None:
    async with Served(site, http_config(more='[plugins.mcp]\nsessions = "off"\n')) as served:
        unknown = modern(PING, **{f"{META}protocolVersion": "2099-01-01"})
        named = ((unknown, "2099-01-01"), (unknown, "2099-01-02"), (PING, "2099-01-01"), (PING, MODERN[-1]))
        for request, header in named:
            answer = await exchanged(served, request, mirrored(request, MCP_Protocol_Version=header))
            assert answer.last["error"]["data"]["supported"] == [*MODERN]
