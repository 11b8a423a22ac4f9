"""Servers with a connection for each user: no user sees or uses what belongs to another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pegboard import Authorization, AuthorizationRequiredError, Host, NotFoundError, Toolkit
from pegboard.plugin import Plugin, TokenSource, hookimpl
from pegboard.types import ANONYMOUS, Call, Caller, Failure, Listing, Outcome, RawResult, TokenRequest
from pegboard_plugins.servers.upstreams import UpstreamsPlugin
from pegboard_plugins.servers.upstreams.status_command import _states
from tests.host.hosting import make_host, until
from tests.plugins.servers.upstreams.mounts import ERAS, HERE, peer, scripted, tool
from tests.plugins.servers.upstreams.scripted import INITIALIZE
from tests.support.http import Served, http_config
from tests.support.wire import PEGBOARD

ALICE, BOB = Caller("alice"), Caller("bob")
USERS = {"alice": ALICE, "bob": BOB}
TOKENS = {name: f"{name}-token-0123456789-0123456789-abc" for name in USERS}


class UserTokens(Plugin, TokenSource):
    """Gives each user the user's own token."""

    @hookimpl
    def register_token_sources(self) -> Iterable[TokenSource]:
        return [self]

    async def token(self, request: TokenRequest) -> Authorization | None:
        assert request.required.name == "peers"
        text = TOKENS.get(request.user_id or "")
        return Authorization(text) if text else None


def mounting_host(server: dict[str, Any]) -> Host:
    config = {"plugins": {"upstreams_of_test": {"servers": {"one": server}, "first_list_seconds": 30}}}
    return make_host(
        Toolkit("none"), plugins={"upstreams_of_test": UpstreamsPlugin, "user_tokens": UserTokens}, config=config
    )


async def listed(host: Host, caller: Caller, method: str = "tools/list") -> list[str]:
    outcome = await host.dispatch(Call(method, caller=caller))
    assert isinstance(outcome, Listing)
    return [item.name for item in outcome.items]


async def called(host: Host, caller: Caller, name: str, **arguments: Any) -> Outcome:
    return await host.dispatch(Call("tools/call", {"name": name, "arguments": arguments}, caller=caller))


async def whoami(host: Host, caller: Caller) -> dict[str, Any]:
    outcome: Any = await called(host, caller, "one_whoami")
    content: dict[str, Any] = outcome.value["structuredContent"]
    return content


@asynccontextmanager
async def peer_with_tokens(tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    """Serve a peer over HTTP that knows two users, one of them with a scope. Yield its section."""
    callers = "\n".join(
        f'[plugins.auth_token.callers.{name}]\ntoken = "{token}"\nscopes = {["secret"] if name == "alice" else []}'
        for name, token in TOKENS.items()
    )
    command = (PEGBOARD, "serve", "--file", HERE / "peer_kit.py")
    async with Served(tmp_path, http_config(more=callers), command=command) as served:
        yield {"url": served.url, "identity": "user", "auth": "peers"}


@pytest.mark.parametrize("revision", ERAS)
async def test_each_user_has_a_session_a_token_and_lists(revision: str, tmp_path: Path) -> None:
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "revision": revision}) as host:
        assert "one_private" in await listed(host, ALICE)
        assert "one_private" not in await listed(host, BOB)
        assert "one_add" in await listed(host, BOB)
        assert "one_private" in await listed(host, ALICE)
        alice, bob = await whoami(host, ALICE), await whoami(host, BOB)
        assert (alice["subject"], bob["subject"]) == ("alice", "bob")
        if revision != ERAS[0]:
            assert len({alice["session"], bob["session"], None}) == 3
            assert await whoami(host, ALICE) == alice
        hidden = await called(host, BOB, "one_private")
        assert isinstance(hidden, Failure)
        assert "Unknown tool" in str(hidden.error)


@pytest.mark.parametrize("caller", [ANONYMOUS, Caller(client_id="worker", service=True)])
async def test_callers_without_a_user_cannot_use_such_a_server(caller: Caller) -> None:
    async with mounting_host(peer(identity="user")) as host:
        assert "one_whoami" in await listed(host, ALICE)
        outcome = await called(host, caller, "one_whoami")
        assert isinstance(outcome, Failure)
        if caller is ANONYMOUS:
            assert await listed(host, caller) == []


async def test_a_user_without_a_token_is_told_to_authorize(tmp_path: Path) -> None:
    carol = Caller("carol")
    async with peer_with_tokens(tmp_path) as section, mounting_host(section) as host:
        assert "one_add" in await listed(host, ALICE)
        assert await listed(host, carol) == []
        for name, error in (("one_add", AuthorizationRequiredError), ("other", NotFoundError)):
            outcome = await called(host, carol, name)
            assert isinstance(outcome, Failure)
            assert isinstance(outcome.error, error)
        unknown = await called(host, ANONYMOUS, "one_add")
        assert isinstance(unknown, Failure)
        assert isinstance(unknown.error, NotFoundError)
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "max_users": 1}) as host:
        before = (await listed(host, ALICE), await whoami(host, ALICE))
        assert await listed(host, Caller("carol")) == []  # takes no user's place
        assert before == (await listed(host, ALICE), await whoami(host, ALICE))


@pytest.mark.parametrize("revision", ERAS)
async def test_a_refused_token_is_an_error_of_authorization(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "revision": revision}) as host:
        await listed(host, ALICE)
        monkeypatch.setitem(TOKENS, "alice", "revoked-0123456789")
        outcome = await called(host, ALICE, "one_add", a=1, b=2)
        assert isinstance(outcome, Failure)
        assert isinstance(outcome.error, AuthorizationRequiredError)
        assert "a token of one" in str(outcome.error)
        assert "log in again, as the operator with `pegboard login peers`" in str(outcome.error)
        assert not outcome.error.can_retry
        assert section["url"] not in str(outcome.error)
        monkeypatch.undo()
        assert isinstance(await called(host, ALICE, "one_add", a=1, b=2), RawResult)


async def test_a_server_that_requires_a_login_is_reported_with_the_fix(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with peer_with_tokens(tmp_path) as section, mounting_host({"url": section["url"]}) as host:
        assert await listed(host, ALICE) == []
        outcome: Any = await called(host, ALICE, "one_add", a=1, b=2)
        advice = "with `pegboard enable vault`, then run `pegboard login --server one`, or set headers"
        assert (advice in str(outcome.error), outcome.error.can_retry) == (True, False)
        (context,) = [plugin.context for plugin in host.report.plugins if plugin.origin.name == "upstreams_of_test"]
        assert (await _states(context.config, context))[0]["reason"].endswith(advice)
    assert "run `pegboard login --server one`, or set headers; next attempt" in caplog.text


async def test_definitions_that_differ_are_not_shown_to_other_users(tmp_path: Path) -> None:
    server = scripted(tmp_path, {}, identity="user")

    def lists_own(title: str) -> None:
        script = {"tools/list": {"tools": [tool("same"), tool("own", title=title)]}}
        Path(server["args"][-1]).write_text(json.dumps(script))

    async with mounting_host(server) as host:
        lists_own("of alice")
        assert await listed(host, ALICE) == ["one_same", "one_own"]
        lists_own("of bob")
        assert await listed(host, BOB) == ["one_same"]
        assert await listed(host, ALICE) == ["one_same", "one_own"]


async def test_resources_and_prompts_of_other_users_are_hidden(tmp_path: Path) -> None:
    server = scripted(tmp_path, {}, identity="user")
    initialized = {**INITIALIZE, "capabilities": {"resources": {}, "prompts": {}}}
    contents = {"resources/read": {"contents": [{"uri": "own://x", "text": "read"}]}}

    def lists(user: str) -> None:
        script = {
            "initialize": initialized,
            "resources/list": {"resources": [{"name": user, "uri": f"own://{user}"}]},
            "resources/templates/list": {"resourceTemplates": [{"name": user, "uriTemplate": f"of-{user}://{{id}}"}]},
            "prompts/list": {"prompts": [{"name": user}]},
            "prompts/get": {"messages": []},
            "completion/complete": {"completion": {"values": []}},
        }
        Path(server["args"][-1]).write_text(json.dumps(script | contents))

    async with mounting_host(server) as host:
        for caller, name in ((ALICE, "alice"), (BOB, "bob")):
            lists(name)
            assert await listed(host, caller, "resources/list") == [name]
        for caller, own, other in ((ALICE, "alice", "bob"), (BOB, "bob", "alice")):
            assert await listed(host, caller, "resources/list") == [own]
            assert await listed(host, caller, "resources/templates/list") == [own]
            assert await listed(host, caller, "prompts/list") == [f"one_{own}"]
            for name in (own, other):
                for method, params in (
                    ("resources/read", {"uri": f"own://{name}"}),
                    ("resources/read", {"uri": f"of-{name}://1"}),
                    ("prompts/get", {"name": f"one_{name}"}),
                ):
                    outcome = await host.dispatch(Call(method, params, caller=caller))
                    assert isinstance(outcome, Failure) == (name == other), (method, params, outcome)


async def test_idle_connections_are_closed_and_opened_again() -> None:
    async with mounting_host(peer(identity="user", idle_seconds=0.2)) as host:
        await listed(host, ALICE)
        first: Any = await called(host, ALICE, "one_pid")
        pid = first.value["content"][0]["text"]
        await until(lambda: not Path(f"/proc/{pid}").exists())
        assert "one_add" in await listed(host, ALICE)
        again: Any = await called(host, ALICE, "one_add", a=1, b=2)
        assert again.value["content"][0]["text"] == "3"


async def test_the_first_call_of_a_user_connects() -> None:
    async with mounting_host(peer(identity="user")) as host:
        for caller in (ALICE, BOB):
            assert isinstance(await called(host, caller, "one_add", a=1, b=2), RawResult)
        unknown = await called(host, Caller("carol"), "one_other")
        assert isinstance(unknown, Failure)
        assert isinstance(unknown.error, NotFoundError)


async def test_the_least_recent_user_makes_room() -> None:
    async with mounting_host(peer(identity="user", max_users=1)) as host:
        assert "one_add" in await listed(host, ALICE)
        assert "one_add" in await listed(host, BOB)
        assert (await whoami(host, BOB))["subject"] is None
        assert "one_add" in await listed(host, ALICE)


KINDS_OF_STEPS = ("list", "private", "read", "prompt", "who")


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("seed", range(3))
async def test_no_state_is_shared_between_users(revision: str, seed: int, tmp_path: Path) -> None:
    sessions: dict[str, set[str]] = {"alice": set(), "bob": set()}

    async def check_step(host: Host, name: str, kind: str) -> None:
        if kind == "list":
            assert name == "alice" or "one_private" not in await listed(host, USERS[name])
        elif kind == "private":
            outcome = await called(host, USERS[name], "one_private")
            assert isinstance(outcome, Failure) or (name, outcome.value["content"][0]["text"]) == ("alice", "alice")  # type: ignore[union-attr]
        elif kind == "read":
            outcome = await host.dispatch(Call("resources/read", {"uri": "peer://me"}, caller=USERS[name]))
            assert isinstance(outcome, Failure) or outcome.value["contents"][0]["text"] == name  # type: ignore[union-attr]
        elif kind == "prompt":
            params = {"name": "one_greet", "arguments": {"name": "you"}}
            outcome = await host.dispatch(Call("prompts/get", params, caller=USERS[name]))
            assert isinstance(outcome, Failure) or f"{name} greets you" in str(outcome)
        elif kind == "who" and isinstance(outcome := await called(host, USERS[name], "one_whoami"), RawResult):
            assert outcome.value["structuredContent"]["subject"] == name
            sessions[name].add(str(outcome.value["structuredContent"]["session"]))

    async with peer_with_tokens(tmp_path) as section:
        random = Random(seed)
        async with mounting_host({**section, "revision": revision, "max_users": random.choice([1, 2])}) as host:
            for _ in range(10):
                steps = [(random.choice(sorted(USERS)), random.choice(KINDS_OF_STEPS)) for _ in range(4)]
                await asyncio.gather(*(check_step(host, *step) for step in steps))
            for name, caller in USERS.items():
                assert ("one_private" in await listed(host, caller)) == (name == "alice")
                await check_step(host, name, "who")
    assert all(sessions.values())
    if revision != ERAS[0]:
        assert not sessions["alice"] & sessions["bob"]
