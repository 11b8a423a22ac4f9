"""Scopes by configuration for callers with real tokens, over sockets, in both eras."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.plugins.auth.resource_server.conftest import METADATA, serve
from tests.plugins.auth.resource_server.test_scopes import ERAS, Peer
from tests.plugins.auth.scopes import docs_kit
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import call, message, opened, stream
from tests.support.issuer import Issuer
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="session")

SETTINGS = """
[plugins.scopes]
methods = { "tools/call" = ["m"], "completion/complete" = "typing" }
toolkits = { docs = ["docs"] }
tools = { "docs_wr*" = ["t"], docs_wirte = ["x"] }
resources = { "docs://secret" = ["s"] }
prompts = { "*_ask" = ["p"] }
"""
TYPING = {"ref": {"type": "ref/prompt", "name": "docs_ask"}, "argument": {"name": "what", "value": "a"}}
REQUESTS: list[tuple[dict[str, Any], str]] = [
    (call("docs_write"), "docs m own t"),
    (call("docs_write", token="p"), "docs m own t"),
    (message("resources/read", {"uri": "docs://secret"}), "docs s"),
    (message("prompts/get", {"name": "docs_ask", "arguments": {"what": "x"}}), "docs p"),
    (message("completion/complete", TYPING), "docs p typing"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("scoped")
    entry_points = {"pegboard.toolkits": {"docs": "docs_kit:docs", "other": "docs_kit:other"}}
    make_distribution(site, "docs-kit", "1", entry_points, {"docs_kit.py": inspect.getsource(docs_kit)})
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Path, issuer: Issuer) -> AsyncIterator[Served]:
    async with serve(site, issuer, settings=SETTINGS) as served:
        assert "no tool matches 'docs_wirte'; did you mean 'docs_write'?" in served.stderr
        yield served


@ERAS
@pytest.mark.requirement("AUTH-03", "RES-08")
async def test_a_challenge_names_every_scope_of_the_request(served: Served, issuer: Issuer, era: str) -> None:
    for request, needed in REQUESTS:
        done = await Peer(served, era, issuer.token(scope="docs m")).ask(request)
        assert done.refused == (403, -32602)
        assert done.last["error"]["data"] == {"requiredScopes": needed.split()}
        challenge = done.answer.get("WWW-Authenticate") or ""
        scope = needed if era in MODERN else " ".join(sorted({"docs", "m", *needed.split()}))
        assert challenge.startswith('Bearer error="insufficient_scope", ')
        assert challenge.endswith(f'scope="{scope}", resource_metadata="{METADATA}"')
        assert "result" in (await Peer(served, era, issuer.token(scope=needed)).ask(request)).last


def subscribing(uri: Any) -> dict[str, Any]:
    return message("resources/subscribe", {"uri": uri})


async def test_subscriptions_of_sessions_need_the_scopes_of_their_resource(served: Served, issuer: Issuer) -> None:
    peer = Peer(served, "2025-11-25", issuer.token(scope="docs"))
    done = await peer.ask(subscribing("docs://secret"))
    assert done.refused == (403, -32602)
    assert 'scope="docs s"' in (done.answer.get("WWW-Authenticate") or "")
    assert (await peer.ask(subscribing("docs://none"))).refused == (200, -32002)
    assert (await peer.ask(subscribing(5))).refused == (200, -32602)
    assert (await peer.ask(subscribing("other://of/me"))).result == {}
    peer.bearer = f"Bearer {issuer.token(scope='docs s')}"
    assert (await peer.ask(subscribing("docs://secret"))).result == {}


async def test_in_a_batch_a_missing_scope_is_an_error_among_others(served: Served, issuer: Issuer) -> None:
    bearer = ("Authorization", f"Bearer {issuer.token(scope='docs')}")
    session = await opened(served, "2025-03-26", Authorization=bearer[1])
    answer = await session.post([subscribing("docs://secret"), subscribing("docs://plain")], bearer)
    data = [reply.get("result", reply.get("error", {}).get("data")) for reply in answer.last]
    assert (answer.status, data) == (200, [{"requiredScopes": ["docs", "s"]}, {}])


async def test_a_subscription_request_gets_what_its_token_allows(served: Served, issuer: Issuer) -> None:
    uris = ["docs://secret", "docs://plain", "docs://none", "other://of/me"]
    for scope, honoured in (("docs", ["docs://plain", "other://of/me"]), ("docs s", [*uris[:2], uris[3]])):
        request = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        listening = await stream(served, request, Authorization=f"Bearer {issuer.token(scope=scope)}")
        assert listening.first["params"]["notifications"] == {"resourceSubscriptions": honoured}
        listening.abort()
