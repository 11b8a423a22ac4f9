"""Tokens that are exchanged for the caller's: over the wire, identity assertions, refusals, and mounted servers."""

from __future__ import annotations

import logging
from pathlib import Path
from time import time
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import AuthorizationRequiredError, Host
from pegboard.plugin import TokenSource
from pegboard.types import Call, Caller, Supplied, TokenRequest, ToolAuthorization, header_fields
from pegboard_client import LoginFailedError
from pegboard_plugins.auth.auth_providers import OAuth2
from pegboard_plugins.auth.token_exchange import exchanged_tokens
from pegboard_plugins.auth.token_exchange.exchanged_tokens import ExchangedTokens, TokenGrants
from pegboard_plugins.auth.token_exchange.settings import ExchangeSettings
from pegboard_testing import TokenSourceContract
from tests.plugins.auth.resource_server.conftest import serve
from tests.plugins.auth.token_exchange import exchanging_kit
from tests.support import config
from tests.support.documents import Documents
from tests.support.exchange_server import HOST_SECRET, ExchangeServer
from tests.support.http_mcp import ask, call, opened
from tests.support.issuer import RESOURCE
from tests.support.pool import make_site

UPSTREAM = "https://orders.example/mcp"


def section(server: ExchangeServer, **more: Any) -> dict[str, Any]:
    return {"issuer": server.url, "client_id": "host", "client_secret": HOST_SECRET, "resource": UPSTREAM, **more}


def chained(server: ExchangeServer, upstream: ExchangeServer) -> dict[str, Any]:
    """Return the section of an upstream with its own authorization server."""
    own = {"upstream_client_id": "host", "upstream_client_secret": HOST_SECRET}
    return section(server, authorization_server=upstream.url, **own)


def source(settings: dict[str, Any]) -> ExchangedTokens:
    return ExchangedTokens({"orders": ExchangeSettings.model_validate(settings)})


def request(token: str, issuer: str, *scopes: str, **fields: Any) -> TokenRequest:
    made = {"caller": Caller("ann", issuer=issuer), "headers": header_fields({"Authorization": f"Bearer {token}"})}
    tool_call = Call("tools/call", {"name": "t"}, **{**made, **fields})
    return TokenRequest(OAuth2(id="orders", scopes=scopes), "t", tool_call.caller.subject, tool_call)


@pytest.mark.parametrize("is_chained", [False, True])
async def test_a_tool_receives_a_token_of_the_caller_for_its_upstream(tmp_path: Path, is_chained: bool) -> None:
    site = make_site(tmp_path, {"exchanging": exchanging_kit})
    async with ExchangeServer() as server, ExchangeServer(trusted=server) as upstream:
        settings = chained(server, upstream) if is_chained else section(server)
        more = config.section("plugins.token_exchange.providers.orders", settings)
        async with serve(site, server, server=more) as served:
            token = server.token()
            session = await opened(served, Authorization=f"Bearer {token}")
            tool_call = call("exchanging_claims", {})
            results = [
                (await ask(served, tool_call, Authorization=f"Bearer {token}")).result,
                (await session.post(tool_call, ("Authorization", f"Bearer {token}"))).result,
            ]
            issuer = (upstream if is_chained else server).url
            expected = {"iss": issuer, "sub": "ann", "aud": UPSTREAM, "scope": "orders.read"}
            assert [result["structuredContent"] for result in results] == [expected] * 2
            assert len(server.forms) == 1  # the second call uses the kept token
            assert token not in served.stderr


@pytest.mark.parametrize(
    ("is_chained", "reply", "problem"),
    [
        (False, {"issued_token_type": None}, "another type"),
        (True, {"issued_token_type": "urn:ietf:params:oauth:token-type:jwt"}, "another type"),
        (False, {"access_token": "the caller's"}, "returned the token of the caller"),
        (True, {"access_token": "the caller's"}, "returned the token of the caller"),
        (False, {"access_token": 7}, "no usable token"),
        (False, {"token_type": "DPoP"}, "not a bearer token"),
        (False, {"scope": "other"}, "does not grant orders.read"),
        (False, {"access_token": "two words"}, "no usable token"),
    ],
)
async def test_an_unsuitable_token_is_refused(is_chained: bool, reply: dict[str, Any], problem: str) -> None:
    async with ExchangeServer() as server, ExchangeServer(trusted=server) as upstream:
        token = server.token()
        server.reply = {name: token if value == "the caller's" else value for name, value in reply.items()}
        tokens = source(chained(server, upstream) if is_chained else section(server))
        with pytest.raises(AuthorizationRequiredError) as refused:
            await tokens.token(request(token, server.url, "orders.read"))
        await tokens.aclose()
        assert problem in (refused.value.developer_message or "")
        assert upstream.forms == [] or not problem.startswith("returned")  # the caller's token reached no other server


@pytest.mark.parametrize(
    "fields",
    [
        {"caller": Caller("ann", issuer="https://other.example")},
        {"caller": Caller("ann")},
        {"caller": Caller(trusted=True)},
        {"supplied": Supplied(user_id="bob")},
        {"headers": None},
        {"headers": header_fields({"Authorization": "Basic YTpi"})},
    ],
)
async def test_only_a_token_of_the_issuer_is_sent_to_the_issuer(fields: dict[str, Any]) -> None:
    async with ExchangeServer() as server:
        tokens = source(section(server))
        assert await tokens.token(request(server.token(), server.url, **fields)) is None
        assert server.forms == []


def test_tokens_of_other_providers_are_not_expected() -> None:
    tokens = source({"issuer": "https://i.example", "client_id": "host", "client_secret": "s", "resource": UPSTREAM})
    assert [tokens.secret(OAuth2(id=name)) for name in ("orders", "other")] == [None, ""]


async def test_a_refusal_is_reported_without_tokens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with ExchangeServer() as server:
        token = server.token(iss="https://other.example")
        tokens = source(section(server))
        with pytest.raises(AuthorizationRequiredError) as caught:
            await tokens.token(request(token, server.url))
        await tokens.aclose()
        text = f"{caught.value} {caught.value.developer_message} {caplog.text}"
        assert "refuses the exchange of a token: invalid_request" in text
        assert token not in text
        assert HOST_SECRET not in text


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9/token", "http://localhost/token", "http://a.example/token"])
async def test_the_metadata_of_a_server_elsewhere_cannot_name_this_machine(endpoint: str) -> None:
    """The client secret and the caller's token must not be sent to a program on this machine."""
    documents = Documents({"issuer": "https://i.example", "token_endpoint": endpoint})
    settings = {"issuer": "https://i.example", "client_id": "host", "resource": UPSTREAM}
    grants = TokenGrants(ExchangeSettings.model_validate(settings), documents)
    with pytest.raises(LoginFailedError, match="requires an https URL"):
        await grants.token("token-of-ann", [])
    assert all(url.startswith("https://i.example/.well-known/") for url in documents.asked)


async def test_expired_tokens_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ExchangeServer() as server:
        tokens = source(section(server))
        await tokens.token(request(server.token(), server.url, "first"))
        later = time() + 3600
        monkeypatch.setattr(exchanged_tokens, "time", lambda: later)
        await tokens.token(request(server.token(), server.url, "second"))
        assert tokens._kept == {}  # the second had expired when it came
        await tokens.aclose()


@pytest.mark.parametrize(
    ("reply", "caller_ends", "exchanges"), [({}, None, 1), ({"expires_in": None}, None, 2), ({}, 0.0, 2)]
)
async def test_valid_tokens_are_kept(reply: dict[str, Any], caller_ends: float | None, exchanges: int) -> None:
    async with ExchangeServer() as server:
        server.reply = reply
        tokens = source(section(server))
        ends = None if caller_ends is None else time() + caller_ends
        caller = Caller("ann", issuer=server.url, expires_at=ends)
        token_request = request(server.token(), server.url, caller=caller)
        for _ in range(2):
            await tokens.token(token_request)
        assert len(server.forms) == exchanges
        await tokens.token(request(server.token(jti="another"), server.url, caller=caller))
        assert len(server.forms) == exchanges + 1
        await tokens.aclose()


@pytest.mark.needs("upstreams")
async def test_a_mounted_server_receives_an_exchanged_token(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"exchanging": exchanging_kit})
    async with ExchangeServer() as server, serve(site, server) as served:
        token = server.token(aud="https://here.example/mcp")  # the mounted server refuses it
        mounted = {"url": served.url, "identity": "user", "auth": "orders", "auth_scopes": ["mcp"]}
        providers = {"orders": section(server, resource=RESOURCE)}
        plugins = {"upstreams": {"servers": {"one": mounted}}, "token_exchange": {"providers": providers}}
        own = {"host": {"autoload": False, "transports": [], "secret_stores": []}, "plugins": plugins}
        by_ann = request(token, server.url).call._replace(params={"name": "one_exchanging_whoami", "arguments": {}})
        async with Host(own) as host:
            await host.dispatch(by_ann._replace(method="tools/list", params={}))
            outcome = await host.dispatch(by_ann)
            assert "ann" in str(outcome)
        assert {form["scope"] for form in server.forms} == {"mcp"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"resource": None}, "set its audience or its resource"),
        ({"upstream_client_id": "host"}, "belong together"),
        ({"upstream_client_secret": "secret"}, "set both or neither"),
        ({"issuer": "nonsense"}, "invalid URL"),
        ({"token_endpoint": "http://a.example"}, "must be https"),
        ({"authorization_server": "file:///a", "upstream_client_id": "host"}, "invalid URL"),
        ({"resource": "orders"}, "absolute URI"),
        ({"resource": "https://orders.example#part"}, "absolute URI"),
        ({"scopes": ["a b"]}, "list scopes separately"),
        ({"client_secret": ""}, "client_secret"),
        (
            {"upstream_client_id": "host", "authorization_server": "https://a.example", "audience": "a"},
            "remove audience",
        ),
    ],
)
def test_incomplete_settings_are_refused(more: dict[str, Any], problem: str) -> None:
    settings = {"issuer": "https://i.example", "client_id": "host", "resource": UPSTREAM, **more}
    settings = {name: value for name, value in settings.items() if value is not None}
    with pytest.raises(ValidationError, match=problem):
        ExchangeSettings.model_validate(settings)


class TestExchangedTokens(TokenSourceContract):
    async def make(self) -> ExchangedTokens:
        self.server = await ExchangeServer().__aenter__()
        self.token = self.server.token()
        return source(section(self.server))

    async def dispose(self, made: TokenSource) -> None:
        assert isinstance(made, ExchangedTokens)
        await made.aclose()
        await self.server.__aexit__()

    def required(self) -> ToolAuthorization:
        return OAuth2(id="orders", scopes=["read"])

    def request(
        self, required: ToolAuthorization, caller: Caller | None = None, user_id: str | None = None
    ) -> TokenRequest:
        own = caller or Caller("ada", issuer=self.server.url)
        return request(self.token, "", caller=own, supplied=Supplied(user_id=user_id) if user_id else None)._replace(
            required=required
        )
