"""The named providers, whose requests have the form of each documentation, and settings that cannot work."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard_client import LoginFailedError
from pegboard_plugins.auth import auth_providers
from pegboard_plugins.auth.vault.named_providers import NAMED_PROVIDERS
from pegboard_plugins.auth.vault.provider_client import ProviderClient
from pegboard_plugins.auth.vault.settings import ProviderSettings, VaultConfig
from pegboard_plugins.auth.vault.vault_store import VaultToken
from tests.plugins.auth.vault.conftest import KEY, fresh_token, log_in, logins
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

BASIC = {"basic": "pegboard:client-secret-canary"}
PUBLIC = {"client_id": "pegboard"}
POST = {"client_id": "pegboard", "client_secret": "client-secret-canary"}
JSON = {"json": "yes"}
REFRESH = {"token": "refresh-0-canary"}
ACCESS = {"token": "access-0-canary"}
EXPIRED = VaultToken("access-0-canary", "refresh-0-canary", 0.0, ("a",))
PKCE = {"code_challenge_method": "S256"}
USER = {"access_token": "xoxp-1", "scope": "a,b", "token_type": "user"}
SLACK = {"ok": True, "access_token": "xoxb-bot", "scope": "bot", "authed_user": USER}


def test_every_described_provider_has_its_addresses() -> None:
    described = {auth.provider.id: auth.provider for auth in auth_providers.PROVIDERS if auth.provider.id}
    assert NAMED_PROVIDERS.keys() == described.keys()
    for name, provider in NAMED_PROVIDERS.items():
        assert (provider.title, provider.documentation) == (described[name].title, described[name].documentation)
        fields = (provider.revocation_endpoint, provider.device_endpoint, provider.account_endpoint)
        for url in (provider.authorization_endpoint, provider.token_endpoint, *filter(None, fields)):
            assert url.startswith("https://")


@pytest.mark.parametrize(
    ("name", "page", "form"),
    [
        ("airtable", {"scope": "a b", **PKCE}, BASIC),
        (
            "atlassian",
            {"audience": "api.atlassian.com", "prompt": "consent", "scope": "offline_access a b"},
            POST | JSON,
        ),
        ("calendly", {"scope": "a b", **PKCE}, BASIC),
        ("clickup", {"client_id": "pegboard"}, POST),
        ("dropbox", {"token_access_type": "offline", **PKCE}, POST),
        ("figma", {"scope": "a b", **PKCE}, BASIC),
        ("github", {"scope": "a b", **PKCE}, POST),
        ("google", {"access_type": "offline", "prompt": "consent", **PKCE}, POST),
        ("linear", {"scope": "a,b", **PKCE}, POST),
        ("microsoft", {"scope": "offline_access a b", "prompt": None, **PKCE}, POST),
        ("notion", {"owner": "user"}, BASIC | JSON),
        ("reddit", {"duration": "permanent"}, BASIC),
        ("pagerduty", {"scope": "a b", **PKCE}, POST),
        ("slack", {"user_scope": "a,b"}, BASIC),
        ("x", {"scope": "offline.access a b", **PKCE}, BASIC),
    ],
)
async def test_a_login_has_the_documented_form(
    name: str, page: dict[str, str | None], form: dict[str, str], provider: ProviderServer, person: Person
) -> None:
    provider.reply = SLACK if name == "slack" else {}
    flows, flow = await log_in(person, provider.settings(provider=name), "a", "b")
    assert (await flow.done).startswith("You are logged in at")
    assert page == {member: provider.pages[0].get(member) for member in page}
    assert form.items() <= provider.forms[0].items()
    has_pkce = page.get("code_challenge_method") == "S256"
    assert ("code_challenge" in provider.pages[0], "code_verifier" in provider.forms[0]) == (has_pkce, has_pkce)
    assert ("json" in provider.forms[0], "basic" in provider.forms[0]) == ("json" in form, "basic" in form)
    assert ("client_secret" in provider.forms[0]) is ("basic" not in form)
    assert (await fresh_token(flows, "a", "b")).access_token == ("xoxp-1" if name == "slack" else "access-1-canary")


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("github", {"error": "bad_verification_code", "error_description": "The code is incorrect."}),
        ("slack", {"ok": False, "error": "invalid_code"}),
    ],
)
async def test_an_error_with_status_200_is_an_error(
    name: str, reply: dict[str, Any], provider: ProviderServer, person: Person
) -> None:
    provider.replies = [(200, reply)]
    flows, _ = await log_in(person, provider.settings(provider=name))
    assert str(reply["error"]) in person.shown[1]
    await flows.aclose()
    assert await flows.tokens.load(KEY) is None


@pytest.mark.parametrize(
    ("reply", "expires"),
    [
        ({}, False),
        ({"expires_in": "3600"}, True),
        *(({"expires_in": odd}, False) for odd in (None, "soon", "nan", True, 10**400)),
        ({"expires_in": 1e308}, True),
    ],
)
async def test_a_token_without_lifetime_or_refresh_token_is_kept(
    reply: dict[str, Any], expires: bool, provider: ProviderServer, person: Person
) -> None:
    provider.reply = {"refresh_token": None, **reply}
    flows, _ = await log_in(person, provider.settings(provider="clickup"))
    kept = await fresh_token(flows)
    assert (kept.refresh_token, kept.expires_at is not None) == (None, expires)
    datetime.fromtimestamp(kept.expires_at or 0.0, UTC)  # `pegboard logins` shows it
    await flows.aclose()


async def test_a_public_client_of_slack_uses_pkce(provider: ProviderServer) -> None:
    flows = logins(provider.settings(provider="slack", client_secret=None))
    request = await flows.clients["acme"].authorization("http://127.0.0.1/callback", [])
    assert "code_challenge_method=S256" in request.url


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("asana", REFRESH | POST),
        ("attio", ACCESS | PUBLIC),
        ("calendly", REFRESH | POST),
        ("dropbox", {"bearer": "access-0-canary", "json": "null"}),
        ("hubspot", REFRESH | POST),
        ("notion", ACCESS | BASIC | JSON),
        ("reddit", REFRESH | BASIC),
        ("slack", ACCESS | PUBLIC),
        ("twitch", ACCESS | PUBLIC),
        ("zoom", ACCESS | BASIC),
    ],
)
async def test_a_revocation_has_the_documented_form(name: str, sent: dict[str, str], provider: ProviderServer) -> None:
    flows = logins(provider.settings(provider=name))
    assert await flows.clients["acme"].revoke(EXPIRED)
    assert provider.revocations == [sent]


async def test_a_refused_revocation_with_status_200_is_an_error(provider: ProviderServer) -> None:
    provider.revocation_reply = {"ok": False, "error": "token_revoked"}
    with pytest.raises(LoginFailedError, match="token_revoked"):
        await logins(provider.settings(provider="slack")).clients["acme"].revoke(EXPIRED)


@pytest.mark.parametrize(
    ("name", "header", "value"), [("notion", "Notion-Version", "2025-09-03"), ("reddit", "User-Agent", "pegboard")]
)
async def test_requests_have_provider_headers(name: str, header: str, value: str, provider: ProviderServer) -> None:
    client = logins(provider.settings(provider=name)).clients["acme"]
    await client.revoke(await client.refresh(EXPIRED))
    assert [request.headers[header] for request in provider.requests] == [value, value]


async def test_figma_renews_at_its_own_address(provider: ProviderServer) -> None:
    provider.reply = {"refresh_token": None}
    settings = provider.settings(provider="figma", refresh_endpoint=f"{provider.url}/refresh")
    fresh = await logins(settings).clients["acme"].refresh(EXPIRED)
    assert [request.path for request in provider.requests] == ["/refresh"]
    assert (fresh.access_token, fresh.refresh_token) == ("access-1-canary", "refresh-0-canary")


@pytest.mark.parametrize(("name", "member"), [("github", "scope"), ("twitch", "scopes")])
async def test_a_device_login_has_the_documented_form(name: str, member: str, provider: ProviderServer) -> None:
    pending = "message" if name == "twitch" else "error"
    provider.replies = [(400, {"status": 400, pending: "authorization_pending"})]
    provider.reply = {"scope": ["a", "b"]}
    flows = logins(provider.settings(provider=name))
    flow = await flows.start(KEY, ["a", "b"], device=True)
    assert (await flow.done).startswith("You are logged in at")
    assert provider.devices[0][member] == "a b"
    await flows.aclose()


OWN = {"authorization_endpoint": "https://a.example/a", "token_endpoint": "https://a.example/t"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"client_id": "a\nb"}, "client_id"),
        ({"client_secret": ""}, "client_secret"),
        ({"scopes": ["a b"]}, "list scopes separately"),
        ({"parameters": {"state": "x"}}, "the host sets state itself: remove it"),
        ({"parameters": {"code_challenge_method": "plain"}}, "remove it"),
        ({"parameters": {"scope": "all"}}, "set scopes instead"),
        *(({name: "http://a.example/x"}, "must be https") for name in (*OWN, "issuer", "account_endpoint")),
        ({"token_endpoint": "nonsense"}, "invalid URL"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "invalid URL"),
        ({"redirect_uri": "http://127.0.0.1:3000/end#part"}, "without a user and a fragment"),
        ({"redirect_uri": "http://ann@127.0.0.1:3000/end"}, "without a user and a fragment"),
        ({"redirect_uri": "http://127.0.0.1:3000/{end}"}, "without a user and a fragment"),
    ],
)
def test_an_unusable_setting_is_refused(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ProviderSettings.model_validate({"client_id": "x", **OWN, **more})


def test_the_problem_of_a_provider_names_its_section() -> None:
    with pytest.raises(ValidationError, match="acme is not a named provider") as caught:
        VaultConfig.model_validate({"providers": {"acme": {"client_id": "x"}}})
    assert caught.value.errors()[0]["loc"] == ("providers",)
    with pytest.raises(ValidationError, match="githb is not a named provider: did you mean github"):
        VaultConfig.model_validate({"providers": {"githb": {"client_id": "x"}}})


def test_tokens_of_an_own_server_are_not_sent_to_the_named_provider() -> None:
    """GitHub Enterprise Server: `account_endpoint` of github.com must not receive its tokens."""
    facts = ProviderClient("github", ProviderSettings.model_validate({"client_id": "x", **OWN})).facts
    assert (facts.account_endpoint, facts.device_endpoint, facts.revocation_endpoint) == ("", "", "")
    named = ProviderSettings(client_id="x", issuer="https://login.microsoftonline.com/tenant/v2.0")
    facts = ProviderClient("microsoft", named).facts  # the addresses are in the metadata
    assert (facts.authorization_endpoint, facts.token_endpoint, facts.scopes) == ("", "", ("offline_access",))
