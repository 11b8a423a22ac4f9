"""Tools about pull requests, their reviews and checks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer, Rogue
from toolkits.github.tests.support.world import REPO, SHA, World

LINE = {
    "number": 12,
    "title": "Amazing new feature",
    "state": "open",
    "author": "octocat",
    "head": "new-topic",
    "base": "master",
    "labels": ["bug"],
    "reviewers": ["other_user", "justice-league"],
    "updated_at": "2011-01-26T19:01:12Z",
}


@pytest.fixture
def offered() -> set[str]:
    return {
        "create_pull_request",
        "get_pull_request",
        "list_checks",
        "list_pull_request_files",
        "list_pull_requests",
        "list_review_comments",
        "list_reviews",
        "merge_pull_request",
        "request_reviewers",
        "review_pull_request",
    }


async def test_list_pull_requests(tools: Served, github: GithubServer) -> None:
    assert await tools.call("list_pull_requests", repo=REPO) == {"items": [LINE]}
    await tools.call("list_pull_requests", repo=REPO, state="all", head="octocat:x", base="main", sort="long-running")
    assert github.seen[1].query == {
        "state": "all",
        "head": "octocat:x",
        "base": "main",
        "sort": "long-running",
        "direction": "desc",
        "per_page": 30,
        "page": 1,
    }


async def test_a_head_of_another_repository_names_its_owner(tools: Served, world: World) -> None:
    world.pulls[12]["head"]["label"] = "mona:new-topic"
    world.pulls[12]["head"]["repo"]["full_name"] = "mona/Hello-World"
    assert (await tools.call("get_pull_request", repo=REPO, number=12))["head"] == "mona:new-topic"
    assert (await tools.call("list_pull_requests", repo=REPO))["items"][0]["head"] == "mona:new-topic"


async def test_a_head_whose_repository_is_deleted_is_shown_all_the_same(tools: Served, github: GithubServer) -> None:
    """GitHub then gives null, which its description does not allow: so nobody checks this one answer."""
    pull = example("pulls/list")[0]
    pull["head"].update(repo=None, label="mona:new-topic")
    github.script("pulls/list", Rogue(json.dumps([pull]).encode(), headers={"Content-Type": "application/json"}))
    assert (await tools.call("list_pull_requests", repo=REPO))["items"][0]["head"] == "mona:new-topic"


async def test_get_pull_request(tools: Served) -> None:
    assert await tools.call("get_pull_request", repo=REPO, number=12) == {
        **LINE,
        "body": "Please pull these awesome changes in!",
        "url": "https://github.com/octocat/Hello-World/pull/1347",
        "head_sha": SHA,
        "mergeable": "yes",
        "mergeable_state": "clean",
        "commits": 3,
        "changed_files": 5,
        "additions": 100,
        "deletions": 3,
        "comments": 10,
        "review_comments": 0,
        "created_at": "2011-01-26T19:01:12Z",
    }


@pytest.mark.parametrize(("mergeable", "shown"), [(True, "yes"), (False, "no"), (None, None)])
async def test_mergeable_is_missing_until_github_knows(
    mergeable: bool | None, shown: str | None, tools: Served, world: World
) -> None:
    world.pulls[12]["mergeable"] = mergeable
    assert (await tools.call("get_pull_request", repo=REPO, number=12)).get("mergeable") == shown


async def test_list_pull_request_files(tools: Served, world: World) -> None:
    binary = {**world.pull_files[0], "filename": "new.png", "previous_filename": "old.png", "status": "renamed"}
    del binary["patch"]
    world.pull_files.append(binary)
    found = await tools.call("list_pull_request_files", repo=REPO, number=12)
    assert found["items"] == [
        {
            "path": "file1.txt",
            "status": "added",
            "additions": 103,
            "deletions": 21,
            "patch": "@@ -132,7 +132,7 @@ module Test @@ -1000,7 +1000,7 @@ module Test",
        },
        {"path": "new.png", "previous_path": "old.png", "status": "renamed", "additions": 103, "deletions": 21},
    ]
    short = await tools.call("list_pull_request_files", repo=REPO, number=12, max_chars=10)
    assert short["items"][0]["patch"] == "@@ -132,7 \n[cut: 10 of 65 characters]"


async def test_list_reviews(tools: Served, world: World) -> None:
    pending = {**world.reviews[0], "id": 81, "state": "PENDING", "body": "", "commit_id": None}
    del pending["submitted_at"]
    world.reviews.append(pending)
    found = await tools.call("list_reviews", repo=REPO, number=12)
    assert found["items"] == [
        {
            "id": 80,
            "author": "octocat",
            "state": "APPROVED",
            "body": "Here is the body for the review.",
            "commit": "ecdd80bb57125d7ba9641ffaa4d7d2c19d3f3091",
            "submitted_at": "2019-11-17T17:43:43Z",
        },
        {"id": 81, "author": "octocat", "state": "PENDING"},
    ]


async def test_list_review_comments(tools: Served, world: World) -> None:
    shown = {
        "id": 10,
        "author": "octocat",
        "path": "file1.txt",
        "line": 2,
        "start_line": 1,
        "side": "RIGHT",
        "reply_to": 8,
        "created_at": "2011-04-14T16:00:49Z",
        "body": "Great stuff!",
    }
    assert await tools.call("list_review_comments", repo=REPO, number=12) == {"items": [shown]}
    for name in ("line", "start_line", "in_reply_to_id"):
        del world.review_comments[0][name]
    found = await tools.call("list_review_comments", repo=REPO, number=12)
    assert found["items"][0].keys() == shown.keys() - {"line", "start_line", "reply_to"}


async def test_list_checks(tools: Served, world: World, github: GithubServer) -> None:
    running = {**world.checks[0], "name": "tests", "status": "in_progress", "conclusion": None, "completed_at": None}
    world.checks.append(running)
    found = await tools.call("list_checks", repo=REPO, ref="feature/x")
    assert found["total"] == 2
    assert found["items"][0] == {
        "name": "mighty_readme",
        "status": "completed",
        "conclusion": "neutral",
        "title": "Mighty Readme report",
        "app": "octoapp",
        "url": "https://github.com/github/hello-world/runs/4",
    }
    assert "conclusion" not in found["items"][1]
    assert github.seen[0].path["ref"] == "feature/x"
    found = await tools.call("list_checks", repo=REPO, ref=SHA, status="in_progress")
    assert [item["name"] for item in found["items"]] == ["tests"]


async def test_create_pull_request(tools: Served, world: World, github: GithubServer) -> None:
    made = await tools.call(
        "create_pull_request", repo=REPO, title="Better", head="feature/x", base="main", body="Why", draft=True
    )
    assert made == {"number": 13, "state": "open", "url": "https://github.com/octocat/Hello-World/pull/13"}
    assert github.seen[0].body == {
        "title": "Better",
        "head": "feature/x",
        "base": "main",
        "body": "Why",
        "draft": True,
        "maintainer_can_modify": True,
    }


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("nowhere", "GitHub refuses this: Validation Failed; head: invalid."),
        ("main", "GitHub refuses this: Validation Failed; No commits between main and main."),
    ],
)
async def test_a_pull_request_that_cannot_be_made_says_why(head: str, told: str, tools: Served) -> None:
    error = await tools.fail("create_pull_request", repo=REPO, title="x", head=head, base="main")
    assert (error.status_code, error.message, error.can_retry) == (422, told, False)


async def test_review_pull_request(tools: Served, world: World, github: GithubServer) -> None:
    comments: list[dict[str, Any]] = [
        {"path": "a.py", "line": 3, "body": "Why?"},
        {"path": "a.py", "start_line": 5, "line": 8, "side": "LEFT", "body": "Do keep it."},
        {"path": "a.py", "start_line": 1, "line": 2, "body": "Both."},
    ]
    made = await tools.call(
        "review_pull_request",
        repo=REPO,
        number=12,
        event="REQUEST_CHANGES",
        body="Not yet",
        comments=comments,
        commit=SHA,
    )
    assert (made["id"], made["state"]) == (81, "CHANGES_REQUESTED")
    assert github.seen[0].body == {
        "event": "REQUEST_CHANGES",
        "body": "Not yet",
        "commit_id": SHA,
        "comments": [
            comments[0],
            {**comments[1], "start_side": "LEFT"},
            {**comments[2], "start_side": "RIGHT"},
        ],
    }
    world.login = "hubot"
    await tools.call("review_pull_request", repo=REPO, number=12, event="APPROVE")
    assert github.seen[1].body == {"event": "APPROVE"}


async def test_a_review_that_cannot_be_is_refused_before_it_is_sent(tools: Served, github: GithubServer) -> None:
    assert "requires a body" in (await tools.fail("review_pull_request", repo=REPO, number=12, event="COMMENT")).message
    upward = [{"path": "a", "start_line": 4, "line": 4, "body": "x"}]
    error = await tools.fail("review_pull_request", repo=REPO, number=12, event="APPROVE", comments=upward)
    assert "start_line" in error.message
    assert github.seen == []


async def test_ones_own_pull_request_cannot_be_approved(tools: Served) -> None:
    error = await tools.fail("review_pull_request", repo=REPO, number=12, event="APPROVE")
    assert error.message == "GitHub refuses this: Unprocessable Entity; Can not approve your own pull request."


async def test_request_reviewers(tools: Served, world: World, github: GithubServer) -> None:
    assert (await tools.call("request_reviewers", repo=REPO, number=12, reviewers=["mona"]))["number"] == 12
    assert [user["login"] for user in world.pulls[12]["requested_reviewers"]] == ["mona"]
    await tools.call("request_reviewers", repo=REPO, number=12, teams=["core"])
    assert [request.body for request in github.seen] == [{"reviewers": ["mona"]}, {"team_reviewers": ["core"]}]
    assert "at least one" in (await tools.fail("request_reviewers", repo=REPO, number=12)).message


async def test_merge_pull_request(tools: Served, world: World, github: GithubServer) -> None:
    done = await tools.call(
        "merge_pull_request", repo=REPO, number=12, method="squash", head_sha=SHA, commit_title="T", commit_message="M"
    )
    assert done == {"merged": True, "sha": SHA}
    assert world.pulls[12]["merged"] is True
    assert github.seen[0].body == {"merge_method": "squash", "sha": SHA, "commit_title": "T", "commit_message": "M"}


async def test_a_merge_that_cannot_be_says_why(tools: Served, world: World) -> None:
    error = await tools.fail("merge_pull_request", repo=REPO, number=12, head_sha="0" * 40)
    assert (error.status_code, error.message) == (
        409,
        "The change conflicts with the current state: Head branch was modified. Review and try the merge again.",
    )
    world.pulls[12]["mergeable"] = False
    error = await tools.fail("merge_pull_request", repo=REPO, number=12)
    assert (error.status_code, error.message) == (405, "GitHub refuses this: Pull Request is not mergeable.")
    assert world.pulls[12]["merged"] is False
