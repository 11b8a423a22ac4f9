"""Keys of an authorization server: finding, rotation, outages, and unsafe URLs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from aiohttp import web

from pegboard_client.oauth.signature_keys import MAX_CANDIDATES, MAX_KEYS
from pegboard_plugins.auth.resource_server.claims import CheckUnavailableError
from pegboard_plugins.auth.resource_server.documents import MAX_DOCUMENT_BYTES, FetchError
from pegboard_plugins.auth.resource_server.keys import KeySet
from tests.plugins.auth.resource_server.conftest import Door, make_config
from tests.support.issuer import OTHER_RSA_KEY, RSA_KEY, Issuer, made_key, public

pytestmark = pytest.mark.asyncio(loop_scope="session")

ONE, TWO = public(RSA_KEY, "one", "RS256"), public(OTHER_RSA_KEY, "two", "RS256")
BARE, OTHER_BARE = ({name: value for name, value in key.items() if name != "kid"} for key in (ONE, TWO))


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("", "/.well-known/oauth-authorization-server"),
        ("/a/b", "/.well-known/oauth-authorization-server/a/b"),
        ("/a/b/", "/a/b/.well-known/openid-configuration"),
        ("", None),
    ],
)
async def test_keys_are_found_by_metadata_unless_configured(path: str, where: str | None) -> None:
    async with Issuer(path) as issuer:
        issuer.where = where or "none"
        server = {} if where else {"jwks_uri": f"{issuer.origin}/keys"}
        async with Door(issuer, server=server) as door:
            assert await door.status(issuer.token()) == 200
        assert issuer.asked["/keys"] == 1
        assert issuer.asked[where] == 1 if where else set(issuer.asked) == {"/keys"}


def answer(body: bytes, status: int = 200) -> Mapping[str, Any]:
    return {"answer": web.Response(body=body, status=status)}


FAULTS: dict[str, tuple[Callable[[Issuer], Mapping[str, Any]], str]] = {
    "an error": (lambda issuer: answer(b"", 500), "returned status 500"),
    "a redirect": (lambda issuer: {"redirects": {"/keys": f"{issuer.origin}/elsewhere"}}, "returned status 302"),
    "too large": (lambda issuer: answer(json.dumps({"keys": [ONE]}).encode() + b" " * MAX_DOCUMENT_BYTES), "is larger"),
    "not JSON": (lambda issuer: answer(b"<html>"), "is not JSON"),
    "too deep": (lambda issuer: answer(b"[" * 100_000), "is not JSON"),
    "no keys": (lambda issuer: answer(b'{"keys": []}'), "has no signature key"),
    "no response": (lambda issuer: {"silent": True}, "no response within 0.2 seconds"),
    "another issuer": (
        lambda issuer: {"metadata": issuer.metadata | {"issuer": "https://evil.example"}},
        "another issuer",
    ),
    "keys in a private network": (
        lambda issuer: {"metadata": issuer.metadata | {"jwks_uri": "http://169.254.169.254/keys"}},
        "that is safe to use",
    ),
    "keys in a file": (lambda issuer: {"metadata": issuer.metadata | {"jwks_uri": "file:///x"}}, "that is safe to use"),
}


@pytest.mark.parametrize(("fault", "problem"), FAULTS.values(), ids=FAULTS)
async def test_without_usable_keys_the_response_is_503(
    caplog: pytest.LogCaptureFixture, fault: Callable[[Issuer], Mapping[str, Any]], problem: str
) -> None:
    seconds = 0.2 if "0.2" in problem else 30
    async with Issuer() as issuer, Door(issuer, fetch_seconds=seconds) as door:
        for name, value in fault(issuer).items():
            setattr(issuer, name, value)
        refused = await door.refusal(issuer.token())
        assert (refused.status, refused.headers) == (503, {"Retry-After": "10"})
        assert (await door.refusal("nonsense")).status == 401
        assert f"the keys of {issuer.url} cannot be fetched: " in caplog.text
        assert problem in caplog.text
        assert issuer.asked["/keys"] <= 1
        assert issuer.asked["/elsewhere"] == 0


@pytest.mark.parametrize(
    "keys",
    [[OTHER_BARE, BARE], [{**TWO, "kid": "one"}, ONE], [{**TWO, "kid": "one"}, BARE]],
    ids=["without an id", "of one id", "with an id and without"],
)
async def test_a_token_may_be_signed_with_any_key_that_fits(keys: list[dict[str, Any]]) -> None:
    foreign = made_key("RS256")
    async with Issuer() as issuer, Door(issuer) as door:
        issuer.keys = keys
        for header in ({}, {"kid": None}):
            assert await door.status(issuer.token(header=header)) == 200
            assert await door.status(issuer.token(key=foreign, header=header)) == 401


# --- how often, by a clock


class Source:
    """A source of keys, and a clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.keys: list[Any] | None = [ONE]
        self.asked = 0

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
    return KeySet("https://a.example", source.fetch, make_config(), lambda: source.now)


async def test_the_set_is_fetched_once_per_interval(source: Source, keys: KeySet) -> None:
    results = await asyncio.gather(*(keys.find("one", "RS256") for _ in range(20)))
    assert source.asked == 1
    assert all(result[0] is results[0][0] for result in results)
    source.keys = [ONE, TWO]
    source.now += 9.9
    assert await keys.find("two", "RS256") == []
    source.now += 0.1
    assert await keys.find("two", "RS256")
    for _ in range(100):
        assert await keys.find("three", "RS256") == []
    assert source.asked == 2


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


async def test_keys_for_a_token_have_its_id_or_none_and_a_limited_number(source: Source, keys: KeySet) -> None:
    source.keys = [OTHER_BARE, TWO, ONE, public(made_key("ES256"), "one", "ES256")]
    assert [key.key_id for key in await keys.find("one", "RS256")] == ["one", None]
    assert [key.key_id for key in await keys.find("three", "RS256")] == [None]
    assert [key.key_id for key in await keys.find(None, "RS256")] == [None, "two", "one"]
    source.keys = [ONE] * MAX_KEYS + [TWO]
    source.now += 400
    assert await keys.find("one", "ES512") == []
    assert len(await keys.find("one", "RS256")) == MAX_CANDIDATES
    assert await keys.find("two", "RS256") == []


async def test_keys_without_an_id_may_have_changed(source: Source, keys: KeySet) -> None:
    source.keys = [BARE]
    assert await keys.find("any", "RS256")
    source.keys = [OTHER_BARE]
    assert await keys.find_newer("any", "RS256", keys.generation) == []
    source.now += 10
    (newer,) = await keys.find_newer("any", "RS256", keys.generation)
    assert newer.key.public_numbers() == OTHER_RSA_KEY.public_key().public_numbers()
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
