"""Keys: found, rotated, out of reach, and never fetched from where they should not be (rows C-10 to C-12)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pegboard_plugins.resource_server import ResourceServerConfig
from pegboard_plugins.resource_server.claims import CheckUnavailableError
from pegboard_plugins.resource_server.documents import MAX_DOCUMENT_BYTES, FetchError
from pegboard_plugins.resource_server.keys import MAX_CANDIDATES, MAX_KEYS, KeySet
from tests.plugins.resource_server.conftest import listed, serve, storm
from tests.support.http import Served
from tests.support.issuer import OTHER_RSA_KEY, RESOURCE, RSA_KEY, Issuer, made_key, public

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOREIGN_KEY = made_key("RS256")
ONE, TWO = public(RSA_KEY, "one", "RS256"), public(OTHER_RSA_KEY, "two", "RS256")


# --- where they are


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("", "/.well-known/oauth-authorization-server"),
        ("", "/.well-known/openid-configuration"),
        ("/a/b", "/.well-known/oauth-authorization-server/a/b"),
        ("/a/b", "/.well-known/openid-configuration/a/b"),
        ("/a/b", "/a/b/.well-known/openid-configuration"),
        ("/a/b/", "/a/b/.well-known/openid-configuration"),
    ],
)
async def test_metadata_leads_to_the_keys(site: Path, path: str, where: str) -> None:
    async with Issuer(path) as issuer:
        issuer.where = where
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 200
            assert issuer.asked[where] == issuer.asked["/keys"] == 1


async def test_keys_whose_place_is_configured_need_no_metadata(site: Path) -> None:
    async with Issuer() as issuer:
        async with serve(site, issuer, server=f'jwks_uri = "{issuer.origin}/keys"') as served:
            assert (await listed(served, issuer.token())).status == 200
        assert set(issuer.asked) == {"/keys"}


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"jwks_uri": "http://169.254.169.254/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": 5},
    ],
)
async def test_metadata_that_leads_astray_is_not_followed(site: Path, changed: dict[str, Any]) -> None:
    async with Issuer() as issuer:
        issuer.metadata |= changed
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said(r"the keys of \S+ cannot be fetched")
        assert issuer.asked["/keys"] == 0


ANSWERS = {
    "an error": lambda issuer: web.Response(status=500),
    "a redirect": lambda issuer: web.Response(status=302, headers={"Location": f"{issuer.origin}/elsewhere"}),
    "a redirect to the cloud's own": lambda issuer: web.Response(
        status=307, headers={"Location": "http://169.254.169.254/latest/meta-data"}
    ),
    "too much": lambda issuer: web.Response(
        body=json.dumps({"keys": issuer.keys}).encode() + b" " * MAX_DOCUMENT_BYTES
    ),
    "no JSON": lambda issuer: web.Response(body=b"<html>"),
    "too deep": lambda issuer: web.Response(body=b"[" * 100_000),
    "a list": lambda issuer: web.Response(body=b"[]"),
    "no keys": lambda issuer: web.Response(body=b'{"keys": []}'),
    "no list of keys": lambda issuer: web.Response(body=b'{"keys": {}}'),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_what_is_no_key_set_is_not_used(site: Path, answer: Any) -> None:
    """Row C-12. The answer is 503, for the token may be good, and says when to come back."""
    async with Issuer() as issuer:
        issuer.answer = answer(issuer)
        async with serve(site, issuer) as served:
            refused = await listed(served, issuer.token())
            assert (refused.status, refused.get("Retry-After")) == (503, "10")
            assert refused.get("WWW-Authenticate") is None
            assert (await listed(served, "nonsense")).status == 401
            await served.said(r"the keys of \S+ cannot be fetched")
        assert issuer.asked["/keys"] == 1
        assert issuer.asked["/elsewhere"] == 0


@pytest.mark.parametrize("where", ["the metadata", "the keys"])
async def test_a_redirect_is_followed_nowhere(site: Path, where: str) -> None:
    """Row C-12: not to this machine, either, where the keys would be good."""
    async with Issuer() as issuer, Issuer() as other:
        other.metadata = issuer.metadata | {"jwks_uri": f"{other.origin}/keys"}
        path = issuer.where if where == "the metadata" else "/keys"
        issuer.redirects[path] = other.origin + path
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said("answers with 302")
        assert not other.asked


@pytest.mark.parametrize("way", ["silent", "slow"])
async def test_keys_that_do_not_come_are_not_waited_for(site: Path, way: str) -> None:
    """Row C-12: nothing comes, or a byte now and then, without end."""
    async with Issuer() as issuer:
        setattr(issuer, way, True)
        async with serve(site, issuer, settings="fetch_seconds = 0.2") as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said(r"it took longer than 0.2 seconds")
            assert (await served.request("GET", "/healthz")).status == 200


# --- rotation and outage, over sockets


async def until(served: Served, token: str, status: int) -> None:
    """Ask until the answer has this status."""
    async with asyncio.timeout(20):
        while (await listed(served, token)).status != status:
            pass


async def test_a_new_key_is_found_and_an_old_one_forgotten(site: Path) -> None:
    settings = "refresh_interval_seconds = 0.05\nrefresh_seconds = 0.1"
    async with Issuer() as issuer, serve(site, issuer, settings=settings) as served:
        old, new = issuer.token(), issuer.token(key=OTHER_RSA_KEY, header={"kid": "two"})
        assert (await listed(served, old)).status == 200
        issuer.keys = [TWO]
        await until(served, new, 200)
        await until(served, old, 401)  # though it had been found good


async def test_a_thousand_unknown_keys_are_one_question(site: Path) -> None:
    """Row C-10: at once, and whether or not the keys were known before."""
    async with Issuer() as issuer, serve(site, issuer, settings="refresh_interval_seconds = 600") as served:
        good = issuer.token()
        tokens = [issuer.token(header={"kid": f"no-{number}"}) for number in range(1000)]
        assert set(await storm(served, tokens, 50)) == {401}
        assert (await listed(served, good)).status == 200
        assert issuer.asked["/keys"] == 1


async def test_an_outage_is_bridged_and_then_told(site: Path) -> None:
    """Row C-11: known keys serve; what cannot be known, and what is too old, is 503 and never 401 nor let in."""
    settings = "refresh_interval_seconds = 0.05\nrefresh_seconds = 0.1\nmax_age_seconds = {}"
    async with Issuer() as issuer:
        good, unknown = issuer.token(), issuer.token(key=OTHER_RSA_KEY, header={"kid": "two"})
        async with serve(site, issuer, settings=settings.format(600)) as served:
            assert (await listed(served, good)).status == 200
            issuer.answer = web.Response(status=503)
            await until(served, unknown, 503)
            assert (await listed(served, good)).status == 200
            assert (await listed(served, issuer.token(jti="another"))).status == 200
            issuer.answer = None
            await until(served, unknown, 401)
        async with serve(site, issuer, settings=settings.format(0.5)) as served:
            assert (await listed(served, good)).status == 200
            issuer.answer = web.Response(status=503)
            await until(served, good, 503)
            issuer.answer = None
            await until(served, good, 200)


# --- ids of keys

BARE, OTHER_BARE = public(RSA_KEY, "", "RS256"), public(OTHER_RSA_KEY, "", "RS256")
for _key in (BARE, OTHER_BARE):
    del _key["kid"]
SETS = {
    "without an id": [OTHER_BARE, BARE],
    "of one id": [public(OTHER_RSA_KEY, "one", "RS256"), ONE],
    "of one id for two algorithms": [public(made_key("ES256"), "one", "ES256"), ONE],
    "with an id and without": [public(OTHER_RSA_KEY, "one", "RS256"), BARE],
}


@pytest.mark.parametrize("keys", SETS.values(), ids=SETS)
async def test_a_token_may_be_signed_with_any_key_that_fits(site: Path, keys: list[dict[str, Any]]) -> None:
    async with Issuer() as issuer, serve(site, issuer) as served:
        issuer.keys = keys
        for header in ({}, {"kid": None}):
            assert (await listed(served, issuer.token(header=header))).status == 200
            forged = issuer.token(key=FOREIGN_KEY, header=header)
            assert (await listed(served, forged)).status == 401


async def test_a_new_key_without_an_id_is_found(site: Path) -> None:
    async with Issuer() as issuer, serve(site, issuer, settings="refresh_interval_seconds = 0.01") as served:
        for key, public_key in ((RSA_KEY, BARE), (OTHER_RSA_KEY, OTHER_BARE)):
            issuer.keys = [public_key]
            await until(served, issuer.token(key=key, header={"kid": None}), 200)


# --- how often, by a clock


class Source:
    """What a key set fetches from, and when it is."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.keys: list[Any] | None = [ONE]
        self.asked = 0

    def clock(self) -> float:
        return self.now

    async def fetch(self) -> list[Any]:
        self.asked += 1
        await asyncio.sleep(0)
        if self.keys is None:
            raise FetchError("it is out of order")
        return self.keys


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def keys(source: Source) -> KeySet:
    servers = [{"issuer": "https://a.example"}]
    config = ResourceServerConfig.model_validate({"resource": RESOURCE, "authorization_servers": servers})
    return KeySet("https://a.example", source.fetch, config, source.clock)


async def test_everybody_waits_for_the_same_fetch(source: Source, keys: KeySet) -> None:
    found = await asyncio.gather(*(keys.find("one", "RS256") for _ in range(20)))
    assert source.asked == 1
    assert all(one[0] is found[0][0] for one in found)


async def test_unknown_keys_are_looked_for_once_an_interval(source: Source, keys: KeySet) -> None:
    assert await keys.find("one", "RS256")
    source.keys = [ONE, TWO]
    source.now += 9.9
    assert await keys.find("two", "RS256") == []
    source.now += 0.1
    assert await keys.find("two", "RS256")
    for _ in range(1000):
        assert await keys.find("three", "RS256") == []
    assert source.asked == 2


async def test_keys_that_are_no_longer_fresh_serve_while_new_ones_come(source: Source, keys: KeySet) -> None:
    assert await keys.find("one", "RS256")
    source.keys = [TWO]
    source.now += 300
    assert await keys.find("one", "RS256")
    assert source.asked == 1
    source.now += 0.1
    assert await keys.find("one", "RS256")
    assert await keys.find("two", "RS256")
    assert await keys.find("one", "RS256") == []
    assert (source.asked, keys.generation) == (2, 2)


async def test_keys_serve_until_they_are_too_old(source: Source, keys: KeySet) -> None:
    assert await keys.find("one", "RS256")
    source.keys = None
    source.now += 24 * 3600
    assert await keys.find("one", "RS256")
    with pytest.raises(CheckUnavailableError):
        await keys.find("two", "RS256")
    source.now += 0.1
    assert not keys.usable()
    for _ in range(5):
        with pytest.raises(CheckUnavailableError):
            await keys.find("one", "RS256")
    assert source.asked == 2
    source.keys = [ONE]
    source.now += 10
    assert await keys.find("one", "RS256")


async def test_keys_that_a_token_may_be_signed_with(source: Source, keys: KeySet) -> None:
    """Those of its id, then those without one; all for its algorithm where it names none; and not too many."""
    bare = {name: value for name, value in TWO.items() if name != "kid"}
    source.keys = [bare, TWO, ONE, public(made_key("ES256"), "one", "ES256")]
    assert [key.key_id for key in await keys.find("one", "RS256")] == ["one", None]
    assert [key.key_id for key in await keys.find("three", "RS256")] == [None]
    assert [key.key_id for key in await keys.find(None, "RS256")] == [None, "two", "one"]
    source.keys = [ONE] * 20
    source.now += 400
    assert await keys.find("one", "ES512") == []
    assert len(await keys.find("one", "RS256")) == MAX_CANDIDATES


async def test_keys_without_an_id_may_have_changed(source: Source, keys: KeySet) -> None:
    """They are looked for once an interval; those of the token's id are not."""
    bare, newer = ({name: value for name, value in key.items() if name != "kid"} for key in (ONE, TWO))
    source.keys = [bare]
    assert await keys.find("any", "RS256")
    source.keys = [newer]
    assert await keys.find_newer("any", "RS256", keys.generation) == []
    source.now += 10
    (found,) = await keys.find_newer("any", "RS256", keys.generation)
    assert found.key.public_numbers() == OTHER_RSA_KEY.public_key().public_numbers()
    source.keys = None
    source.now += 10
    with pytest.raises(CheckUnavailableError):
        await keys.find_newer(None, "RS256", keys.generation)
    source.keys = [ONE]
    source.now += 10
    assert await keys.find_newer(None, "RS256", keys.generation)
    source.now += 10
    assert await keys.find_newer("one", "RS256", keys.generation) == []
    assert source.asked == 4


async def test_a_set_is_bounded(source: Source, keys: KeySet) -> None:
    source.keys = [ONE] * MAX_KEYS + [TWO]
    assert await keys.find("one", "RS256")
    assert await keys.find("two", "RS256") == []


async def test_keys_are_fetched_anew_once_they_are_old_and_serve_meanwhile(source: Source, keys: KeySet) -> None:
    assert await keys.find("one", "RS256")
    source.now += 200
    assert keys.usable()
    await asyncio.sleep(0)  # what would have been begun has asked by now
    assert source.asked == 1
    source.now += 200
    assert keys.usable()
    assert await keys.find("one", "RS256")
    await asyncio.sleep(0)
    assert source.asked == 2


async def test_what_is_being_fetched_ends_with_the_host(source: Source, keys: KeySet) -> None:
    await keys.close()
    assert await keys.find("one", "RS256")
    source.now += 400
    assert keys.usable()
    await keys.close()
    assert source.asked == 1
