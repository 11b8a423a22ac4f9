"""Going from page to page."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit_github.pages import next_page
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer
from toolkits.github.tests.support.world import REPO, World


@pytest.fixture
def offered() -> set[str]:
    return {"list_issues", "search_issues", "search_repositories"}


async def test_next_page_leads_through_a_list_to_its_end(tools: Served, world: World, github: GithubServer) -> None:
    issue = example("issues/get")
    world.issues = {number: {**issue, "number": number} for number in range(1, 8)}
    seen: list[int] = []
    arguments: dict[str, Any] = {}
    while True:
        page = await tools.call("list_issues", repo=REPO, per_page=3, **arguments)
        seen += [item["number"] for item in page["items"]]
        if "next_page" not in page:
            break
        arguments = {"page": page["next_page"]}
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    assert [request.query["page"] for request in github.seen] == [1, 2, 3]


async def test_a_search_tells_how_many_there_are(tools: Served, world: World) -> None:
    world.issues = {number: {**world.issues[1347], "number": number} for number in range(1, 8)}
    page = await tools.call("search_issues", query="bug is:issue", per_page=5)
    assert (page["total"], page["next_page"], len(page["items"])) == (7, 2, 5)


@pytest.mark.parametrize("arguments", [{"per_page": 0}, {"per_page": 101}, {"page": 0}, {"page": 10_001}])
async def test_pages_are_bounded(arguments: dict[str, int], tools: Served, github: GithubServer) -> None:
    assert next(iter(arguments)) in (await tools.fail("list_issues", repo=REPO, **arguments)).message
    assert github.seen == []


async def test_beyond_the_first_thousand_a_search_says_so(tools: Served) -> None:
    error = await tools.fail("search_repositories", query="hello", per_page=100, page=11)
    assert error.message == "GitHub refuses this: Only the first 1000 search results are available."


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("", None),
        ('<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=5>; rel="last"', 2),
        ('<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?per_page=3&page=3>; rel="next"', 3),
        ('<https://api.github.com/x?after=Y3Vyc29y&page=4>; rel="next"', 4),
        ('<https://api.github.com/x?page=5>; rel="last"', None),
        ('<https://api.github.com/x?after=abc>; rel="next"', None),
        ('<https://api.github.com/x?page=two>; rel="next"', None),
        ('<https://api.github.com/x?page=-3>; rel="next"', None),
        ('<https://api.github.com/x?page=99999999999999999999>; rel="next"', None),
        ('<https://api.github.com/x?page=2&page=3>; rel="next"', None),
        ('<http://[broken?page=2>; rel="next"', None),
        ("<<<>>>; rel=next" * 1000, None),
    ],
)
def test_the_next_page_by_the_link_header(link: str, page: int | None) -> None:
    assert next_page(link) == page
