"""toolkit-github from its configuration to a result, at a loopback server in place of GitHub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web

from tests.plugins.vault.test_commands import pegboard
from tests.support.person import Person
from tests.support.provider_server import ProviderServer

pytest.importorskip("toolkit_github")

CONFIG = """
[toolkits.github]
base_url = "{api}"

[host.toolkits.github]
providers = ["github"]

[plugins.vault.providers.github]
{settings}
"""


async def test_login_and_call(tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def user(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response(
            {"login": "octocat", "id": 1, "name": "Octo", "html_url": "https://github.com/octocat"}
        )

    application = web.Application()
    application.router.add_get("/user", user)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    api = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with ProviderServer() as provider, Person() as person:
            lines = [f"{name} = {json.dumps(value)}" for name, value in provider.settings().items()]
            text = CONFIG.format(api=api, settings="\n".join(lines))
            (tmp_path / "hostconfig.toml").write_text(text, "utf-8")
            code, out, said = await pegboard(tmp_path, "login", "github", "--scopes", "repo", person=person)
            assert (code, out) == (0, "You are logged in at GitHub.\n"), said
            assert (await pegboard(tmp_path, "whoami"))[1] == "github: octocat\n"
            code, out, said = await pegboard(tmp_path, "call", "github_whoami")
            assert code == 0, said
            assert "octocat" in out
            assert seen == ["Bearer access-1-canary"]
    finally:
        await runner.cleanup()
