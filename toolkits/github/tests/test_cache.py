"""Conditional requests: what GitHub calls unchanged is taken from what was kept, by token, within a budget."""

from __future__ import annotations

import pytest

from toolkit_github.cache import Cache, Kept
from toolkit_github.client import Ask, Client
from toolkit_github.config import GithubConfig
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import GithubServer, Rogue
from toolkits.github.tests.support.world import REPO, World


@pytest.fixture
def offered() -> set[str]:
    return {"add_comment", "get_file", "get_issue", "list_issues", "whoami", "update_issue"}


async def test_an_unchanged_answer_is_not_sent_again(tools: Served, github: GithubServer) -> None:
    first = await tools.call("get_issue", repo=REPO, number=1347)
    assert "If-None-Match" not in github.seen[0].headers
    assert await tools.call("get_issue", repo=REPO, number=1347) == first
    assert github.seen[1].headers["If-None-Match"].startswith('W/"')
    assert github.statuses == [200, 304]


async def test_a_changed_answer_takes_the_place_of_the_old_one(
    tools: Served, world: World, github: GithubServer
) -> None:
    await tools.call("get_issue", repo=REPO, number=1347)
    world.issues[1347]["title"] = "Found two bugs"
    assert (await tools.call("get_issue", repo=REPO, number=1347))["title"] == "Found two bugs"
    assert (await tools.call("get_issue", repo=REPO, number=1347))["title"] == "Found two bugs"
    assert github.statuses == [200, 200, 304]


async def test_what_comes_from_the_cache_leads_to_the_next_page_too(tools: Served, world: World) -> None:
    world.issues = {number: {**world.issues[1347], "number": number} for number in (1, 2, 3)}
    pages = [await tools.call("list_issues", repo=REPO, per_page=2) for _ in range(2)]
    assert pages[0] == pages[1]
    assert pages[0]["next_page"] == 2


async def test_other_pages_refs_and_media_types_are_other_answers(tools: Served, github: GithubServer) -> None:
    for page in (1, 2):
        await tools.call("list_issues", repo=REPO, page=page)
    for ref in ("main", "feature/x"):
        await tools.call("get_file", repo=REPO, path="README.md", ref=ref)
    assert github.statuses == [200] * 4


async def test_a_change_is_sent_and_never_kept(tools: Served, github: GithubServer) -> None:
    for _ in range(2):
        await tools.call("add_comment", repo=REPO, number=1347, body="again")
    await tools.call("update_issue", repo=REPO, number=1347, title="Other")
    assert (await tools.call("get_issue", repo=REPO, number=1347))["title"] == "Other"
    assert github.statuses == [201, 201, 200, 200]
    assert all("If-None-Match" not in request.headers for request in github.seen)


async def test_nothing_is_kept_when_the_settings_say_so(serve: Serve, github: GithubServer) -> None:
    served = await serve(cache_bytes=0)
    for _ in range(2):
        await served.call("get_issue", repo=REPO, number=1347)
    assert github.statuses == [200, 200]


async def test_an_unchanged_answer_that_nobody_asked_about_is_an_error(tools: Served, github: GithubServer) -> None:
    github.script("issues/get", Rogue(status=304))
    assert (await tools.fail("get_issue", repo=REPO, number=1347)).status_code == 304


async def test_two_tokens_share_nothing_even_in_one_client(github: GithubServer) -> None:
    github.allow("ghp_other")
    client = Client(GithubConfig(base_url=github.url))
    ask = Ask("The user", "/user")
    for token in ("ghp_other", "ghp_canary0123456789", "ghp_other"):
        assert (await client.ask(ask, token)).data["login"] == "octocat"
    await client.close()
    assert github.statuses == [200, 200, 304]


async def test_two_hosts_with_two_tokens_share_nothing(serve: Serve, github: GithubServer, world: World) -> None:
    github.allow("ghp_other")
    mine, other = await serve(), await serve(token="ghp_other")
    for served in (mine, other):
        await served.call("whoami")
    assert github.statuses == [200, 200]
    assert len({request.headers["Authorization"] for request in github.seen}) == 2


def kept(size: int) -> Kept:
    return Kept("e", "", b"x" * (size - 33))


def test_the_budget_holds_and_what_was_used_last_stays() -> None:
    cache = Cache(1000)
    keys = [Cache.key("t", "a", str(number)) for number in range(5)]
    for key in keys[:4]:
        cache.put(key, kept(250))
    assert cache.get(keys[0]) is not None
    cache.put(keys[4], kept(250))
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True, True]
    cache.put(keys[0], kept(100))
    cache.put(keys[1], kept(150))
    assert len(cache) == 5


def test_an_answer_too_large_for_the_budget_is_not_kept_and_ends_the_old_one() -> None:
    cache = Cache(1000)
    key = Cache.key("t", "a", "u")
    cache.put(key, kept(250))
    cache.put(key, kept(251))
    assert (cache.get(key), len(cache)) == (None, 0)
    assert Cache(0).get(key) is None


def test_a_key_tells_nothing_of_the_token() -> None:
    assert b"ghp_secret" not in Cache.key("ghp_secret", "a", "u")
    assert Cache.key("a", "b", "c") != Cache.key("a", "c", "b")
    assert len({Cache.key("t", "a", "u"), Cache.key("t2", "a", "u"), Cache.key("t", "a", "u2")}) == 3
