"""Rate limits, keys that are used once, and logins of several processes on one server, over HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest

from pegboard_client import Client, Endpoint, OAuth
from tests.plugins.auth.login.front import Front
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.plugins.auth.vault import network_kit
from tests.plugins.auth.vault.test_commands import pegboard
from tests.plugins.operation.redis.test_two_processes import KEY
from tests.support import pay_kit
from tests.support.config import section
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call
from tests.support.issuer import RESOURCE
from tests.support.login_issuer import LoginIssuer
from tests.support.login_server import LoginServer
from tests.support.mcp_rounds import ABLE, CAPABILITIES
from tests.support.person import Person
from tests.support.pool import make_site
from tests.support.provider_server import ProviderServer
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.round_robin import RoundRobin

pytestmark = needs_redis
STATE = f'state = "redis"\nstate_keys = ["{KEY}"]'


@pytest.fixture
def site(tmp_path: Path, server: RedisServer) -> Path:
    server.client.flushdb()
    return make_site(tmp_path, {"pay": pay_kit, "network": network_kit})


@asynccontextmanager
async def two(site: Path, server: RedisServer, more: str = "") -> AsyncIterator[tuple[Served, Served]]:
    """Start two processes with further sections. Each has a state directory of its own, as on two machines."""
    config = http_config(host=STATE, more=server.config + 'user = "pegboard"\npassword = "secret"\n' + more)
    (site / "hostconfig.toml").write_text(config, "utf-8")  # for commands
    first, second = (Served(site, config, env={"PEGBOARD_STATE_DIR": str(site / name)}) for name in "ab")
    async with first, second:
        yield first, second


# --- rate limits


def limits(**settings: Any) -> str:
    return section("plugins.rate_limit", {"calls_per_minute": 0.001, "local": True, **settings})


async def allowed(served: Served) -> bool:
    """Return False if a call is refused."""
    result = (await ask(served, call("balance"))).result
    assert not result["isError"] or "Too many calls" in result["content"][0]["text"], result
    return not result["isError"]


async def count_allowed(*processes: Served) -> int:
    """Call the processes in turn until all refuse. Return the number of calls that were not refused."""
    count = 0
    while any(passed := [await allowed(served) for served in processes]):
        count += sum(passed)
    return count


@pytest.mark.parametrize("burst", [1, 20])
async def test_processes_share_a_limit(site: Path, server: RedisServer, burst: int) -> None:
    async with two(site, server, limits(burst=burst)) as processes:
        assert await count_allowed(*processes) == burst


async def test_a_process_that_stops_returns_its_tokens(site: Path, server: RedisServer) -> None:
    async with two(site, server, limits(burst=80)) as (first, second):
        assert await allowed(first)  # it has nine more
        first.process.send_signal(signal.SIGTERM)
        await first.wait()
        assert await count_allowed(second) == 79


async def test_limits_go_on_alone_without_the_server(site: Path, server: RedisServer) -> None:
    async with two(site, server, limits(burst=1)) as (first, second):
        assert [await allowed(first), await allowed(second)] == [True, False]
        server.kill()
        try:
            assert [await allowed(served) for served in (first, second, first, second)] == [True, True, False, False]
        finally:
            server.start()


# --- keys that are used once


async def test_a_state_is_used_once_at_any_process(site: Path, server: RedisServer) -> None:
    able: dict[str, Any] = {CAPABILITIES: ABLE}

    async def pay(served: Served, **more: Any) -> dict[str, Any]:
        request = call("pay")
        request["params"] |= {"_meta": able, **more}
        return (await ask(served, request)).result

    async with two(site, server) as (first, second):
        state = (await pay(first))["requestState"]
        answer = {"inputResponses": {"question-1": {"action": "accept"}}, "requestState": state}
        results = await asyncio.gather(*[pay(served, **answer) for served in (first, second, first, second)])
    texts = sorted(result["content"][0]["text"] for result in results)
    assert texts == ["paid", "paid before", "paid before", "paid before"]


# --- logins of callers at providers


class Network:
    """Two processes behind one address, their issuer, and the calls of a user."""

    def __init__(self, issuer: LoginIssuer, proxy: RoundRobin, *processes: Served) -> None:
        self.issuer = issuer
        self.proxy = proxy
        self.processes = processes

    async def result(self, served: Served, request: dict[str, Any], user: str = "ann") -> dict[str, Any]:
        return (await ask(served, request, Authorization=f"Bearer {self.issuer.token(sub=user)}")).result

    async def text(self, served: Served, request: dict[str, Any]) -> str:
        result = await self.result(served, request)
        return str(result["content"][0]["text"])

    async def links(self, request: dict[str, Any]) -> list[str]:
        """Return the links in the errors of a call at each process."""
        errors = [(await self.result(served, request))["_meta"]["pegboard/error"] for served in self.processes]
        return [error["authorizationRequired"]["url"] for error in errors]


@asynccontextmanager
async def network(site: Path, server: RedisServer, more: str) -> AsyncIterator[Network]:
    async with LoginIssuer() as issuer, RoundRobin() as proxy:
        sections = section("plugins.resource_server", {"resource": RESOURCE})
        sections += section("[plugins.resource_server.authorization_servers]", {"issuer": issuer.url})
        sections += section("plugins.vault.callers", {"url": proxy.url, "issuer": issuer.url, "client_id": "vault"})
        async with two(site, server, sections + more) as processes:
            proxy.addresses = [("127.0.0.1", served.port) for served in processes]
            yield Network(issuer, proxy, *processes)


@asynccontextmanager
async def acme(site: Path, server: RedisServer) -> AsyncIterator[tuple[ProviderServer, Network, Person]]:
    """Start a network that uses the provider `acme`, and the browser of a user."""
    async with (
        ProviderServer() as provider,
        network(site, server, section("plugins.vault.providers.acme", provider.settings())) as net,
        Person() as person,
    ):
        yield provider, net, person


USE = call("network_use")


async def test_a_login_is_finished_by_another_process(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (_, net, person):
        first, second = net.processes
        link, same = await net.links(USE)
        assert link == same
        net.proxy.addresses = [("127.0.0.1", second.port)]  # the first process began it
        await person.open(link)
        assert (person.shown[0], "You are logged in at acme" in person.shown[1]) == (200, True)
        assert [await net.text(served, USE) for served in (second, first)] == ["access-1-canary"] * 2
        assert b"canary" not in server.dump()


async def test_a_token_is_renewed_once_by_two_machines(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (provider, net, person):
        provider.reply = {"expires_in": 0}
        await person.open((await net.links(USE))[0])
        provider.reply = {"expires_in": 3600}
        texts = await asyncio.gather(*[net.text(served, USE) for served in net.processes * 4])
        assert texts == ["access-2-canary"] * 8
        assert [form["grant_type"] for form in provider.forms] == ["authorization_code", "refresh_token"]


async def test_a_login_ends_with_the_process_that_began_it(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (_, net, person):
        first, second = net.processes
        link = (await net.links(USE))[0]
        first.process.kill()
        number = link.partition("id=")[2].partition(".")[0]
        server.client.delete(f"test:process:{number}")  # as after 15 s
        net.proxy.addresses = [("127.0.0.1", second.port)]
        await person.open(link)
        assert (person.shown[0], "has ended" in person.shown[1]) == (404, True)
        error = (await net.result(second, USE))["_meta"]["pegboard/error"]
        await person.open(error["authorizationRequired"]["url"])
        assert await net.text(second, USE) == "access-1-canary"


async def test_a_login_at_a_mounted_server_is_finished_by_another_process(site: Path, server: RedisServer) -> None:
    cup = call("cups_cup")
    async with (
        LoginServer() as cups,
        network(site, server, section("plugins.upstreams.servers.cups", {"identity": "user", "url": cups.url})) as net,
        Person() as person,
    ):
        link, same = await net.links(cup)
        while cups.asked.count("POST /mcp") < 8:  # so that the next attempts to connect are due after the login
            await net.links(cup)
        assert link == same
        net.proxy.addresses = [("127.0.0.1", net.processes[1].port)]
        await person.open(link)
        assert person.shown[0] == 200, person.shown
        texts = await asyncio.gather(
            *[net.text(served, request) for request in (cup, call("cups_login")) for served in net.processes * 2]
        )
        assert texts == ["full"] * 4 + ["You are logged in at cups. Its tools: cups_cup."] * 4
        assert len(cups.pages) == 1
        assert b"token-1" not in server.dump()
        code, output, _ = await pegboard(site, "logout", "--server", "cups/ann", "--json")
        assert (code, json.loads(output)["server"]) == (0, "cups/ann")


# --- logins of people


class Desk(Front):
    """A client program of a host elsewhere."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.resource = f"{url}/mcp"

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()


@asynccontextmanager
async def people(site: Path, server: RedisServer) -> AsyncIterator[Desk]:
    """Start two processes that a proxy serves in turn."""
    async with IdentityServer() as provider, RoundRobin() as proxy:
        login = {"resource": f"{proxy.url}/mcp", "everyone": True, "scopes": ["work"], "challenge_scopes": ["work"]}
        more = section("plugins.login", login)
        more += section("plugins.login.provider", {"issuer": provider.url, "client_id": "host", "client_secret": "s"})
        more += section("plugins.vault", {})
        async with two(site, server, more) as processes, Desk(proxy.url) as desk:
            proxy.addresses = [("127.0.0.1", served.port) for served in processes]
            yield desk


async def test_people_log_in_at_any_process(site: Path, server: RedisServer) -> None:
    async with (
        people(site, server) as desk,
        Person() as person,
        Client(Endpoint(desk.resource, auth=OAuth(person.open))) as client,
    ):
        for _ in "12":
            assert (await client.call("balance", {}))["isError"] is False
        assert b"ann@example.com" not in server.dump()


async def test_commands_read_the_shared_state(site: Path, server: RedisServer) -> None:
    async with people(site, server) as desk:
        await desk.tokens(await desk.client())
        outputs = [await pegboard(site, *names, "--json") for names in (["people"], ["logins"], ["tasks", "list"])]
    assert [code for code, _, _ in outputs] == [0, 0, 0], outputs
    people_in, *others = (json.loads(output) for _, output, _ in outputs)
    assert ([row["person"] for row in people_in], others) == (["ann@example.com"], [[], []])


async def test_a_refresh_token_is_used_once_at_any_process(site: Path, server: RedisServer) -> None:
    async with people(site, server) as desk:
        client = await desk.client()
        first = (await desk.tokens(client))["refresh_token"]
        used = await asyncio.gather(*[desk.refresh(client, first) for _ in range(4)])
        assert sorted(answer.status for answer in used) == [200, 400, 400, 400]
        (again,) = [answer.json["refresh_token"] for answer in used if answer.status == 200]
        assert (await desk.refresh(client, again)).status == 400  # the login has ended
