"""A process that serves the toolkits of `tests/samples/arcade_toolkits`, and the service of one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from aiohttp import web

from tests.plugins.protocols.worker.conftest import SECRET, Engine, serve, token
from tests.support.arcade_site import make_arcade_site
from tests.support.http import Served
from tests.support.http_mcp import ask, call
from tests.support.loopback_server import LoopbackServer

SECTION = '\n[plugins.arcade]\nnames = ["*"]\n'
TOKEN = "gho_of-the-tests"


class LedgerServer(LoopbackServer):
    """The service of the toolkit `ledger`. The number of an entry above 99 is the status of the response."""

    def __init__(self) -> None:
        self.tokens: list[str | None] = []

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/entries/{number}", self._entry)
        return application

    async def _entry(self, request: web.Request) -> web.Response:
        self.tokens.append(request.headers.get("Authorization"))
        number = int(request.match_info["number"])
        status = number if number > 99 else 200
        fields = {"Retry-After": "7"} if status == 429 else {}
        return web.json_response({"number": number, "amount": 2.5, "currency": "EUR"}, status=status, headers=fields)


class Place(NamedTuple):
    """A process that serves the toolkits, its service, and the folder in which its functions note that they run."""

    served: Served
    ledger: LedgerServer
    ran: Path

    async def over_mcp(self, tool: str, arguments: dict[str, Any]) -> Any:
        exchanged = await ask(self.served, call(tool, arguments), Authorization=self.served.proof[1])
        return exchanged.result

    async def over_worker(self, tool: str, inputs: dict[str, Any], *, toolkit: str = "Ledger", **context: Any) -> Any:
        """Call a tool with the tokens and secrets of `context`, and return the output."""
        answer = await Engine(self.served, f"Bearer {token()}").invoke(tool, inputs, toolkit=toolkit, context=context)
        return answer["output"]


@asynccontextmanager
async def place(tmp_path: Path, settings: str = SECTION, **env: str) -> AsyncIterator[Place]:
    site, ran = make_arcade_site(tmp_path), tmp_path / "ran"
    ran.mkdir()
    async with LedgerServer() as ledger:
        variables = {"ARCADE_WORKER_SECRET": SECRET, "LEDGER_RAN": str(ran)}
        variables |= {name: value or ledger.origin for name, value in env.items()}
        async with serve(site, settings, env=variables) as served:
            yield Place(served, ledger, ran)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with place(tmp_path_factory.mktemp("shared"), LEDGER_URL="", GITHUB_TOKEN=TOKEN) as here:
        yield here
