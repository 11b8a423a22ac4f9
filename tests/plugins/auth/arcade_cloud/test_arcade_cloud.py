"""Tokens from the Arcade cloud: the link, a question, users, and failures."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Host
from pegboard.plugin import PluginError, TokenSource
from pegboard.types import Caller, Supplied, ToolAuthorization
from pegboard.types import Client as Described
from pegboard_client import Asked, Client, Program
from pegboard_plugins.auth.arcade_cloud import ArcadeCloudConfig
from pegboard_plugins.auth.arcade_cloud.cloud_api import CloudApi
from pegboard_plugins.auth.arcade_cloud.cloud_source import CloudTokens
from pegboard_plugins.auth.auth_providers import GitHub, OAuth2
from pegboard_testing import TokenSourceContract
from tests.host.hosting import authorization_error, value
from tests.plugins.auth.conftest import link, token_kit
from tests.support.arcade_cloud import API_KEY, ArcadeCloud
from tests.support.person import Person

ISSUER = "https://auth.example"
KIT = '''
from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import GitHub

kit = Toolkit("t", prefix=False)


@kit.tool(requires_auth=GitHub(scopes=["read"]))
def use(context: Context) -> bool:
    """Return True if the token is that of the cloud."""
    return context.get_auth_token_or_empty() == "token-of-ann-canary"
'''


def cloud_host(cloud: ArcadeCloud, **settings: Any) -> Host:
    """Return a host with tools for a known provider, for one that the operator names, and for another registration."""
    kit = token_kit(use=GitHub(scopes=["read"]), named=OAuth2(id="mine"), registered=GitHub(id="mine"))
    section = {"api_key": API_KEY, "url": cloud.url, "user": "ann", **settings}
    host = {"autoload": False, "transports": [], "secret_stores": []}
    return Host({"host": host, "plugins": {"arcade_cloud": section}}, toolkits={"t": kit})


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("use", {"provider_type": "oauth2", "oauth2": {"scopes": ["read"]}, "provider_id": "github"}),
        ("named", {"provider_type": "oauth2", "oauth2": {"scopes": []}, "id": "mine"}),
        ("registered", {"provider_type": "oauth2", "oauth2": {"scopes": []}, "id": "mine"}),
    ],
)
async def test_a_call_receives_the_link_and_then_the_token(tool: str, sent: dict[str, Any]) -> None:
    async with ArcadeCloud() as cloud, cloud_host(cloud) as host, Person() as person:
        await person.open(await link(host, tool))
        assert await value(host, tool) == "token-of-ann-canary"
        assert cloud.asked[0] == {"auth_requirement": sent, "user_id": "ann"}


async def test_a_client_authorizes_over_standard_input(tmp_path: Path) -> None:
    async with ArcadeCloud() as cloud, Person() as person:
        (tmp_path / "kit.py").write_text(KIT, "utf-8")
        (tmp_path / "host.toml").write_text("[plugins.arcade_cloud]\n", "utf-8")

        async def ask(question: Asked) -> Mapping[str, Any]:
            assert question.params["mode"] == "url"
            await person.open(question.params["url"])
            return {"action": "accept"}

        environment = {"ARCADE_API_KEY": API_KEY, "ARCADE_API_URL": cloud.url, "ARCADE_USER_ID": "ann"}
        command = ["-m", "pegboard", "stdio", str(tmp_path / "kit.py"), "--config", str(tmp_path / "host.toml")]
        lines: list[str] = []
        program = Program(sys.executable, command, env=environment, stderr=lines.append)
        async with Client(program, ask=ask, capabilities={"elicitation": {"url": {}}}) as client:
            result = await client.call("use", {})
        assert result["content"][0]["text"] == "true"
        assert all(int(wait["wait"]) <= 59 for wait in cloud.waits)
        assert "canary" not in json.dumps(result) + "".join(lines)
        assert "ARCADE_API" not in "".join(lines)  # a variable that is used causes no warning


@pytest.mark.parametrize(
    ("settings", "caller", "user"),
    [
        ({}, Caller("ann", issuer=ISSUER, extra={"email": "a@b.example", "email_verified": True}), None),
        ({"issuer": ISSUER}, Caller("ann", issuer=ISSUER, extra={"email": "a@b", "email_verified": True}), "a@b"),
        ({"issuer": ISSUER}, Caller("ann", issuer=ISSUER, extra={"email": "a@b"}), None),
        ({"issuer": ISSUER, "user_claim": "sub"}, Caller("eve", issuer=ISSUER), "eve"),
        ({"issuer": ISSUER, "user_claim": "sub"}, Caller("ann", issuer="https://other.example"), None),
        ({"issuer": ISSUER, "user_claim": "sub"}, Caller("ann"), None),
    ],
)
async def test_callers_from_the_network(settings: dict[str, Any], caller: Caller, user: str | None) -> None:
    async with ArcadeCloud() as cloud, cloud_host(cloud, **settings) as host:
        assert ((await authorization_error(host, "use", caller=caller)).url is None) == (user is None)
        assert [request["user_id"] for request in cloud.asked] == [user] * (user is not None)


async def test_a_program_that_names_a_user_receives_no_token() -> None:
    async with ArcadeCloud() as cloud, cloud_host(cloud) as host:
        assert (await authorization_error(host, "use", supplied=Supplied(user_id="ann"))).url is None
        assert cloud.asked == []


async def test_an_operator_without_a_user_id_is_told_to_set_it() -> None:
    async with ArcadeCloud() as cloud, cloud_host(cloud, user=None) as host:
        assert "[plugins.arcade_cloud] user" in (await authorization_error(host, "use")).message
        assert cloud.asked == []


async def test_the_cloud_is_asked_only_for_the_providers_of_the_settings() -> None:
    async with ArcadeCloud() as cloud, cloud_host(cloud, providers=["mine"]) as host:
        assert (await authorization_error(host, "use")).url is None
        assert (await authorization_error(host, "named")).url is not None
        assert ["1 tool needs GITHUB_TOKEN" in problem.message for problem in host.problems] == [True]


async def test_a_failed_authorization_fails_the_call() -> None:
    client = Described("test", "1", "2025-11-25", {"elicitation": {"url": {}}})
    async with ArcadeCloud() as cloud, cloud_host(cloud) as host:

        async def ask(method: str, params: dict[str, Any], **_: Any) -> dict[str, Any]:
            cloud.failed = True
            return {"action": "accept"}

        error = await authorization_error(host, "use", client=client, ask=ask)
        assert (error.status, error.can_retry) == ("failed", True)
        assert len(cloud.waits) == 1


async def test_a_wrong_key_is_reported_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with ArcadeCloud() as cloud, cloud_host(cloud, api_key="other-key-canary") as host:
        assert (await authorization_error(host, "use")).status == "failed"
    assert "the API key is not valid" in caplog.text
    assert "other-key-canary" not in caplog.text


@pytest.mark.parametrize(
    ("key", "url", "problem"), [("", "", "ARCADE_API_KEY"), ("key", "http://cloud.example", "ARCADE_API_URL")]
)
async def test_unusable_variables_are_refused(
    key: str, url: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCADE_API_KEY", key)
    monkeypatch.setenv("ARCADE_API_URL", url)
    host = Host({"host": {"autoload": False, "transports": []}, "plugins": {"arcade_cloud": {}}})
    with pytest.raises(PluginError, match=problem):
        await host.__aenter__()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"url": "javascript:alert(1)"}, "requires an https URL"),
        ({"url": "http://a.example/"}, "requires an https URL"),
        ({"id": None}, None),
        ({"id": 7}, None),
        ({"status": "completed", "context": {"token": "two words"}, "url": None}, None),
    ],
)
async def test_an_unusable_answer_is_a_failure(reply: dict[str, Any], reason: str | None) -> None:
    """Without an id, the question would be that of another user."""
    async with ArcadeCloud() as cloud, cloud_host(cloud) as host:
        cloud.reply = reply
        error = await authorization_error(host, "use")
        assert (error.status, error.url) == ("failed", None)
        assert (error.developer_message is None) == (reason is None)
        assert reason is None or reason in (error.developer_message or "")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"url": "http://cloud.example"}, "must be https"),
        ({"url": "https://"}, "invalid URL"),
        ({"issuer": "nonsense"}, "invalid URL"),
        ({"api_key": "a b\n"}, "is not an API key"),
        ({"user_claim": "name"}, "'email' or 'sub'"),
    ],
)
def test_an_unusable_setting_is_refused(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ArcadeCloudConfig.model_validate(more)


class TestArcadeCloud(TokenSourceContract):
    user = None

    async def make(self) -> CloudTokens:
        self.cloud = await ArcadeCloud().__aenter__()
        self.cloud.authorized = {("ann", "github")}
        self.cloud.unknown = {"contract_elsewhere", "contract", "contract_registration"}
        return CloudTokens(ArcadeCloudConfig(user="ann"), CloudApi(self.cloud.url, API_KEY))

    async def dispose(self, made: TokenSource) -> None:
        assert isinstance(made, CloudTokens)
        await made.aclose()
        await self.cloud.__aexit__()

    def required(self) -> ToolAuthorization:
        return GitHub(scopes=["read"])
