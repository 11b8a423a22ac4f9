"""Two callers at once, in randomised steps, at a foreign authorization server: the npm package oidc-provider.

`make callers` does 500 rounds. The variable TEST_ROUNDS sets another number.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.plugins.servers.upstreams.mounts import guarded_peer
from tests.plugins.servers.upstreams.test_caller_login import hosting
from tests.support.callers import Network
from tests.support.http_mcp import call, message, opened
from tests.support.person import Person

SEED = 33
ROUNDS = int(os.environ.get("TEST_ROUNDS", "20"))
USERS = ("ann", "bob")
PROGRAMS = ("editor", "chat")
TOKEN_SECONDS = 15
"""The time after which tokens of the mounted server are renewed."""
USES = {
    "cups_whoami": call("cups_whoami"),
    "peer://me": message("resources/read", {"uri": "peer://me"}),
    "cups_greet": message("prompts/get", {"name": "cups_greet", "arguments": {"name": "you"}}),
}

pytestmark = pytest.mark.timeout(300 + 3 * ROUNDS)  # the first run installs the authorization server


class Caller:
    def __init__(self, name: str, network: Network, browser: asyncio.Lock) -> None:
        self.name = name
        self.agreed: set[str] = set()
        self.steps: set[str] = set()
        self._seen: set[str] = set()
        """The programs that have listed the tools. They list them until a call shows that the login has ended."""
        self._sessions: list[Any] = []
        self._network = network
        self._browser = browser
        self._others = [f"{user}-account" for user in USERS if user != name]

    async def step(self, random: Random, other: Caller) -> None:
        """Do one thing with one program, and check that it shows nothing of the other caller."""
        (kind,) = random.choices(("list", "use", "end", "session", "steal"), (4, 6, 1, 2, 2))
        program = random.choice(PROGRAMS)
        self.steps.add(kind)
        if kind == "list":
            await self._list(program)
        elif kind == "end":
            await self._end()
        elif kind == "session" and program in self.agreed:
            self._sessions.append(await opened(self._network.served, Authorization=self._bearer(program)))
            result = await self._sessions[-1].post(USES["cups_whoami"], ("Authorization", self._bearer(program)))
            self._check(result.result)
        elif kind == "steal" and other._sessions:
            stolen = random.choice(other._sessions)
            answer = await stolen.post(USES["cups_whoami"], ("Authorization", self._bearer(program)))
            assert answer.answer.status == 404
        else:
            await self._use(program, random.choice(sorted(USES)), random.choice(USERS))

    def _bearer(self, program: str) -> str:
        return f"Bearer {self._network.issuer.token(sub=self.name, client_id=program)}"

    def _check(self, result: Any) -> None:
        """Check that a result has the account of the caller, and of no other."""
        text = json.dumps(result)
        assert f"{self.name}-account" in text, text
        assert not any(other in text for other in self._others), text

    async def _list(self, program: str) -> None:
        page = await self._network.ask(self.name, message("tools/list"), client_id=program)
        tools = [tool["name"] for tool in page["tools"]]
        assert page["cacheScope"] == "private"
        assert program not in self.agreed or "cups_whoami" in tools
        assert program in self._seen or tools == ["cups_login"]

    async def _use(self, program: str, name: str, opener: str) -> None:
        """Use an item. If it requires a login, a person opens the page, who may be the other one."""
        if program in self.agreed:
            self._check(await self._network.ask(self.name, USES[name], client_id=program))
            return
        result = await self._network.ask(self.name, USES["cups_whoami"], client_id=program)
        assert "-account" not in json.dumps(result)
        link = result["_meta"]["pegboard/error"]["authorizationRequired"]["url"]
        async with self._browser, Person(login=f"{opener}-account") as person:
            self._network.issuer.user = opener
            await person.open(link)
        if opener == self.name and "to which this page belongs has ended" in person.shown[1]:
            return  # the page asked for the use of a login that the caller has ended meanwhile
        assert person.shown[0] == (200 if opener == self.name else 403), person.shown
        if opener == self.name:
            self.agreed.add(program)
            self._seen.add(program)
            self._check(await self._network.ask(self.name, USES["cups_whoami"], client_id=program))

    async def _end(self) -> None:
        async with self._browser, Person() as person:
            self._network.issuer.user = self.name
            await person.open(f"http://127.0.0.1:{self._network.served.port}/vault/logins")
        assert "There are none." in person.shown[1]
        self.agreed.clear()


async def test_nothing_of_two_callers_crosses(tmp_path: Path) -> None:
    async with (
        guarded_peer(tmp_path, token_seconds=TOKEN_SECONDS) as (_, peer),
        hosting(tmp_path, {"url": peer.url}) as network,
    ):
        browser = asyncio.Lock()
        ann, bob = (Caller(name, network, browser) for name in USERS)
        randoms = [Random(f"{SEED} {name}") for name in USERS]
        for _ in range(ROUNDS):
            await asyncio.gather(ann.step(randoms[0], bob), bob.step(randoms[1], ann))
        assert ann.steps == bob.steps == {"list", "use", "end", "session", "steal"}
        assert "eyJ" not in network.served.stderr
