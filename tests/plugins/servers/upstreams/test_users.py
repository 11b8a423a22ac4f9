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
from pegboard.types import ANONYMOUS, Call, Caller, Failure, RawResult, TokenRequest
from pegboard_plugins.servers.upstreams import UpstreamsPlugin
from pegboard_plugins.servers.upstreams.status_command import _states
from tests.host.hosting import call, failure, listed, make_host, until
from tests.plugins.servers.upstreams.mounts import ERAS, peer, scripted, served_peer, tool
from tests.plugins.servers.upstreams.scripted import INITIALIZE

ALICE, BOB = Caller("alice"), Caller("bob")
TOKENS = {name: f"{name}-token-0123456789-0123456789-abc" for name in ("alice", "bob")}


class UserTokens(Plugin, TokenSource):
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


async def whoami(host: Host, caller: Caller) -> dict[str, Any]:
    outcome: Any = await call(host, "one_whoami", caller=caller)
    content: dict[str, Any] = outcome.value["structuredContent"]
    return content


@asynccontextmanager
async def peer_with_tokens(tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    """Serve a peer over HTTP that knows two users, one of them with a scope. Yield its section."""
    callers = "\n".join(
        f'[plugins.auth_token.callers.{name}]\ntoken = "{token}"\nscopes = {["secret"] if name == "alice" else []}'
        for name, token in TOKENS.items()
    )
    async with served_peer(tmp_path, more=callers) as served:
        yield {"url": served.url, "identity": "user", "auth": "peers"}


@pytest.mark.needs("auth")
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
        assert "Unknown tool" in str((await failure(host, "one_private", caller=BOB)).error)


@pytest.mark.needs("auth")
async def test_a_program_of_a_user_sends_no_token_of_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def of_program(_: UserTokens, request: TokenRequest) -> Authorization:
        return Authorization(TOKENS[request.call.caller.client_id or ""])

    monkeypatch.setattr(UserTokens, "token", of_program)
    programs = [Caller("ann", client_id=name) for name in TOKENS]
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "start": "lazy"}) as host:
        answers = await asyncio.gather(*(whoami(host, caller) for caller in programs))
        assert [answer["subject"] for answer in answers] == list(TOKENS)
        assert ["one_private" in await listed(host, caller) for caller in programs] == [True, False]


@pytest.mark.parametrize("caller", [ANONYMOUS, Caller(client_id="worker", service=True)])
async def test_callers_without_a_user_cannot_use_such_a_server(caller: Caller) -> None:
    async with mounting_host(peer(identity="user")) as host:
        assert "one_whoami" in await listed(host, ALICE)
        await failure(host, "one_whoami", caller=caller)
        if caller is ANONYMOUS:
            assert await listed(host, caller) == []


@pytest.mark.needs("auth")
async def test_a_user_without_a_token_is_told_to_authorize(tmp_path: Path) -> None:
    carol = Caller("carol")
    async with peer_with_tokens(tmp_path) as section, mounting_host(section) as host:
        assert "one_add" in await listed(host, ALICE)
        assert await listed(host, carol) == []
        for name, error in (("one_add", AuthorizationRequiredError), ("other", NotFoundError)):
            assert isinstance((await failure(host, name, caller=carol)).error, error)
        assert isinstance((await failure(host, "one_add", caller=ANONYMOUS)).error, NotFoundError)
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "max_users": 1}) as host:
        before = (await listed(host, ALICE), await whoami(host, ALICE))
        assert await listed(host, Caller("carol")) == []  # takes no user's place
        assert before == (await listed(host, ALICE), await whoami(host, ALICE))


@pytest.mark.needs("auth")
@pytest.mark.parametrize("revision", ERAS)
async def test_a_refused_token_needs_a_login(revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with peer_with_tokens(tmp_path) as section, mounting_host({**section, "revision": revision}) as host:
        await listed(host, ALICE)
        monkeypatch.setitem(TOKENS, "alice", "revoked-0123456789")
        error = (await failure(host, "one_add", {"a": 1, "b": 2}, caller=ALICE)).error
        assert isinstance(error, AuthorizationRequiredError)
        assert "a token of one" in str(error)
        assert "log in again, as the operator with `pegboard login peers`" in str(error)
        assert not error.can_retry
        assert section["url"] not in str(error)
        monkeypatch.undo()
        assert isinstance(await call(host, "one_add", {"a": 1, "b": 2}, caller=ALICE), RawResult)


@pytest.mark.needs("auth")
async def test_a_required_login_is_reported_with_the_fix(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with peer_with_tokens(tmp_path) as section, mounting_host({"url": section["url"]}) as host:
        assert await listed(host, ALICE) == []
        outcome: Any = await call(host, "one_add", {"a": 1, "b": 2}, caller=ALICE)
        advice = "with `pegboard enable vault`, then run `pegboard login --server one`, or set headers"
        assert (advice in str(outcome.error), outcome.error.can_retry) == (True, False)
        (context,) = [plugin.context for plugin in host.report.plugins if plugin.origin.name == "upstreams_of_test"]
        assert (await _states(context.config, context, host))[0]["reason"].endswith(advice)
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

    def lists(user: str) -> None:
        script = {
            "initialize": initialized,
            "resources/list": {"resources": [{"name": user, "uri": f"own://{user}"}]},
            "resources/templates/list": {"resourceTemplates": [{"name": user, "uriTemplate": f"of-{user}://{{id}}"}]},
            "prompts/list": {"prompts": [{"name": user}]},
            "prompts/get": {"messages": []},
            "resources/read": {"contents": [{"uri": "own://x", "text": "read"}]},
        }
        Path(server["args"][-1]).write_text(json.dumps(script))

    async with mounting_host(server) as host:
        for caller, name in ((ALICE, "alice"), (BOB, "bob")):
            lists(name)
            assert await listed(host, caller, "resources/list") == [f"own://{name}"]
        for caller, own, other in ((ALICE, "alice", "bob"), (BOB, "bob", "alice")):
            assert await listed(host, caller, "resources/list") == [f"own://{own}"]
            assert await listed(host, caller, "resources/templates/list") == [f"of-{own}://{{id}}"]
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
        first: Any = await call(host, "one_pid", caller=ALICE)
        pid = first.value["content"][0]["text"]
        await until(lambda: not Path(f"/proc/{pid}").exists())
        assert "one_add" in await listed(host, ALICE)
        again: Any = await call(host, "one_add", {"a": 1, "b": 2}, caller=ALICE)
        assert again.value["content"][0]["text"] == "3"


async def test_the_first_call_of_a_user_connects() -> None:
    async with mounting_host(peer(identity="user")) as host:
        for caller in (ALICE, BOB):
            assert isinstance(await call(host, "one_add", {"a": 1, "b": 2}, caller=caller), RawResult)
        assert isinstance((await failure(host, "one_other", caller=Caller("carol"))).error, NotFoundError)


async def test_the_least_recent_user_makes_room() -> None:
    async with mounting_host(peer(identity="user", max_users=1)) as host:
        assert "one_add" in await listed(host, ALICE)
        assert "one_add" in await listed(host, BOB)
        assert (await whoami(host, BOB))["subject"] is None
        assert "one_add" in await listed(host, ALICE)


REQUESTS = {
    "list": Call("tools/list"),
    "private": Call("tools/call", {"name": "one_private", "arguments": {}}),
    "read": Call("resources/read", {"uri": "peer://me"}),
    "prompt": Call("prompts/get", {"name": "one_greet", "arguments": {"name": "you"}}),
    "who": Call("tools/call", {"name": "one_whoami", "arguments": {}}),
}


@pytest.mark.needs("auth")
@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("max_users", [1, 2])
async def test_no_state_is_shared_between_users(revision: str, max_users: int, tmp_path: Path) -> None:
    """With a place for one user only, each of the users takes it from the other all the time."""
    sessions: dict[str, set[str]] = {"alice": set(), "bob": set()}

    async def check_step(host: Host, name: str, kind: str) -> None:
        outcome: Any = await host.dispatch(REQUESTS[kind]._replace(caller=Caller(name)))
        assert not [other for other in sessions if other != name and other in str(outcome)], outcome
        if name == "bob":
            assert isinstance(outcome, Failure) or (kind != "private" and "one_private" not in str(outcome))
        if kind == "who" and isinstance(outcome, RawResult):
            sessions[name].add(str(outcome.value["structuredContent"]["session"]))

    random = Random(max_users)
    async with (
        peer_with_tokens(tmp_path) as section,
        mounting_host({**section, "revision": revision, "max_users": max_users}) as host,
    ):
        for _ in range(10):
            steps = [(random.choice(sorted(sessions)), random.choice(sorted(REQUESTS))) for _ in range(4)]
            await asyncio.gather(*(check_step(host, *step) for step in steps))
        for name in sessions:
            assert ("one_private" in await listed(host, Caller(name))) == (name == "alice")
            await check_step(host, name, "who")
    assert all(sessions.values())
    if revision != ERAS[0]:
        assert not sessions["alice"] & sessions["bob"]
