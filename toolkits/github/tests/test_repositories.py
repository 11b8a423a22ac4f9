"""Tools about repositories, branches, commits and the token's owner."""

from __future__ import annotations

import pytest

from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer, Reply
from toolkits.github.tests.support.world import OLD_SHA, REPO, SHA, World


@pytest.fixture
def offered() -> set[str]:
    return {
        "create_branch",
        "create_issue",
        "get_commit",
        "get_repository",
        "list_branches",
        "list_commits",
        "list_issues",
        "list_notifications",
        "list_repositories",
        "search_repositories",
        "whoami",
    }


async def test_whoami(tools: Served) -> None:
    assert await tools.call("whoami") == {
        "login": "octocat",
        "name": "monalisa octocat",
        "url": "https://github.com/octocat",
    }


async def test_a_notification_names_what_it_is_about(tools: Served, world: World, github: GithubServer) -> None:
    read = example("activity/list-notifications-for-authenticated-user")[0]
    read.update(id="2", unread=False)
    read["subject"].update(url="https://api.github.com/repos/octocat/Hello-World/releases/7", type="Release")
    world.notifications.append(read)
    shown = {
        "id": "1",
        "repo": "octocat/Hello-World",
        "title": "Greetings",
        "type": "Issue",
        "number": 123,
        "reason": "subscribed",
        "unread": True,
        "updated_at": "2014-11-07T22:01:45Z",
    }
    assert await tools.call("list_notifications") == {"items": [shown]}
    both = await tools.call("list_notifications", all=True, per_page=100)
    assert [item.get("number") for item in both["items"]] == [123, None]
    assert "unread" not in both["items"][1]
    assert github.seen[-1].query["per_page"] == 50  # GitHub gives no more


async def test_search_repositories(tools: Served, github: GithubServer) -> None:
    assert await tools.call("search_repositories", query="hello", sort="stars") == {
        "total": 1,
        "items": [
            {
                "repo": "octocat/Hello-World",
                "description": "This your first repo!",
                "archived": True,
                "language": "Assembly",
                "stars": 1,
                "pushed_at": "2012-01-01T00:37:02Z",
            }
        ],
    }
    assert github.seen[0].query == {"q": "hello", "sort": "stars", "per_page": 20, "page": 1}
    await tools.call("search_repositories", query="hello")
    assert "sort" not in github.seen[1].query


async def test_a_search_that_took_too_long_is_called_incomplete(tools: Served, github: GithubServer) -> None:
    github.script("search/repos", Reply(body={"total_count": 7, "incomplete_results": True, "items": []}))
    assert await tools.call("search_repositories", query="x") == {"items": [], "total": 7, "incomplete": True}


@pytest.mark.parametrize(
    ("owner", "operation"), [("", "repos/list-for-authenticated-user"), ("octocat", "repos/list-for-user")]
)
async def test_list_repositories(owner: str, operation: str, tools: Served, github: GithubServer) -> None:
    found = await tools.call("list_repositories", owner=owner)
    assert [item["repo"] for item in found["items"]] == [REPO]
    assert github.operations() == [operation]
    assert github.seen[0].query == {"sort": "pushed", "direction": "desc", "per_page": 30, "page": 1}
    assert "no_such_user" in (await tools.fail("list_repositories", owner="no_such_user")).message


async def test_get_repository(tools: Served) -> None:
    assert await tools.call("get_repository", repo=REPO) == {
        "repo": "octocat/Hello-World",
        "description": "This your first repo!",
        "stars": 80,
        "pushed_at": "2011-01-26T19:06:43Z",
        "url": "https://github.com/octocat/Hello-World",
        "default_branch": "master",
        "homepage": "https://github.com",
        "topics": ["octocat", "atom", "electron", "api"],
        "license": "MIT",
        "forks": 9,
        "open_issues": 0,
        "parent": "octocat/Hello-World",
        "permissions": ["pull"],
        "has_issues": True,
    }


async def test_a_renamed_repository_is_found_under_its_new_name(
    tools: Served, world: World, github: GithubServer
) -> None:
    world.moved["octocat/Old"] = REPO
    assert (await tools.call("get_repository", repo="octocat/Old"))["repo"] == REPO
    assert [request.path["repo"] for request in github.seen] == ["Old", "Hello-World"]
    assert (await tools.call("list_issues", repo="octocat/Old", state="all", per_page=5))["items"]
    assert github.seen[-1].query == github.seen[-2].query


async def test_a_change_follows_a_renamed_repository_with_its_body(
    tools: Served, world: World, github: GithubServer
) -> None:
    world.moved["octocat/Old"] = REPO
    made = await tools.call("create_issue", repo="octocat/Old", title="Found under its new name")
    assert world.issues[made["number"]]["title"] == "Found under its new name"
    assert github.operations() == ["issues/create", "issues/create"]


async def test_list_branches(tools: Served) -> None:
    assert await tools.call("list_branches", repo=REPO) == {
        "items": [{"name": "main", "sha": SHA, "protected": True}, {"name": "feature/x", "sha": OLD_SHA}]
    }
    assert [item["name"] for item in (await tools.call("list_branches", repo=REPO, protected=True))["items"]] == [
        "main"
    ]


async def test_list_commits(tools: Served, world: World, github: GithubServer) -> None:
    world.commits[1].update(author=None)
    world.commits[1]["commit"]["author"]["name"] = "Somebody Else"
    found = await tools.call("list_commits", repo=REPO)
    assert found == {
        "items": [
            {"sha": SHA, "title": "Fix all the bugs", "author": "octocat", "date": "2011-04-14T16:00:49Z"},
            {"sha": OLD_SHA, "title": "Begin", "author": "Somebody Else", "date": "2011-04-14T16:00:49Z"},
        ]
    }
    narrow = {"ref": "feature/x", "path": "file1.txt", "author": "octocat", "since": "2011-01-01T00:00:00Z"}
    found = await tools.call("list_commits", repo=REPO, **narrow)
    assert [item["sha"] for item in found["items"]] == [OLD_SHA]
    assert github.seen[-1].query["since"] == "2011-01-01T00:00:00Z"


async def test_get_commit(tools: Served, world: World) -> None:
    world.commits[0]["files"].append({**world.commits[0]["files"][0], "filename": "two.txt", "patch": "+" * 5000})
    found = await tools.call("get_commit", repo=REPO, commit="main", max_chars=100)
    files = found.pop("files")
    assert found == {
        "sha": SHA,
        "message": "Fix all the bugs\n\nEach of them.",
        "author": "octocat",
        "date": "2011-04-14T16:00:49Z",
        "url": "https://github.com/octocat/Hello-World/commit/6dcb09b5b57875f334f61aebed695e2e4193db5e",
        "parents": ["6dcb09b5b57875f334f61aebed695e2e4193db5e"],
        "additions": 104,
        "deletions": 4,
    }
    assert files[0] == {
        "path": "file1.txt",
        "status": "modified",
        "additions": 10,
        "deletions": 2,
        "patch": "@@ -29,7 +29,7 @@\n.....",
    }
    assert files[1]["patch"] == "+" * 100 + "\n[cut: 100 of 5000 characters]"
    page = await tools.call("get_commit", repo=REPO, commit=OLD_SHA, max_chars=0)
    assert "patch" not in page["files"][0]
    assert (await tools.call("get_commit", repo=REPO, commit="main", per_page=1))["next_page"] == 2


async def test_create_branch(tools: Served, world: World, github: GithubServer) -> None:
    assert await tools.call("create_branch", repo=REPO, name="fix/typo") == {"name": "fix/typo", "sha": SHA}
    assert world.branches["fix/typo"] == SHA
    assert github.seen[0].path["ref"] == "HEAD"
    await tools.call("create_branch", repo=REPO, name="older", source="feature/x")
    assert world.branches["older"] == OLD_SHA
    error = await tools.fail("create_branch", repo=REPO, name="main")
    assert (error.status_code, error.message) == (422, "GitHub refuses this: Reference already exists.")
    assert "nowhere" in (await tools.fail("create_branch", repo=REPO, name="y", source="nowhere")).message
