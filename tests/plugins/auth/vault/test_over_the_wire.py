"""A client of each era over standard input: the host asks for the login, and the tool then has the token."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegboard_client import Asked, Client, Program
from tests.support.config import section
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

KIT = '''
from pegboard import Context, Toolkit
from pegboard_plugins.auth.auth_providers import OAuth2

kit = Toolkit("t", prefix=False)


@kit.tool(requires_auth=OAuth2(id="acme", scopes=["read"]))
def use(context: Context) -> bool:
    """Return True if the token is that of the provider."""
    return context.get_auth_token_or_empty() == "access-1-canary"
'''


def vault_client(tmp_path: Path, provider: ProviderServer, vault: str = "", **options: Any) -> Client:
    """Return a client of a host process with a vault."""
    (tmp_path / "kit.py").write_text(KIT, "utf-8")
    settings = vault + section("plugins.vault.providers.acme", provider.settings())
    (tmp_path / "host.toml").write_text(settings, "utf-8")
    command = ["-m", "pegboard", "stdio", str(tmp_path / "kit.py"), "--config", str(tmp_path / "host.toml")]
    return Client(Program(sys.executable, command, env={"PEGBOARD_STATE_DIR": str(tmp_path / "state")}), **options)


URLS: Mapping[str, Any] = {"elicitation": {"url": {}}}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_call_waits_a_short_time_and_opens_the_page_once(tmp_path: Path, revision: str) -> None:
    pages: list[str] = []

    async def ask(question: Asked) -> Mapping[str, Any]:
        pages.append(question.params["url"])
        return {"action": "accept"}

    async with ProviderServer() as provider, Person() as person:
        vault = section("plugins.vault", {"wait_seconds": 0.01})
        async with vault_client(tmp_path, provider, vault, revision=revision, ask=ask, capabilities=URLS) as client:
            params: dict[str, Any] = {"name": "use", "arguments": {}}
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
        assert done["content"][0]["text"] == "true"
        assert len(pages) == 1


@pytest.mark.parametrize(("revision", "asks"), [("2025-11-25", True), ("2026-07-28", True), ("2025-06-18", False)])
async def test_a_call_logs_the_user_in(tmp_path: Path, revision: str, asks: bool) -> None:
    async with ProviderServer() as provider, Person() as person:
        questions: list[Asked] = []

        async def ask(question: Asked) -> Mapping[str, Any]:
            questions.append(question)
            await person.open(question.params["url"])
            return {"action": "accept"}

        capabilities = URLS if asks else {}
        async with vault_client(tmp_path, provider, revision=revision, ask=ask, capabilities=capabilities) as client:
            result = await client.call("use", {})
            if not asks:
                assert result["isError"] is True
                url = result["_meta"]["pegboard/error"]["authorizationRequired"]["url"]
                assert url in result["content"][0]["text"]
                await person.open(url)
                result = await client.call("use", {})
        assert result["content"][0]["text"] == "true"
        assert len(questions) == asks
        assert all(
            (question.method, question.params["mode"]) == ("elicitation/create", "url") for question in questions
        )
        assert "canary" not in str(result) + str([question.params for question in questions])
