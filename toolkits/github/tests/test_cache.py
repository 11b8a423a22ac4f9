"""Conditional requests: a cache of responses by token, limited in bytes."""

from __future__ import annotations

import pytest

from toolkit_github.cache import Cache, Kept
from toolkit_github.client import Ask, Client
from toolkit_github.config import GithubConfig
from toolkits.github.tests.conftest import Serve
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import REPO, TOKEN, GithubServer, Reply, Rogue

pytestmark = pytest.mark.asyncio(loop_scope="module")

ISSUE = {"repo": REPO, "number": 1347}


async def test_an_unchanged_response_is_not_sent_again(serve: Serve, github: GithubServer) -> None:
    served = await serve()
    first = await served.call("get_issue", **ISSUE)
    assert await served.call("get_issue", **ISSUE) == first
    assert "If-None-Match" not in github.seen[0].headers
    assert github.seen[1].headers["If-None-Match"].startswith('W/"')
    github.script("issues/get", *[Reply(body={**example("issues/get"), "title": "Found two bugs"})] * 2)
    for _ in range(2):
        assert (await served.call("get_issue", **ISSUE))["title"] == "Found two bugs"
    assert github.statuses == [200, 304, 200, 304]


async def test_a_cached_list_keeps_its_next_page(serve: Serve, github: GithubServer) -> None:
    served = await serve()
    link = {"Link": f'<{github.url}/x?page=2>; rel="next"'}
    github.script("issues/list-for-repo", *[Reply(body=[], headers=link)] * 2)
    pages = [await served.call("list_issues", repo=REPO) for _ in range(2)]
    assert pages == [{"items": [], "next_page": 2}] * 2
    assert github.statuses == [200, 304]


async def test_other_pages_and_revisions_are_other_responses(serve: Serve, github: GithubServer) -> None:
    served = await serve()
    for page in (1, 2):
        await served.call("list_issues", repo=REPO, page=page)
    for ref in ("main", "feature/x"):
        await served.call("get_file", repo=REPO, path="README.md", ref=ref)
    assert github.statuses == [200] * 4


async def test_changes_are_not_cached_and_the_cache_can_be_disabled(serve: Serve, github: GithubServer) -> None:
    served = await serve(write=True)
    for _ in range(2):
        await served.call("add_comment", **ISSUE, body="again")
    served = await serve(cache_bytes=0)
    for _ in range(2):
        await served.call("get_issue", **ISSUE)
    assert github.statuses == [201, 201, 200, 200]


async def test_an_unexpected_304_is_an_error(serve: Serve, github: GithubServer) -> None:
    github.script("issues/get", Rogue(status=304))
    assert (await (await serve()).fail("get_issue", **ISSUE)).status_code == 304


async def test_tokens_share_no_responses(github: GithubServer) -> None:
    github.allow("ghp_other")
    client = Client(GithubConfig(base_url=github.url))
    for token in ("ghp_other", TOKEN, "ghp_other"):
        assert (await client.ask(Ask("The user", "/user"), token)).data["login"] == "octocat"
    await client.close()
    assert github.statuses == [200, 200, 304]


def response(size: int) -> Kept:
    return Kept("e", "", b"x" * (size - 33))


async def test_the_least_recently_used_responses_are_dropped_beyond_the_budget() -> None:
    cache = Cache(1000)
    keys = [Cache.key("t", "a", str(number)) for number in range(5)]
    for key in keys[:4]:
        cache.put(key, response(250))
    assert cache.get(keys[0]) is not None
    cache.put(keys[4], response(250))
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True, True]
    cache.put(keys[0], response(100))
    cache.put(keys[1], response(150))
    assert len(cache) == 5
    cache.put(keys[0], response(251))
    assert cache.get(keys[0]) is None, "a response above a quarter of the budget removes the older one"


async def test_a_key_reveals_no_token_and_separates_its_parts() -> None:
    assert b"ghp_secret" not in Cache.key("ghp_secret", "a", "u")
    assert Cache.key("a", "b", "c") != Cache.key("a", "c", "b")
