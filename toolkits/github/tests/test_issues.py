"""Tools about issues and comments."""

from __future__ import annotations

from typing import Any

import pytest

from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer
from toolkits.github.tests.support.world import REPO, World

LINE = {
    "number": 1347,
    "title": "Found a bug",
    "state": "open",
    "state_reason": "completed",
    "pull_request": True,
    "author": "octocat",
    "labels": ["bug"],
    "assignees": ["octocat"],
    "milestone": "v1.0",
    "comments": 0,
    "updated_at": "2011-04-22T13:33:48Z",
}


@pytest.fixture
def offered() -> set[str]:
    return {"add_comment", "create_issue", "get_issue", "list_comments", "list_issues", "search_issues", "update_issue"}


def plain(number: int, **changes: Any) -> dict[str, Any]:
    """An issue with nothing that can be missing."""
    issue: dict[str, Any] = example("issues/get")
    del issue["pull_request"]
    issue.update(number=number, labels=[], assignees=[], assignee=None, milestone=None, state_reason=None, **changes)
    return issue


async def test_list_issues(tools: Served, world: World, github: GithubServer) -> None:
    world.issues[5] = plain(5, user=None, state="closed")
    assert await tools.call("list_issues", repo=REPO) == {"items": [LINE]}
    found = await tools.call("list_issues", repo=REPO, state="closed")
    assert found["items"] == [
        {
            "number": 5,
            "title": "Found a bug",
            "state": "closed",
            "author": "ghost",
            "comments": 0,
            "updated_at": "2011-04-22T13:33:48Z",
        }
    ]
    narrow = {"labels": "bug", "assignee": "*", "author": "octocat", "since": "2011-01-01T00:00:00Z"}
    assert len((await tools.call("list_issues", repo=REPO, sort="updated", direction="asc", **narrow))["items"]) == 1
    assert github.seen[-1].query == {
        "state": "open",
        "labels": "bug",
        "assignee": "*",
        "creator": "octocat",
        "since": "2011-01-01T00:00:00Z",
        "sort": "updated",
        "direction": "asc",
        "per_page": 30,
        "page": 1,
    }


async def test_search_issues_names_the_repository_of_each(tools: Served, github: GithubServer) -> None:
    found = await tools.call("search_issues", query="bug is:issue repo:octocat/Hello-World", sort="updated")
    assert found["total"] == 1
    assert found["items"][0]["repo"] == REPO
    assert found["items"][0]["number"] == 1347
    assert github.seen[0].query["q"] == "bug is:issue repo:octocat/Hello-World"
    assert github.seen[0].query["sort"] == "updated"


async def test_get_issue(tools: Served, world: World) -> None:
    assert await tools.call("get_issue", repo=REPO, number=1347) == {
        **LINE,
        "body": "I'm having a problem with this.",
        "url": "https://github.com/octocat/Hello-World/issues/1347",
        "locked": True,
        "created_at": "2011-04-22T13:33:48Z",
        "closed_by": "octocat",
    }
    world.issues[6] = plain(6, body=None, closed_by=None)
    assert "body" not in await tools.call("get_issue", repo=REPO, number=6)


async def test_a_long_text_is_cut_and_says_so(tools: Served, world: World) -> None:
    world.issues[6] = plain(6, body="é" * 30_000)
    found = await tools.call("get_issue", repo=REPO, number=6)
    assert found["body"] == "é" * 20_000 + "\n[cut: 20000 of 30000 characters]"
    assert (await tools.call("get_issue", repo=REPO, number=6, max_chars=30_000))["body"] == "é" * 30_000
    assert "body" not in await tools.call("get_issue", repo=REPO, number=6, max_chars=0)


async def test_unicode_comes_through_both_ways(tools: Served, world: World, github: GithubServer) -> None:
    text = 'Grüße, 世界 \U0001f642\u202e \u2028 \x7f "quoted" \\ </script>'
    made = await tools.call("create_issue", repo=REPO, title=text, body=text)
    assert github.seen[0].body == {"title": text, "body": text}
    found = await tools.call("get_issue", repo=REPO, number=made["number"])
    assert (found["title"], found["body"]) == (text, text)
    await tools.call("search_issues", query="Grüße & 世界 is:issue")
    assert github.seen[-1].query["q"] == "Grüße & 世界 is:issue"


async def test_list_comments(tools: Served, world: World) -> None:
    late = example("issues/list-comments")[0]
    late.update(id=2, updated_at="2012-01-01T00:00:00Z", user=None, body="x" * 5000)
    world.comments[1347].append(late)
    found = await tools.call("list_comments", repo=REPO, number=1347, since="2011-01-01T00:00:00Z")
    assert found["items"] == [
        {"id": 1, "author": "octocat", "created_at": "2011-04-14T16:00:49Z", "body": "Me too"},
        {
            "id": 2,
            "author": "ghost",
            "created_at": "2011-04-14T16:00:49Z",
            "edited_at": "2012-01-01T00:00:00Z",
            "body": "x" * 4000 + "\n[cut: 4000 of 5000 characters]",
        },
    ]


async def test_create_issue(tools: Served, world: World, github: GithubServer) -> None:
    made = await tools.call(
        "create_issue", repo=REPO, title="It breaks", body="When?", labels=["bug", "ui"], assignees=["hubot"]
    )
    assert made == {"number": 1348, "state": "open", "url": "https://github.com/octocat/Hello-World/issues/1348"}
    assert github.seen[0].body == {
        "title": "It breaks",
        "body": "When?",
        "labels": ["bug", "ui"],
        "assignees": ["hubot"],
    }
    await tools.call("create_issue", repo=REPO, title="Short")
    assert github.seen[1].body == {"title": "Short"}


async def test_a_repository_without_issues_says_so(tools: Served, world: World) -> None:
    world.repositories[0]["has_issues"] = False
    error = await tools.fail("create_issue", repo=REPO, title="x")
    assert error.status_code == 410
    assert error.message == f"The repository '{REPO}' was deleted, or the feature is disabled for the repository."


async def test_update_issue_sends_what_changes_and_nothing_else(
    tools: Served, world: World, github: GithubServer
) -> None:
    done = await tools.call("update_issue", repo=REPO, number=1347, state="closed", state_reason="not_planned")
    assert (done["number"], done["state"]) == (1347, "closed")
    assert github.seen[0].body == {"state": "closed", "state_reason": "not_planned"}
    await tools.call("update_issue", repo=REPO, number=1347, title="New", body="", labels=[], assignees=["hubot"])
    assert github.seen[1].body == {"title": "New", "body": "", "labels": [], "assignees": ["hubot"]}
    assert (world.issues[1347]["title"], world.issues[1347]["labels"]) == ("New", [])


async def test_update_issue_with_nothing_to_change_asks_what(tools: Served, github: GithubServer) -> None:
    error = await tools.fail("update_issue", repo=REPO, number=1347)
    assert (error.can_retry, github.seen) == (True, [])
    assert "title, body, state, labels or assignees" in error.message


async def test_add_comment(tools: Served, world: World) -> None:
    made = await tools.call("add_comment", repo=REPO, number=1347, body="**Seen** it too")
    assert made == {
        "id": 2,
        "author": "octocat",
        "created_at": "2011-04-14T16:00:49Z",
        "url": "https://github.com/octocat/Hello-World/issues/1347#issuecomment-1",
    }
    assert world.comments[1347][-1]["body"] == "**Seen** it too"
    assert "body" in (await tools.fail("add_comment", repo=REPO, number=1347, body="")).message
