"""Two callers at once, in randomised steps, at a foreign authorization server: the npm package oidc-provider."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random

import pytest

from tests.plugins.servers.upstreams.mounts import HERE
from tests.plugins.servers.upstreams.test_caller_login import Network, hosting
from tests.support.http import Served, http_config
from tests.support.http_mcp import call
from tests.support.oidc import OidcProvider, free_port
from tests.support.person import Person
from tests.support.wire import PEGBOARD

SEED = 33
STEPS = 20
USERS = ("ann", "bob")
WHO = call("cups_whoami")

pytestmark = pytest.mark.timeout(300)  # the first run installs the authorization server


class Caller:
    """One caller, with the programs that may use the login."""

    def __init__(self, name: str, network: Network, browser: asyncio.Lock) -> None:
        self.name = name
        self.agreed: set[str] = set()
        self._network = network
        self._browser = browser

    async def step(self, random: Random) -> None:
        """Do one thing with one program, and check that it shows nothing of the other caller."""
        program, opener = random.choice(("editor", "chat")), random.choice(USERS)
        others = [f"{user}-account" for user in USERS if user != self.name]
        if random.random() < 0.3:
            tools = await self._network.tools(self.name, client_id=program)
            assert ("cups_whoami" in tools) == (program in self.agreed)
            assert ("cups_login" in tools) == (program not in self.agreed)
            return
        result = await self._network.ask(self.name, WHO, client_id=program)
        assert not any(other in json.dumps(result) for other in others)
        if program in self.agreed:
            assert result["structuredContent"]["subject"] == f"{self.name}-account"
            return
        link = result["_meta"]["pegboard/error"]["authorizationRequired"]["url"]
        async with self._browser, Person(login=f"{opener}-account") as person:
            self._network.issuer.user = opener
            await person.open(link)
        assert person.shown[0] == (200 if opener == self.name else 403), person.shown
        if opener == self.name:
            self.agreed.add(program)


async def test_nothing_of_two_callers_crosses(tmp_path: Path) -> None:
    port = free_port()
    provider = OidcProvider("ES256", f"http://127.0.0.1:{port}/mcp", vault=True)
    config = http_config(f"port = {port}", more=provider.guard)
    guarded = Served(tmp_path, config, command=(PEGBOARD, "serve", "--file", HERE / "peer_kit.py"))
    async with provider, guarded as peer, hosting(tmp_path, {"url": peer.url}) as network:
        browser = asyncio.Lock()
        callers = [Caller(name, network, browser) for name in USERS]
        randoms = [Random(f"{SEED} {name}") for name in USERS]
        for _ in range(STEPS):
            await asyncio.gather(*(caller.step(random) for caller, random in zip(callers, randoms, strict=True)))
        assert [caller.agreed for caller in callers] == [{"editor", "chat"}] * 2
        assert "eyJ" not in network.served.stderr
