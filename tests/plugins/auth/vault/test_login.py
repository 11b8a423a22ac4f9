"""Logins by a person: links, questions in both eras, device flow, step-up and their failures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from pegboard import Host, ToolResult, UpstreamError
from pegboard.plugin import TokenSource
from pegboard.types import Caller, InputRequired, Supplied, ToolAuthorization
from pegboard.types import Client as Described
from pegboard_client import Asked, Client, Program
from pegboard_plugins.auth.auth_providers import OAuth2
from pegboard_plugins.auth.vault import provider_client
from pegboard_plugins.auth.vault.login_flows import LoginFlows
from pegboard_plugins.auth.vault.vault_source import VaultSource
from pegboard_plugins.auth.vault.vault_store import VaultToken
from pegboard_testing import TokenSourceContract
from tests.host.hosting import WAIT, authorization_error, call, failure, kit_of, value
from tests.plugins.auth.conftest import link
from tests.plugins.auth.vault import network_kit
from tests.plugins.auth.vault.conftest import KEY, fresh_token, log_in, logins, vault_host
from tests.support.config import section
from tests.support.oidc import OidcProvider
from tests.support.person import Person
from tests.support.provider_server import ProviderServer
from tests.support.rounds import Rounds

SESSION = Described("test", "1", "2025-11-25", {"elicitation": {"url": {}}})
ACME = {"client_id": "x", "issuer": "https://acme.example"}
OIDC = {"client_id": "vault", "client_secret": "vault-secret-0123456789"}


@pytest.mark.parametrize(
    ("plugins", "advice"),
    [
        ({"vault": {"providers": {"acme": ACME}}}, "Log in again: run `pegboard login acme`."),
        ({}, "The operator must renew the secret ACME_TOKEN."),
    ],
)
async def test_a_rejected_token_is_renewed_where_it_comes_from(
    plugins: dict[str, Any], advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_TOKEN", "" if plugins else "rejected")
    await logins(ACME).tokens.save(KEY, VaultToken("rejected"))

    def use(status: int) -> str:
        raise UpstreamError("The service refuses.", status_code=status)

    config = {"host": {"autoload": False, "transports": [], "secret_stores": ["secrets_env"]}, "plugins": plugins}
    async with Host(config, toolkits={"t": kit_of(use, requires_auth=OAuth2(id="acme"))}) as host:
        for status, shown in ((401, advice), (403, None)):
            error = (await failure(host, "use", {"status": status})).error
            assert isinstance(error, UpstreamError)
            assert (error.message, error.additional_prompt_content) == ("The service refuses.", shown)


async def test_a_call_in_rounds_ends_with_the_page(provider: ProviderServer, person: Person) -> None:
    async with vault_host(provider.settings(), "read") as host:
        rounds = Rounds(host, "use")
        outcome = await rounds.step()
        assert isinstance(outcome, InputRequired)
        [(name, question)] = outcome.questions.items()
        repeated = asyncio.create_task(rounds.step({name: {"action": "accept"}}))  # before the login has ended
        await asyncio.sleep(0)
        await person.open(question.params["url"])
        async with asyncio.timeout(WAIT):
            result = await repeated
        assert isinstance(result, ToolResult)
        assert result.value == "access-1-canary"


async def test_a_declined_page_fails_the_call(provider: ProviderServer) -> None:
    ask = AsyncMock(return_value={"action": "decline"})
    async with vault_host(provider.settings()) as host:
        await authorization_error(host, "use", client=SESSION, ask=ask)
        assert provider.pages == []


async def test_other_callers_than_the_operator_receive_no_token_and_no_link(
    caplog: pytest.LogCaptureFixture, provider: ProviderServer, person: Person
) -> None:
    async with vault_host(provider.settings()) as host:
        url = await link(host)
        assert await link(host) == url  # one login for both calls
        await person.open(url)
        others = [Caller("ann"), Caller("ann", issuer="https://auth.example"), Caller("ann", trusted=True)]
        fields: list[dict[str, Any]] = [{"caller": caller} for caller in others] + [
            {"supplied": Supplied(user_id="ann")}
        ]
        for options in fields:
            assert (await authorization_error(host, "use", **options)).url is None
        assert caplog.text.count("a section [plugins.vault.callers] adds users of the host") == len(fields)


async def test_a_failure_is_one_log_line_without_a_traceback(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    (state / "vault.db").touch(0o600)
    (state / "vault.db").write_bytes(b"no database" * 100)
    async with ProviderServer() as provider, vault_host(provider.settings()) as host:
        assert (await authorization_error(host, "use")).status == "failed"
    assert "cannot be used: file is not a database" in caplog.text
    assert "Traceback" not in caplog.text


async def test_more_scopes_start_another_login_with_all_scopes(provider: ProviderServer, person: Person) -> None:
    more = ("write",)
    async with vault_host(provider.settings(), "read", more=more) as host:
        await person.open(await link(host))
        await person.open(await link(host, "use_more"))
        assert provider.pages[1]["scope"] == "read write"
        assert await value(host, "use") == await value(host, "use_more") == "access-2-canary"


def opens(person: Person) -> Any:
    """Return the answer of a client that lets a person open the page."""

    async def ask(method: str, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        await person.open(params["url"])
        return {"action": "accept"}

    return ask


async def test_a_scope_that_was_not_granted_starts_no_endless_logins(provider: ProviderServer, person: Person) -> None:
    provider.reply = {"scope": "read"}
    async with vault_host(provider.settings(), "read", "write") as host:
        await authorization_error(host, "use", client=SESSION, ask=opens(person))
    assert len(provider.pages) == 1
    assert "did not grant write" in person.shown[1]


async def test_a_device_login_waits_for_the_person(monkeypatch: pytest.MonkeyPatch, provider: ProviderServer) -> None:
    monkeypatch.setattr(provider_client, "MIN_DEVICE_SECONDS", 0.0)
    async with vault_host(provider.settings(device=True)) as host:
        provider.replies = [(400, {"error": "authorization_pending"}), (503, {})]
        ask = AsyncMock(return_value={"action": "accept"})
        assert await value(host, "use", client=SESSION, ask=ask) == "access-3-canary"
        assert "ABCD-EFGH" in ask.await_args_list[0].args[1]["message"]
        assert provider.forms[0]["device_code"] == "device-canary"


@pytest.mark.timeout(300)  # the first run installs the npm package
async def test_oidc_provider_unmodified(person: Person) -> None:
    """Login, PKCE, `iss`, renewal with rotation, device flow and revocation at a foreign authorization server."""
    async with OidcProvider("OPAQUE", vault=True) as provider:
        flows, flow = await log_in(person, {**OIDC, "issuer": provider.url, "scopes": ["openid", "work"]}, "work")
        await flow.done
        assert "iss=" in next(url for url in person.visited if "code=" in url)
        kept = await fresh_token(flows, "work")
        assert kept.account == "ann"
        assert set(kept.scopes) >= {"work"}
        await flows.tokens.save(KEY, kept._replace(expires_at=0.0))
        fresh = await fresh_token(flows)
        assert fresh.access_token != kept.access_token
        assert fresh.refresh_token != kept.refresh_token
        assert fresh.account == "ann"
        assert await flows.tokens.revoke(KEY, fresh) == ""
        await flows.tokens.save(KEY, fresh._replace(expires_at=0.0))
        assert await flows.tokens.fresh(KEY) is None

        device = await flows.start(KEY, ["work"], device=True)
        await person.open(device.url)
        async with asyncio.timeout(WAIT):
            assert await device.done == "You are logged in at acme"
        await flows.aclose()


async def test_calls_share_the_outcome_of_a_failed_login(provider: ProviderServer, person: Person) -> None:
    provider.answer = {"error": "access_denied", "code": ""}
    async with vault_host(provider.settings()) as host:
        outcome = await call(host, "use", client=SESSION, ask=opens(person))
    assert "access_denied" in person.shown[1]
    assert "access_denied" not in str(outcome)
    assert person.shown[0] == 400


async def test_the_end_of_the_host_ends_every_login(flows: LoginFlows) -> None:
    flow = await flows.start(KEY, [])  # its task has not begun
    await flows.aclose()
    assert flow.done.cancelled()
    assert flows.pending(flow.id) is None


async def test_an_unknown_account_does_not_fail_the_login(provider: ProviderServer, person: Person) -> None:
    flows, flow = await log_in(person, provider.settings(account_endpoint="http://127.0.0.1:1/user"))
    assert await flow.done == "You are logged in at acme"
    await flows.aclose()


class TestVault(TokenSourceContract):
    user = None

    async def make(self) -> TokenSource:
        endpoints = {"authorization_endpoint": "https://a.example/a", "token_endpoint": "https://a.example/t"}
        flows = logins({"client_id": "pegboard", **endpoints})
        await flows.tokens.save(KEY, VaultToken("access-0-canary", scopes=("read",)))
        return VaultSource(flows)

    def required(self) -> ToolAuthorization:
        return OAuth2(id="acme", scopes=["read"])


URLS: Mapping[str, Any] = {"elicitation": {"url": {}}}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_call_waits_a_short_time_and_opens_the_page_once(
    tmp_path: Path, revision: str, provider: ProviderServer, person: Person
) -> None:
    pages: list[str] = []

    async def ask(question: Asked) -> Mapping[str, Any]:
        pages.append(question.params["url"])
        return {"action": "accept"}

    settings = section("plugins.vault", {"wait_seconds": 0.5})
    settings += section("plugins.vault.providers.acme", provider.settings())
    (tmp_path / "host.toml").write_text(settings, "utf-8")
    command = ["-m", "pegboard", "stdio", str(network_kit.__file__), "--config", str(tmp_path / "host.toml")]
    program = Program(sys.executable, command, env={"PEGBOARD_STATE_DIR": str(tmp_path / "state")})
    async with Client(program, revision=revision, ask=ask, capabilities=URLS) as client:
        params: dict[str, Any] = {"name": "network_use", "arguments": {}}
        late = await client.exchange("tools/call", params, ask=ask, capabilities=URLS)
        if client.stateless:
            [(key, question)] = late["inputRequests"].items()
            pages.append(question["params"]["url"])
            params |= {"requestState": late["requestState"], "inputResponses": {key: {"action": "accept"}}}
            late = await client.exchange("tools/call", params, capabilities=URLS)
            assert set(late) - {"_meta"} == {"resultType", "requestState"}
            params = {**params, "requestState": late["requestState"], "inputResponses": {}}
        else:
            text = late["content"][0]["text"]
            assert "Not logged in yet. Call again; the page is open for 9 more minutes." in text
            assert pages[0] in text
            assert late["_meta"]["pegboard/error"]["canRetry"] is True
        await person.open(pages[0])
        done = await client.exchange("tools/call", params, ask=ask, capabilities=URLS)
    assert done["content"][0]["text"] == "access-1-canary"
    assert len(pages) == 1
