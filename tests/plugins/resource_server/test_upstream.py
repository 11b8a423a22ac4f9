"""Tokens stay on their side: the caller's does not reach a service, and the service's does not reach the caller."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.plugins.resource_server import upstream_kit
from tests.plugins.resource_server.conftest import serve
from tests.support.distributions import make_distribution
from tests.support.http_mcp import Session, ask, call
from tests.support.issuer import Issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")

OTHER_CANARY = "credential-canary-0123456789abcdef"
CANARY = "upstream-canary-0123456789abcdef"


@pytest.fixture(scope="module")
def upstream_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("upstream")
    files = {"upstream_kit.py": inspect.getsource(upstream_kit)}
    make_distribution(site, "upstream-kit", "1", {"pegboard.toolkits": {"upstream": "upstream_kit:kit"}}, files)
    return site


class Service(Issuer):
    """A service that keeps requests, and accepts or refuses them."""

    def __init__(self) -> None:
        super().__init__("/service")
        self.heard: list[tuple[str, str]] = []

    async def _handle(self, request: web.Request) -> web.Response:
        said = f"{dict(request.headers)} {await request.text()}"
        self.heard.append((request.headers.get("Authorization", ""), said))
        return web.Response(status=401, text=said) if request.path == "/refuse" else web.Response(text="done")


@pytest.mark.parametrize("path", ["/answer", "/refuse"])
@pytest.mark.requirement("AUTH-05")
async def test_neither_token_reaches_the_other_side(upstream_site: Path, path: str) -> None:
    async with Service() as service, Issuer() as issuer:
        tokens = '[plugins.static_tokens]\ntokens = { github = { env = "GITHUB" } }\n'
        users = f'users = [{{ subject = "ann", issuer = "{issuer.url}" }}]'
        env = {"GITHUB": CANARY}
        async with serve(upstream_site, issuer, server=tokens + users, env=env) as served:
            token = issuer.token()
            bearer = ("Authorization", f"Bearer {token}")
            others = {name.replace("-", "_"): OTHER_CANARY for name in upstream_kit.WITHHELD}
            one = call("upstream_reach", {"url": service.origin + path})
            done = [await ask(served, one, Authorization=bearer[1], **others)]
            session = Session(served)
            await session.open(**dict([bearer]))
            done.append(await session.post(one, bearer, *((name, OTHER_CANARY) for name in upstream_kit.WITHHELD)))
            assert [authorization for authorization, _ in service.heard] == [f"Bearer {CANARY}"] * 2
            for _, said in service.heard:
                assert token not in said
                assert OTHER_CANARY not in said
            assert "[None, (), 'tools/call']" in service.heard[0][1]  # the other fields of the request are there
            for each in done:
                assert each.result["isError"] is (path == "/refuse")
                assert CANARY not in _whole(each)
            assert CANARY not in served.stderr
            assert token not in served.stderr


def _whole(exchanged: Any) -> str:
    return str((exchanged.answer, exchanged.messages))
