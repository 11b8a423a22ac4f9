"""The named providers: a server on loopback checks that requests have the form of each documentation."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard_plugins import auth_providers
from pegboard_plugins.vault.named_providers import NAMED_PROVIDERS
from tests.plugins.vault.conftest import KEY, logins
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

BASIC = {"basic": "pegboard:client-secret-canary"}
POST = {"client_id": "pegboard", "client_secret": "client-secret-canary"}
JSON = {"json": "yes"}
PKCE = {"code_challenge_method": "S256"}
USER = {"access_token": "xoxp-1", "scope": "a,b", "token_type": "user"}
SLACK = {"ok": True, "access_token": "xoxb-bot", "scope": "bot", "authed_user": USER}


def test_every_described_provider_has_its_addresses() -> None:
    described = {one.provider.id: one.provider for one in auth_providers.PROVIDERS if one.provider.id}
    assert {name: one.documentation for name, one in NAMED_PROVIDERS.items()} == {
        name: one.documentation for name, one in described.items()
    }
    assert {name: one.title for name, one in NAMED_PROVIDERS.items()} == {
        name: one.title for name, one in described.items()
    }
    for one in NAMED_PROVIDERS.values():
        fields = (one.revocation_endpoint, one.device_endpoint, one.account_endpoint)
        for url in (one.authorization_endpoint, one.token_endpoint, *filter(None, fields)):
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
        ("clickup", {"client_id": "pegboard"}, POST),
        ("dropbox", {"token_access_type": "offline", **PKCE}, POST),
        ("github", {"scope": "a b", **PKCE}, POST),
        ("google", {"access_type": "offline", "prompt": "consent", **PKCE}, POST),
        ("linear", {"scope": "a,b", **PKCE}, POST),
        ("microsoft", {"scope": "offline_access a b", **PKCE}, POST),
        ("notion", {"owner": "user"}, BASIC | JSON),
        ("reddit", {"duration": "permanent"}, BASIC),
        ("slack", {"user_scope": "a,b", **PKCE}, BASIC),
        ("x", {"scope": "offline.access a b", **PKCE}, BASIC),
    ],
)
async def test_a_login_has_the_form_of_its_documentation(name: str, page: dict[str, str], form: dict[str, str]) -> None:
    async with ProviderServer() as provider, Person() as person:
        provider.reply = SLACK if name == "slack" else {}
        flows = logins(provider.settings(provider=name))
        flow = await flows.start(KEY, ["a", "b"])
        await person.open(flow.url)
        assert (await flow.done).startswith("You are logged in at")
        assert page.items() <= provider.pages[0].items()
        assert form.items() <= provider.forms[0].items()
        has_pkce = page.get("code_challenge_method") == "S256"
        assert ("code_challenge" in provider.pages[0], "code_verifier" in provider.forms[0]) == (has_pkce, has_pkce)
        assert ("json" in provider.forms[0], "basic" in provider.forms[0]) == ("json" in form, "basic" in form)
        assert ("client_secret" in provider.forms[0]) is ("basic" not in form)
        kept = await flows.tokens.fresh(KEY, ["a", "b"])
        assert kept is not None
        assert kept.access_token == ("xoxp-1" if name == "slack" else "access-1-canary")


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("github", {"error": "bad_verification_code", "error_description": "The code is incorrect."}),
        ("slack", {"ok": False, "error": "invalid_code"}),
    ],
)
async def test_an_error_with_status_200_is_an_error(name: str, reply: dict[str, Any]) -> None:
    async with ProviderServer() as provider, Person() as person:
        provider.replies = [(200, reply)]
        flows = logins(provider.settings(provider=name))
        flow = await flows.start(KEY, [])
        await person.open(flow.url)
        assert str(reply["error"]) in person.shown[1]
        await flows.close()
        assert await flows.tokens.load(KEY) is None


@pytest.mark.parametrize(
    ("reply", "expires"),
    [
        ({}, False),
        ({"expires_in": "3600"}, True),
        *(({"expires_in": odd}, False) for odd in (None, "soon", "nan", 10**400)),
    ],
)
async def test_a_token_without_lifetime_or_refresh_token_is_kept(reply: dict[str, Any], expires: bool) -> None:
    async with ProviderServer() as provider, Person() as person:
        provider.reply = {"refresh_token": None, **reply}
        flows = logins(provider.settings(provider="clickup"))
        await person.open((await flows.start(KEY, [])).url)
        kept = await flows.tokens.fresh(KEY)
        assert kept is not None
        assert (kept.refresh_token, kept.expires_at is not None) == (None, expires)
        await flows.close()
