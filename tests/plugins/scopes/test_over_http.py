"""Scopes by configuration for callers with real tokens, over sockets, in both eras (row C-15)."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.plugins.resource_server.conftest import METADATA, serve
from tests.plugins.resource_server.test_scopes import ACCEPTED, ERAS, Peer, challenged
from tests.plugins.scopes import docs_kit
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import Session, Streaming, call, message, mirrored, modern
from tests.support.issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

SETTINGS = """
[plugins.scopes]
methods = { "tools/call" = ["m"], "completion/complete" = "typing" }
toolkits = { docs = ["docs"] }
tools = { "docs_wr*" = ["t"] }
resources = { "docs://secret" = ["s"] }
prompts = { "*_ask" = ["p"] }
"""
TYPING = {"ref": {"type": "ref/prompt", "name": "docs_ask"}, "argument": {"name": "what", "value": "a"}}
ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "tool": (call("docs_write"), "docs m own t"),
    "with progress": (call("docs_write", token="p"), "docs m own t"),
    "resource": (message("resources/read", {"uri": "docs://secret"}), "docs s"),
    "prompt": (message("prompts/get", {"name": "docs_ask", "arguments": {"what": "x"}}), "docs p"),
    "completion": (message("completion/complete", TYPING), "docs p typing"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("scoped")
    entry_points = {"pegboard.toolkits": {"docs": "docs_kit:docs", "other": "docs_kit:other"}}
    make_distribution(site, "docs-kit", "1", entry_points, {"docs_kit.py": inspect.getsource(docs_kit)})
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(site: Path, issuer: Issuer) -> AsyncIterator[Served]:
    async with serve(site, issuer, settings=SETTINGS) as served:
        yield served


@ERAS
@pytest.mark.requirement("AUTH-03", "RES-08")
@pytest.mark.parametrize("accept", ACCEPTED.values(), ids=ACCEPTED)
@pytest.mark.parametrize(("one", "needed"), ASKED.values(), ids=ASKED)
async def test_what_a_token_does_not_allow_is_a_challenge(
    served: Served, issuer: Issuer, era: str, accept: str, one: dict[str, Any], needed: str
) -> None:
    """Row C-15: with every scope that the operation needs, those that the token has too."""
    done = await Peer(served, era, issuer.token(scope="docs m")).ask(one, accept)
    assert done.refused == (403, -32602)
    assert done.last["error"]["data"] == {"requiredScopes": needed.split()}
    told = done.answer.get("WWW-Authenticate") or ""
    assert told.startswith('Bearer error="insufficient_scope", ')
    asked = challenged(era, has="docs m", needs=needed)
    assert told.endswith(f'scope="{asked}", resource_metadata="{METADATA}"')
    assert "result" in (await Peer(served, era, issuer.token(scope=needed)).ask(one, accept)).last


@ERAS
@pytest.mark.requirement("LIST-09")
async def test_what_a_token_does_not_allow_is_not_listed(served: Served, issuer: Issuer, era: str) -> None:
    found: dict[str, list[list[str]]] = {}
    for scope in ("docs", "docs m own t s p"):
        peer = Peer(served, era, issuer.token(scope=scope))
        for method, key in (("tools", "name"), ("resources", "uri"), ("prompts", "name")):
            result = (await peer.ask(message(f"{method}/list"))).result
            assert result.get("cacheScope") == ("private" if era == "2026-07-28" else None)
            names = [one[key] for one in result[method]]
            found.setdefault(method, []).append([name for name in names if name.startswith("docs")])
    assert found["tools"] == [[], ["docs_both", "docs_read", "docs_show", "docs_write"]]
    assert found["resources"] == [["docs://plain"], ["docs://plain", "docs://secret"]]
    assert found["prompts"] == [[], ["docs_ask"]]


async def test_a_method_that_cannot_be_guarded_keeps_the_host_from_starting(site: Path, issuer: Issuer) -> None:
    settings = '[plugins.scopes]\nmethods = { "tools/list" = ["x"] }\n'
    async with serve(site, issuer, settings=settings, ready=False) as refused:
        assert await refused.wait() == 3
        told = "tools/list cannot be guarded: lists hold what a caller may use; guard tools/call"
        assert told in " ".join(refused.stderr.split())


async def test_a_name_that_fits_nothing_is_warned_of(site: Path, issuer: Issuer) -> None:
    settings = '[plugins.scopes]\ntools = { docs_wirte = ["x"] }\n'
    async with serve(site, issuer, settings=settings) as served:
        assert "'docs_wirte' is the name of no tool; did you mean 'docs_write'?" in served.stderr


# --- subscriptions


def subscribing(uri: str) -> dict[str, Any]:
    return message("resources/subscribe", {"uri": uri})


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25"])
async def test_who_may_not_read_a_resource_may_not_hear_of_it(served: Served, issuer: Issuer, revision: str) -> None:
    """Row C-15, sessions: a challenge; and where there is nothing, that there is nothing."""
    peer = Peer(served, revision, issuer.token(scope="docs"))
    for accept in ACCEPTED.values():
        done = await peer.ask(subscribing("docs://secret"), accept)
        assert done.refused == (403, -32602)
        assert 'scope="docs s"' in (done.answer.get("WWW-Authenticate") or "")
    assert (await peer.ask(subscribing("docs://none"))).refused == (200, -32002)
    assert (await peer.ask(message("resources/subscribe", {"uri": 5}))).refused == (200, -32602)
    for uri in ("docs://plain", "other://of/me"):
        assert (await peer.ask(subscribing(uri))).result == {}
    peer.bearer = f"Bearer {issuer.token(scope='docs s')}"
    assert (await peer.ask(subscribing("docs://secret"))).result == {}


async def test_in_a_batch_it_is_an_error_among_others(served: Served, issuer: Issuer) -> None:
    bearer = ("Authorization", f"Bearer {issuer.token(scope='docs')}")
    session = Session(served, "2025-03-26")
    await session.open(**dict([bearer]))
    batch = [subscribing("docs://secret"), subscribing("docs://plain")]
    body = json.dumps(batch).encode()
    answer = await served.request("POST", "/mcp", session.fields(bearer), body)
    assert answer.status == 200
    assert [one.get("result", one.get("error", {}).get("data")) for one in answer.json] == [
        {"requiredScopes": ["docs", "s"]},
        {},
    ]


async def test_what_a_caller_may_not_read_is_left_out_of_what_they_hear(served: Served, issuer: Issuer) -> None:
    """2026-07-28: the acknowledgement says what is."""
    uris = ["docs://secret", "docs://plain", "docs://none", "other://of/me"]
    for scope, honoured in (("docs", ["docs://plain", "other://of/me"]), ("docs s", [*uris[:2], uris[3]])):
        one = modern(message("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}}))
        listening = Streaming(await served.connect())
        await listening.begin(one, mirrored(one, Authorization=f"Bearer {issuer.token(scope=scope)}"))
        assert listening.first["params"]["notifications"] == {"resourceSubscriptions": honoured}
        listening.abort()
