"""Tokens stay on their side: the caller's does not reach a service, and the service's does not reach the caller."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from tests.plugins.auth.resource_server import upstream_kit
from tests.plugins.auth.resource_server.conftest import serve
from tests.support.http_mcp import ask, call, opened
from tests.support.issuer import Issuer
from tests.support.pool import make_site

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
