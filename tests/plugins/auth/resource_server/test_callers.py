"""What belongs to a caller is useless to others and ends with its token, attempts are logged, and tokens stay here."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from time import time
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from pegboard_plugins.support.refusal_log import MAX_LINES
from tests.plugins.auth.resource_server import upstream_kit
from tests.plugins.auth.resource_server.conftest import Door, listed, serve
from tests.support.distributions import make_distribution
from tests.support.http import Served
from tests.support.http_mcp import Session, Streaming, ask, call, message, opened, stream
from tests.support.issuer import OTHER_RSA_KEY, Issuer, public
from tests.support.peer import modern_meta
from tests.support.pool import make_asking_site, make_site

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVENTS = ("Accept", "text/event-stream")
ABLE: Any = {"elicitation": {"form": {}}}


class Two:
    """A server with two issuers. One issues tokens for `ann` and `ben`, the other for another `ann`, the `namesake`.

    The token `program` is for another program of `ann`.
    """

    def __init__(self, served: Served, first: Issuer, second: Issuer) -> None:
        self.served = served
        self.issuers = first, second
        namesake = second.token(key=OTHER_RSA_KEY, scope="other")
        tokens = {"ann": first.token(), "ben": first.token(sub="ben", scope="other"), "namesake": namesake}
        tokens["program"] = first.token(client_id="other")
        self.bearers = {name: f"Bearer {token}" for name, token in tokens.items()}

    def field(self, name: str) -> tuple[str, str]:
        return "Authorization", self.bearers[name]

    async def session(self, name: str) -> Session:
        session = Session(self.served, capabilities=ABLE, fields=[self.field(name)])
        await session.open()
        return session


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two(site: Path) -> AsyncIterator[Two]:
    async with Issuer() as first, Issuer("/other") as second:
        second.keys = [public(OTHER_RSA_KEY, "one", "RS256")]
        async with serve(site, first, second, env={"PEGBOARD__HOST__LOG_LEVEL": "info"}) as served:
            yield Two(served, first, second)


STRANGERS = pytest.mark.parametrize("stranger", ["ben", "namesake"])


@STRANGERS
@pytest.mark.requirement("ASK-10", "SEC-02")
async def test_a_session_of_another_caller_is_unknown_and_the_attempt_is_logged(two: Two, stranger: str) -> None:
    session = await two.session("ann")
    first = await (await session.listen()).event()
    assert first is not None
    field = two.field(stranger)
    messages: list[dict[str, Any]] = [
        message("ping", id=5),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ]
    answers = [await session.post(payload, field) for payload in messages]
    assert [refusal.status for refusal in answers] == [404] * 3
    for more in ((), (("Last-Event-ID", str(first.id)),)):
        answer = await two.served.request("GET", "/mcp", session.fields(field, EVENTS, *more))
        assert (answer.status, answer.get("WWW-Authenticate")) == (404, None)
    assert (await two.served.request("DELETE", "/mcp", session.fields(field))).status == 404
    renewed = two.issuers[0].token(jti="2", scope="other")
    for own in (two.field("ann"), ("Authorization", f"Bearer {renewed}")):
        assert (await session.post(message("ping"), own)).status == 200
    digest = hashlib.sha256(session.id.encode()).hexdigest()[:12]
    issuer, subject = two.issuers[stranger == "namesake"].url, "ann" if stranger == "namesake" else stranger
    line = (
        f"WARNING pegboard.audit: refused: a session of another caller (subject='{subject}', issuer='{issuer}', "
        f"client_id='desk', owner='ann', issuer_of_owner='{two.issuers[0].url}', peer='127.0.0.1', session='{digest}')"
    )
    await two.served.wait_for_stderr("(?s)" + ".*".join([re.escape(line)] * 6))
    assert two.served.stderr.count(line) == 6
    real, session.id = session.id, "x" * len(session.id)
    gone = await session.post(messages[0], field)
    assert (gone.status, gone.answer.body) == (404, answers[0].answer.body)  # the response does not tell them apart
    for hidden in (real, two.bearers[stranger].rpartition(".")[2]):
        assert hidden not in two.served.stderr


@pytest.mark.parametrize("stranger", ["ben", "namesake", "program"])
@pytest.mark.requirement("ROUND-08", "ASK-09")
async def test_state_of_a_call_belongs_to_its_caller(two: Two, stranger: str) -> None:
    request = call("door_name")
    request["params"]["_meta"] = {**modern_meta(), "io.modelcontextprotocol/clientCapabilities": ABLE}
    question = (await ask(two.served, request, Authorization=two.bearers["ann"])).result
    answers = {name: {"action": "accept", "content": {"value": "Ann"}} for name in question["inputRequests"]}
    request["params"] |= {"inputResponses": answers, "requestState": question["requestState"]}
    refused = await ask(two.served, request, Authorization=two.bearers[stranger])
    assert refused.refused[1] == -32602
    assert refused.last["error"]["message"].startswith("params.requestState")
    done = await ask(two.served, request, Authorization=two.bearers["ann"])
    assert done.result["content"][0]["text"] == "Hello, Ann"


async def test_a_token_without_a_required_scope_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "pegboard.audit")
    async with Issuer() as issuer, Door(issuer, required_scopes=["work"]) as door:
        assert await door.status(issuer.token(sub="ben", scope="other")) == 403
        who = f"subject='ben', issuer='{issuer.url}', client_id='desk', peer='127.0.0.1', needs='work'"
        assert f"refused: a token that allows too little ({who})" in caplog.text


async def test_a_flood_of_bad_tokens_neither_fills_the_log_nor_hides_other_attempts(two: Two) -> None:
    assert (await listed(two.served, None)).status == 401
    assert "refused: a token" not in two.served.stderr
    bad = two.issuers[0].token(key=OTHER_RSA_KEY)
    assert (await listed(two.served, bad)).status == 401
    digest = hashlib.sha256(bad.encode()).hexdigest()[:12]
    why = "why='The signature of the token is wrong.'"
    line = f"INFO pegboard.audit: refused: a token ({why}, peer='127.0.0.1', path='/mcp', token='{digest}')\n"
    await two.served.wait_for_stderr(re.escape(line))
    assert (await two.served.request("GET", f"/mcp?access_token={bad}")).status == 400
    await two.served.wait_for_stderr("refused: a token .why='A token belongs in the Authorization header")
    flood = await asyncio.gather(*(listed(two.served, f"bad-{number}") for number in range(3 * MAX_LINES)))
    assert {answer.status for answer in flood} == {401}
    assert (await ask(two.served, call("door_guarded"), Authorization=two.bearers["ben"])).status == 403
    who = f"subject='ben', issuer='{two.issuers[0].url}', client_id='desk'"
    what = "method='tools/call', of='door_guarded', needs='work'"
    await two.served.wait_for_stderr(
        re.escape(f"INFO pegboard.audit: refused: a call for lack of scopes ({who}, {what})\n")
    )
    session = await two.session("ann")
    assert (await session.post(message("ping"), two.field("ben"))).status == 404
    digest = hashlib.sha256(session.id.encode()).hexdigest()[:12]
    await two.served.wait_for_stderr(f"refused: a session of another caller .*session='{digest}'")
    assert two.served.stderr.count("refused: a token (") <= 2 * MAX_LINES  # a minute may begin meanwhile
    assert bad not in two.served.stderr


OTHER_CANARY = "credential-canary-0123456789abcdef"
CANARY = "upstream-canary-0123456789abcdef"


class Service(Issuer):
    """A service that keeps requests, and accepts or refuses them."""

    def __init__(self) -> None:
        super().__init__("/service")
        self.requests: list[tuple[str, str]] = []

    async def _handle(self, request: web.Request) -> web.Response:
        text = f"{dict(request.headers)} {await request.text()}"
        self.requests.append((request.headers.get("Authorization", ""), text))
        return web.Response(status=401, text=text) if request.path == "/refuse" else web.Response(text="done")


@pytest.mark.requirement("AUTH-05")
async def test_neither_token_reaches_the_other_side(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"upstream": upstream_kit})
    async with Service() as service, Issuer() as issuer:
        tokens = '[plugins.static_tokens]\ntokens = { github = { env = "GITHUB" } }\n'
        users = f'users = [{{ subject = "ann", issuer = "{issuer.url}" }}]'
        async with serve(site, issuer, server=tokens + users, env={"GITHUB": CANARY}) as served:
            token = issuer.token()
            bearer = ("Authorization", f"Bearer {token}")
            others = {name.replace("-", "_"): OTHER_CANARY for name in upstream_kit.WITHHELD}
            session = await opened(served, Authorization=bearer[1])
            for path in ("/accept", "/refuse"):
                request = call("upstream_reach", {"url": service.origin + path})
                modern = await ask(served, request, Authorization=bearer[1], **others)
                legacy = await session.post(request, bearer, *((name, OTHER_CANARY) for name in upstream_kit.WITHHELD))
                for done in (modern, legacy):
                    assert done.result["isError"] is (path == "/refuse")
                    assert CANARY not in str((done.answer, done.messages))
            assert [authorization for authorization, _ in service.requests] == [f"Bearer {CANARY}"] * 4
            for _, text in service.requests:
                assert token not in text
                assert OTHER_CANARY not in text
            assert "'tools/call'" in service.requests[0][1]  # other fields are there
            assert CANARY not in served.stderr
            assert token not in served.stderr


# --- streams end with the token that opened them


HASTY = """
from pegboard import Toolkit
from pegboard_plugins.protocols.mcp import admitted_streams

kit = Toolkit("hasty")
admitted_streams.MIN_LIFETIME_SECONDS = 0.2
"""
"""A toolkit without tools that ends streams with their token at once, instead of up to a minute later."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def door(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> AsyncIterator[Served]:
    site = make_asking_site(tmp_path_factory.mktemp("hasty"))
    make_distribution(site, "hasty", "1", {"pegboard.toolkits": {"hasty": "hasty_kit:kit"}}, {"hasty_kit.py": HASTY})
    env = {"PEGBOARD__HOST__PLUGINS": '["asking"]'}
    async with serve(site, issuer, settings="leeway_seconds = 60", env=env) as served:
        yield served


def ended(issuer: Issuer) -> str:
    """Return a bearer token that is valid during the leeway only."""
    return f"Bearer {issuer.token(exp=int(time()) - 5)}"


async def change(door: Served, issuer: Issuer) -> None:
    done = await ask(door, call("asking_change", {"what": ["x://a"]}), Authorization=f"Bearer {issuer.token()}")
    assert done.result["isError"] is False


async def subscribed(door: Served, bearer: str) -> Streaming:
    request = message("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://a"]}})
    return await stream(door, request, Authorization=bearer)


async def test_a_subscription_ends_with_its_response(door: Served, issuer: Issuer) -> None:
    going, ending = await subscribed(door, f"Bearer {issuer.token()}"), await subscribed(door, ended(issuer))
    assert [received["result"]["resultType"] async for received in ending.rest()] == ["complete"]
    await change(door, issuer)
    assert (await going.next())["params"]["uri"] == "x://a"


async def test_a_stream_of_a_session_ends_and_is_resumed_with_a_new_token(door: Served, issuer: Issuer) -> None:
    renewed = ("Authorization", f"Bearer {issuer.token()}")
    session = await opened(door, Authorization=renewed[1])
    assert "result" in (await session.post(message("resources/subscribe", {"uri": "x://a"}), renewed)).last
    begun = await session.listen(None, ("Authorization", ended(issuer)))
    assert [received async for received in begun.rest()] == []
    await change(door, issuer)
    resumed = await session.listen(begun.events[0].id, renewed)
    assert (await resumed.next())["params"]["uri"] == "x://a"
