"""Rate limits, keys that are used once, and logins of several processes on one server, over HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pegboard_client import Client, Endpoint, OAuth
from tests.plugins.auth.login.front import Desk
from tests.plugins.auth.login.identity_server import IdentityServer
from tests.plugins.auth.vault import network_kit
from tests.plugins.auth.vault.test_commands import pegboard
from tests.plugins.operation.redis.test_two_processes import KEY
from tests.support import pay_kit
from tests.support.callers import Network, caller_sections
from tests.support.config import section
from tests.support.http import Served, http_config
from tests.support.http_mcp import ask, call
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


@pytest.mark.needs("rate_limit")
@pytest.mark.parametrize("burst", [1, 20])
async def test_processes_share_a_limit(site: Path, server: RedisServer, burst: int) -> None:
    async with two(site, server, limits(burst=burst)) as processes:
        assert await count_allowed(*processes) == burst


@pytest.mark.needs("rate_limit")
async def test_a_process_that_stops_returns_its_tokens(site: Path, server: RedisServer) -> None:
    async with two(site, server, limits(burst=80)) as (first, second):
        assert await allowed(first)  # it has nine more
        first.process.send_signal(signal.SIGTERM)
        await first.wait()
        assert await count_allowed(second) == 79


@pytest.mark.needs("rate_limit")
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


USE = call("network_use")


class Both(NamedTuple):
    """Two processes behind one address."""

    first: Network
    second: Network
    proxy: RoundRobin

    async def links(self) -> list[str]:
        return [await network.link("ann") for network in self[:2]]

    def use_second(self) -> None:
        self.proxy.addresses = [("127.0.0.1", self.second.served.port)]


@asynccontextmanager
async def both_of(site: Path, server: RedisServer, more: str, request: dict[str, Any] = USE) -> AsyncIterator[Both]:
    async with (
        LoginIssuer() as issuer,
        RoundRobin() as proxy,
        two(site, server, caller_sections(issuer.url, proxy.url) + more) as processes,
    ):
        proxy.addresses = [("127.0.0.1", served.port) for served in processes]
        first, second = (Network(served, issuer, request) for served in processes)
        yield Both(first, second, proxy)


@asynccontextmanager
async def acme(site: Path, server: RedisServer) -> AsyncIterator[tuple[ProviderServer, Both, Person]]:
    """Start two processes that use the provider `acme`, and the browser of a user."""
    async with (
        ProviderServer() as provider,
        both_of(site, server, section("plugins.vault.providers.acme", provider.settings())) as both,
        Person() as person,
    ):
        yield provider, both, person


async def test_a_login_is_finished_by_another_process(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (_, both, person):
        link, same = await both.links()
        assert link == same
        both.use_second()  # the first process began it
        await person.open(link)
        assert (person.shown[0], "You are logged in at acme" in person.shown[1]) == (200, True)
        assert [await network.text("ann") for network in (both.second, both.first)] == ["access-1-canary"] * 2
        assert b"canary" not in server.dump()


async def test_a_token_is_renewed_once_by_two_machines(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (provider, both, person):
        provider.reply = {"expires_in": 0}
        await person.open((await both.links())[0])
        provider.reply = {"expires_in": 3600}
        texts = await asyncio.gather(*[network.text("ann") for network in (both.first, both.second) * 4])
        assert texts == ["access-2-canary"] * 8
        assert [form["grant_type"] for form in provider.forms] == ["authorization_code", "refresh_token"]


async def test_a_login_ends_with_the_process_that_began_it(site: Path, server: RedisServer) -> None:
    async with acme(site, server) as (_, both, person):
        link = (await both.links())[0]
        both.first.served.process.kill()
        number = link.partition("id=")[2].partition(".")[0]
        server.client.delete(f"test:process:{number}")  # as after 15 s
        both.use_second()
        await person.open(link)
        assert (person.shown[0], "has ended" in person.shown[1]) == (404, True)
        await person.open(await both.second.link("ann"))
        assert await both.second.text("ann") == "access-1-canary"


@pytest.mark.needs("rate_limit", "upstreams")
async def test_a_login_at_a_mounted_server_is_finished_by_another_process(site: Path, server: RedisServer) -> None:
    cup, name = call("cups_cup"), "plugins.upstreams.servers.cups"
    patient = section("plugins.rate_limit", {"calls_per_minute": 100_000})  # the test asks again and again
    async with (
        LoginServer() as cups,
        both_of(site, server, patient + section(name, {"identity": "user", "url": cups.url}), cup) as both,
        Person() as person,
    ):
        link, same = await both.links()
        while cups.asked.count("POST /mcp") < 8:  # so that the next attempts to connect are due after the login
            await both.links()
        assert link == same
        both.use_second()
        await person.open(link)
        assert person.shown[0] == 200, person.shown
        networks = (both.first, both.second) * 2
        calls = [network.ask("ann", request) for request in (cup, call("cups_login")) for network in networks]
        texts = [result["content"][0]["text"] for result in await asyncio.gather(*calls)]
        assert texts == ["full"] * 4 + ["You are logged in at cups. Its tools: cups_cup."] * 4
        assert len(cups.pages) == 1
        assert b"token-1" not in server.dump()
        code, output, _ = await pegboard(site, "logout", "--server", "cups/ann", "--json")
        assert (code, json.loads(output)["server"]) == (0, "cups/ann")


# --- logins of people


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
