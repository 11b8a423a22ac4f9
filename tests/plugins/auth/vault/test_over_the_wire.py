"""A client of each era over standard input: the host asks for the login, and the tool then has the token."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pegboard_client import Asked, Client, Program
from tests.plugins.auth.vault import network_kit
from tests.support.config import section
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

URLS: Mapping[str, Any] = {"elicitation": {"url": {}}}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_call_waits_a_short_time_and_opens_the_page_once(
    tmp_path: Path, revision: str, provider: ProviderServer, person: Person
) -> None:
    pages: list[str] = []

    async def ask(question: Asked) -> Mapping[str, Any]:
        pages.append(question.params["url"])
        return {"action": "accept"}

    settings = section("plugins.vault", {"wait_seconds": 0.01})
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
