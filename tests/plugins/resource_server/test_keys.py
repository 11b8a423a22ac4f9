"""Keys of an authorization server: finding, rotation, outages, and unsafe URLs."""

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
from tests.plugins.resource_server.conftest import listed, serve, storm, until
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
        ("/a/b/", "/a/b/.well-known/openid-configuration"),
        ("", None),
    ],
)
async def test_keys_are_found_by_metadata_unless_configured(site: Path, path: str, where: str | None) -> None:
    async with Issuer(path) as issuer:
        issuer.where = where or "none"
        server = "" if where else f'jwks_uri = "{issuer.origin}/keys"'
        async with serve(site, issuer, server=server) as served:
            assert (await listed(served, issuer.token())).status == 200
        assert issuer.asked["/keys"] == 1
        assert issuer.asked[where] == 1 if where else set(issuer.asked) == {"/keys"}


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://evil.example"},
        {"jwks_uri": "http://169.254.169.254/keys"},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
async def test_unsafe_metadata_is_not_used(site: Path, changed: dict[str, Any]) -> None:
    async with Issuer() as issuer:
        issuer.metadata |= changed
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said(r"the keys of \S+ cannot be fetched")
        assert issuer.asked["/keys"] == 0


ANSWERS = {
    "an error": lambda issuer: web.Response(status=500),
    "a redirect": lambda issuer: web.Response(status=302, headers={"Location": f"{issuer.origin}/elsewhere"}),
    "too large": lambda issuer: web.Response(
        body=json.dumps({"keys": issuer.keys}).encode() + b" " * MAX_DOCUMENT_BYTES
    ),
    "not JSON": lambda issuer: web.Response(body=b"<html>"),
    "too deep": lambda issuer: web.Response(body=b"[" * 100_000),
    "a list": lambda issuer: web.Response(body=b"[]"),
    "no keys": lambda issuer: web.Response(body=b'{"keys": []}'),
    "no list of keys": lambda issuer: web.Response(body=b'{"keys": {}}'),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_an_unusable_key_set_is_503(site: Path, answer: Any) -> None:
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
async def test_redirects_are_not_followed(site: Path, where: str) -> None:
    async with Issuer() as issuer, Issuer() as other:
        other.metadata = issuer.metadata | {"jwks_uri": f"{other.origin}/keys"}
        path = issuer.where if where == "the metadata" else "/keys"
        issuer.redirects[path] = other.origin + path
        async with serve(site, issuer) as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said("returned status 302")
        assert not other.asked


@pytest.mark.parametrize("way", ["silent", "slow"])
async def test_keys_are_waited_for_so_long(site: Path, way: str) -> None:
    async with Issuer() as issuer:
        setattr(issuer, way, True)
        async with serve(site, issuer, settings="fetch_seconds = 0.2") as served:
            assert (await listed(served, issuer.token())).status == 503
            await served.said(r"it took longer than 0.2 seconds")
            assert (await served.request("GET", "/healthz")).status == 200


# --- rotation and outage, over sockets


async def test_keys_are_rotated(site: Path) -> None:
    settings = "refresh_interval_seconds = 0.05\nrefresh_seconds = 0.1"
    async with Issuer() as issuer, serve(site, issuer, settings=settings) as served:
        old, new = issuer.token(), issuer.token(key=OTHER_RSA_KEY, header={"kid": "two"})
        assert (await listed(served, old)).status == 200
        issuer.keys = [TWO]
        await until(served, new, 200)
        await until(served, old, 401)  # though it had been found good


async def test_unknown_keys_fetch_the_set_once(site: Path) -> None:
    async with Issuer() as issuer, serve(site, issuer, settings="refresh_interval_seconds = 600") as served:
        good = issuer.token()
        tokens = [issuer.token(header={"kid": f"no-{number}"}) for number in range(500)]
        assert set(await storm(served, tokens, 50)) == {401}
        assert (await listed(served, good)).status == 200
        assert issuer.asked["/keys"] == 1


async def test_outages(site: Path) -> None:
    """Known keys are used until they are too old; without keys the response is 503."""
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
    """A source of keys, and a clock."""

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


async def test_concurrent_searches_fetch_once(source: Source, keys: KeySet) -> None:
    found = await asyncio.gather(*(keys.find("one", "RS256") for _ in range(20)))
    assert source.asked == 1
    assert all(one[0] is found[0][0] for one in found)


async def test_the_set_is_fetched_once_per_interval(source: Source, keys: KeySet) -> None:
    assert await keys.find("one", "RS256")
    source.keys = [ONE, TWO]
    source.now += 9.9
    assert await keys.find("two", "RS256") == []
    source.now += 0.1
    assert await keys.find("two", "RS256")
    for _ in range(1000):
        assert await keys.find("three", "RS256") == []
    assert source.asked == 2


async def test_old_keys_are_used_while_new_ones_are_fetched(source: Source, keys: KeySet) -> None:
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


async def test_keys_are_used_until_they_are_too_old(source: Source, keys: KeySet) -> None:
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


async def test_candidates_for_a_token(source: Source, keys: KeySet) -> None:
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


async def test_the_number_of_keys_is_limited(source: Source, keys: KeySet) -> None:
    source.keys = [ONE] * MAX_KEYS + [TWO]
    assert await keys.find("one", "RS256")
    assert await keys.find("two", "RS256") == []


async def test_a_fetch_that_runs_ends_with_the_host(source: Source, keys: KeySet) -> None:
    await keys.close()
    assert await keys.find("one", "RS256")
    source.now += 200
    assert keys.usable()
    source.now += 200
    assert keys.usable()
    await keys.close()
    assert source.asked == 1
