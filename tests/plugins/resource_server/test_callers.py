"""Sessions, streams, state and cursors of one caller are useless to another, and attempts are logged."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pegboard.routing.refusal_log import MAX_LINES
from tests.plugins.auth_token import door_kit
from tests.plugins.resource_server.conftest import Door, listed, serve, storm
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import Session, Streaming, ask, call, message, mirrored, modern
from tests.support.issuer import OTHER_RSA_KEY, Issuer, public
from tests.support.peer import modern_meta
from tests.support.pool import make_asking_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

ENV = {
    "PEGBOARD__HOST__LOG_LEVEL": "info",
    "PEGBOARD__HOST__PLUGINS": '["asking"]',
    "PEGBOARD__HOST__PAGE_SIZE": "1",
}
EVENTS = ("Accept", "text/event-stream")


class Two:
    """A server with two issuers. One issues tokens for `ann` and `ben`, the other for another `ann`, the `namesake`."""

    def __init__(self, served: Served, one: Issuer, other: Issuer) -> None:
        self.served = served
        self.issuers = one, other
        namesake = other.token(key=OTHER_RSA_KEY, scope="other")
        tokens = {"ann": one.token(), "ben": one.token(sub="ben", scope="other"), "namesake": namesake}
        self.bearers = {name: f"Bearer {token}" for name, token in tokens.items()}

    def field(self, name: str) -> tuple[str, str]:
        return "Authorization", self.bearers[name]

    async def session(self, name: str, **capabilities: Any) -> _Own:
        session = _Own(self.served, self.field(name), capabilities)
        await session.open()
        return session


class _Own(Session):
    """A session whose requests have a token unless they bring another."""

    def __init__(self, served: Served, field: tuple[str, str], capabilities: Any) -> None:
        super().__init__(served, capabilities=capabilities)
        self.field = field

    def fields(self, *more: tuple[str, str]) -> list[tuple[str, str]]:
        own = [] if any(name == self.field[0] for name, _ in more) else [self.field]
        return super().fields(*own, *more)


@pytest.fixture(scope="module")
def both_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = make_asking_site(tmp_path_factory.mktemp("both"))
    files = {"door_kit.py": inspect.getsource(door_kit)}
    make_distribution(site, "door-kit", "1", {"pegboard.toolkits": {"door": "door_kit:kit"}}, files)
    return site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(both_site: Path) -> AsyncIterator[Two]:
    async with Issuer() as one, Issuer("/other") as other:
        other.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
        async with serve(both_site, one, other, env=ENV) as served:
            yield Two(served, one, other)


STRANGERS = pytest.mark.parametrize("stranger", ["ben", "namesake"])


@STRANGERS
@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_session_of_another_caller_is_unknown_and_the_attempt_is_logged(two: Two, stranger: str) -> None:
    session = await two.session("ann")
    stream = Streaming(await two.served.connect())
    await stream.open([field for field in session.fields(EVENTS) if field[0] != "Content-Type"])
    first = await stream.event()
    assert first is not None
    field = two.field(stranger)
    messages: list[dict[str, Any]] = [
        message("ping", id=5),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ]
    found = [await session.post(one, field) for one in messages]
    assert [one.status for one in found] == [404] * 3
    for more in ((), (("Last-Event-ID", str(first.id)),)):
        answer = await two.served.request("GET", "/mcp", session.fields(field, EVENTS, *more))
        assert (answer.status, answer.get("WWW-Authenticate")) == (404, None)
    assert (await two.served.request("DELETE", "/mcp", session.fields(field))).status == 404
    renewed = two.issuers[0].token(jti="2", scope="other")
    for own in (session.field, ("Authorization", f"Bearer {renewed}")):
        assert (await session.post(message("ping"), own)).status == 200
    digest = hashlib.sha256(session.id.encode()).hexdigest()[:12]
    issuer, subject = two.issuers[stranger == "namesake"].url, "ann" if stranger == "namesake" else stranger
    line = (
        f"WARNING pegboard.audit: refused: a session of another caller (subject='{subject}', issuer='{issuer}', "
        f"client_id='desk', owner='ann', issuer_of_owner='{two.issuers[0].url}', peer='127.0.0.1', session='{digest}')"
    )
    await two.served.said("(?s)" + ".*".join([re.escape(line)] * 6))
    assert two.served.stderr.count(line) == 6
    real, session.id = session.id, "x" * len(session.id)
    gone = await session.post(messages[0], field)
    assert (gone.status, gone.answer.body) == (404, found[0].answer.body)  # the response does not tell them apart
    for hidden in (real, two.bearers[stranger].rpartition(".")[2]):
        assert hidden not in two.served.stderr


@STRANGERS
async def test_events_and_questions_belong_to_their_session(two: Two, stranger: str) -> None:
    able: Any = {"elicitation": {"form": {}}}
    session, own = await two.session("ann", **able), await two.session(stranger, **able)
    called = await session.post(call("door_who", token="p"), EVENTS)
    named = re.search(rb"^id: (\S+)$", called.answer.body, re.M)
    assert named
    last = ("Last-Event-ID", named[1].decode())
    answer = await two.served.request("GET", "/mcp", own.fields(EVENTS, last))
    assert b"The response is lost" in answer.body
    assert b"ann [" not in answer.body
    asking = Streaming(await two.served.connect(), session.conversation)
    await asking.begin(call("door_name", token="p"), session.fields())
    for who, given in ((own, "Eve"), (session, "Ann")):
        result = {"action": "accept", "content": {"value": given}}
        assert (await who.post({"jsonrpc": "2.0", "id": asking.first["id"], "result": result})).status == 202
    done = [one async for one in asking.rest()][-1]
    assert done["result"]["content"][0]["text"] == "Hello, Ann"


@STRANGERS
@pytest.mark.requirement("ROUND-08")
async def test_state_of_a_call_belongs_to_its_caller(two: Two, stranger: str) -> None:
    one = call("door_name")
    able: Any = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    one["params"]["_meta"] = {**modern_meta(), **able}
    asked = (await ask(two.served, one, Authorization=two.bearers["ann"])).result
    answers = {name: {"action": "accept", "content": {"value": "Ann"}} for name in asked["inputRequests"]}
    one["params"] |= {"inputResponses": answers, "requestState": asked["requestState"]}
    refused = await ask(two.served, one, Authorization=two.bearers[stranger])
    assert refused.refused[1] == -32602
    assert refused.last["error"]["message"].startswith("params.requestState")
    done = await ask(two.served, one, Authorization=two.bearers["ann"])
    assert done.result["content"][0]["text"] == "Hello, Ann"


async def _change(two: Two, *uris: str) -> None:
    done = await ask(two.served, call("asking_change", {"what": list(uris)}), Authorization=two.bearers["ann"])
    assert done.result["isError"] is False


@STRANGERS
async def test_subscriptions_belong_to_their_session_or_request(two: Two, stranger: str) -> None:
    sessions = {name: await two.session(name) for name in ("ann", stranger)}
    streams = {}
    for name, session in sessions.items():
        assert "result" in (await session.post(message("resources/subscribe", {"uri": f"x://{name}"}))).last
        streams[name] = Streaming(await two.served.connect(), session.conversation)
        await streams[name].open([field for field in session.fields(EVENTS) if field[0] != "Content-Type"])
    assert "result" in (await sessions[stranger].post(message("resources/unsubscribe", {"uri": "x://ann"}))).last
    listening = {}
    for name in ("ann", stranger):
        wanted = {"notifications": {"resourceSubscriptions": [f"x://{name}"]}}
        one = modern(message("subscriptions/listen", wanted, id=7))
        listening[name] = Streaming(await two.served.connect())
        await listening[name].begin(one, mirrored(one, Authorization=two.bearers[name]))
    await _change(two, "x://ann", f"x://{stranger}")
    for name in streams:
        assert (await streams[name].next())["params"] == {"uri": f"x://{name}"}
        assert (await listening[name].next())["params"]["uri"] == f"x://{name}"
    listening[stranger].abort()
    await _change(two, f"x://{stranger}", "x://ann")
    assert (await listening["ann"].next())["params"]["uri"] == "x://ann"


async def test_a_cursor_of_another_caller_shows_nothing_more(two: Two) -> None:
    async def tools(name: str, cursor: str | None) -> dict[str, Any]:
        params = None if cursor is None else {"cursor": cursor}
        return (await ask(two.served, message("tools/list", params), Authorization=two.bearers[name])).result

    pages: dict[str, dict[str | None, list[str]]] = {}
    for name in ("ann", "ben", "namesake"):
        pages[name], cursor = {}, None
        while cursor is not None or not pages[name]:
            result = await tools(name, cursor)
            pages[name][cursor] = [tool["name"] for tool in result["tools"]]
            cursor = result.get("nextCursor")
    assert ["door_guarded"] in pages["ann"].values()
    for stranger in ("ben", "namesake"):
        own = {tool for page in pages[stranger].values() for tool in page}
        assert "door_guarded" not in own
        for cursor in pages["ann"]:
            assert {tool["name"] for tool in (await tools(stranger, cursor))["tools"]} <= own


async def test_a_token_without_a_required_scope_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "pegboard.audit")
    async with Issuer() as issuer, Door(issuer, required_scopes=["work"]) as door:
        assert await door.status(issuer.token(sub="ben", scope="other")) == 403
        who = f"subject='ben', issuer='{issuer.url}', client_id='desk', peer='127.0.0.1', needs='work'"
        assert f"refused: a token that allows too little ({who})" in caplog.text


async def test_refused_tokens_are_logged_without_the_token(both_site: Path) -> None:
    async with Issuer() as issuer, serve(both_site, issuer, env=ENV) as served:
        token = issuer.token(key=OTHER_RSA_KEY)
        assert (await listed(served, None)).status == 401
        assert "pegboard.audit" not in served.stderr
        assert (await listed(served, token)).status == 401
        digest = hashlib.sha256(token.encode()).hexdigest()[:12]
        why = "why='The signature of the token is wrong.'"
        line = f"INFO pegboard.audit: refused: a token ({why}, peer='127.0.0.1', path='/mcp', token='{digest}')\n"
        await served.said(re.escape(line))
        assert (await served.request("GET", f"/mcp?access_token={token}")).status == 400
        await served.said("refused: a token .why='A token belongs in the Authorization header")
        assert token not in served.stderr


async def test_a_flood_of_bad_tokens_neither_fills_the_log_nor_hides_other_attempts(two: Two) -> None:
    assert (await ask(two.served, call("door_guarded"), Authorization=two.bearers["ben"])).status == 403
    who = f"subject='ben', issuer='{two.issuers[0].url}', client_id='desk'"
    what = "method='tools/call', of='door_guarded', needs='work'"
    await two.served.said(re.escape(f"INFO pegboard.audit: refused: a call for lack of scopes ({who}, {what})\n"))
    assert set(await storm(two.served, [f"bad-{number}" for number in range(100)], 10)) == {401}
    session = await two.session("ann")
    assert (await session.post(message("ping"), two.field("ben"))).status == 404
    digest = hashlib.sha256(session.id.encode()).hexdigest()[:12]
    await two.served.said(f"refused: a session of another caller .*session='{digest}'")
    assert two.served.stderr.count("refused: a token (") <= 2 * MAX_LINES  # a minute may begin meanwhile
