"""Results of unusual responses, pages of lists, and arguments that are rejected before a request is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolkit_github.pages import next_page
from toolkits.github.tests.conftest import Served
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import REPO, GithubServer, Reply, Rogue, error

pytestmark = pytest.mark.asyncio(loop_scope="module")

ISSUE = {"repo": REPO, "number": 1347}
MISSING = object()
NULLS: dict[str, Any] = {"user": None, "milestone": None, "labels": [], "state_reason": None, "body": None}


@pytest.mark.parametrize(
    ("operation", "change", "tool", "expected"),
    [
        ("issues/get", NULLS, "get_issue", {"author": "ghost", "body": MISSING, "milestone": MISSING}),
        (
            "issues/get",
            {"body": "é" * 30_000},
            "get_issue",
            {"body": "é" * 20_000 + "\n[cut: 20000 of 30000 characters]"},
        ),
        ("pulls/get", {"mergeable": False}, "get_pull_request", {"mergeable": "no"}),
        ("pulls/get", {"mergeable": None}, "get_pull_request", {"mergeable": MISSING}),
    ],
)
async def test_a_result_omits_missing_values_and_cuts_long_texts(
    operation: str, change: dict[str, Any], tool: str, expected: dict[str, Any], tools: Served, github: GithubServer
) -> None:
    github.script(operation, Reply(body={**example(operation), **change}))
    result = await tools.call(tool, **ISSUE)
    assert {key: result.get(key, MISSING) for key in expected} == expected


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def changed(item: dict[str, Any], place: str, change: dict[str, Any]) -> dict[str, Any]:
    return {**item, place: {**item[place], **change}}


@pytest.mark.parametrize(
    ("operation", "change", "tool", "arguments", "expected"),
    [
        (
            "issues/list-comments",
            lambda item: {**item, "updated_at": "2012-01-01T00:00:00Z", "user": None, "body": "x" * 5000},
            "list_comments",
            {"number": 1},
            {
                "author": "ghost",
                "edited_at": "2012-01-01T00:00:00Z",
                "body": "x" * 4000 + "\n[cut: 4000 of 5000 characters]",
            },
        ),
        (
            "pulls/list-files",
            lambda item: {**without(item, "patch"), "previous_filename": "old.png", "status": "renamed"},
            "list_pull_request_files",
            {"number": 1},
            {"previous_path": "old.png", "status": "renamed", "patch": MISSING},
        ),
        (
            "pulls/list-files",
            lambda item: item,
            "list_pull_request_files",
            {"number": 1, "max_chars": 10},
            {"patch": "@@ -132,7 \n[cut: 10 of 65 characters]"},
        ),
        (
            "pulls/list-reviews",
            lambda item: {**without(item, "submitted_at"), "state": "PENDING", "body": "", "commit_id": None},
            "list_reviews",
            {"number": 1},
            {"state": "PENDING", "body": MISSING, "commit": MISSING, "submitted_at": MISSING},
        ),
        (
            "pulls/list-review-comments",
            lambda item: without(item, "line", "start_line", "in_reply_to_id"),
            "list_review_comments",
            {"number": 1},
            {"line": MISSING, "start_line": MISSING, "reply_to": MISSING},
        ),
        (
            "repos/list-releases",
            lambda item: {**item, "name": None, "draft": True, "published_at": None},
            "list_releases",
            {},
            {"draft": True, "name": MISSING, "published_at": MISSING},
        ),
        (
            "repos/list-commits",
            lambda item: {
                **changed(item, "commit", {"author": {**item["commit"]["author"], "name": "Mona"}}),
                "author": None,
            },
            "list_commits",
            {},
            {"author": "Mona"},
        ),
    ],
)
async def test_an_item_of_a_list_omits_missing_values(
    operation: str,
    change: Callable[[Any], Any],
    tool: str,
    arguments: dict[str, Any],
    expected: dict[str, Any],
    tools: Served,
    github: GithubServer,
) -> None:
    github.script(operation, Reply(body=[change(example(operation)[0])]))
    (item,) = (await tools.call(tool, repo=REPO, **arguments))["items"]
    assert {key: item.get(key, MISSING) for key in expected} == expected


async def test_a_head_in_another_or_a_deleted_repository_names_its_owner(tools: Served, github: GithubServer) -> None:
    """The description does not allow null for the repository, but GitHub sends it."""
    pull = example("pulls/list")[0]
    for repository in ({**pull["head"]["repo"], "full_name": "mona/Hello-World"}, None):
        other = changed(pull, "head", {"repo": repository, "label": "mona:new-topic"})
        github.script("pulls/list", Rogue(json.dumps([other]).encode()))
        assert (await tools.call("list_pull_requests", repo=REPO))["items"][0]["head"] == "mona:new-topic"


async def test_a_notification_about_a_release_has_no_number(tools: Served, github: GithubServer) -> None:
    operation = "activity/list-notifications-for-authenticated-user"
    subject = {"url": "https://api.github.com/repos/octocat/Hello-World/releases/7", "type": "Release"}
    github.script(operation, Reply(body=[{**changed(example(operation)[0], "subject", subject), "unread": False}]))
    (item,) = (await tools.call("list_notifications"))["items"]
    assert not {"number", "unread"} & item.keys()


async def test_a_job_names_its_failed_steps(tools: Served, github: GithubServer) -> None:
    operation = "actions/list-jobs-for-workflow-run"
    body = example(operation)
    body["jobs"][0]["steps"][6]["conclusion"] = "failure"
    github.script(operation, Reply(body=body))
    assert (await tools.call("list_workflow_jobs", repo=REPO, run_id=1))["items"][0]["failed_steps"] == ["Run Tests"]


async def test_code_matches_are_cut(tools: Served, github: GithubServer) -> None:
    body = example("search/code")
    match = {"property": "content", "fragment": "hello" + "." * 1000, "object_url": "https://x.example", "matches": []}
    body["items"][0]["text_matches"] = [match]
    github.script("search/code", *[Reply(body=body)] * 2)
    cut = await tools.call("search_code", query="hello", max_chars=20)
    assert cut["items"][0]["matches"] == ["hello" + "." * 15 + "\n[cut: 20 of 1005 characters]"]
    assert "matches" not in (await tools.call("search_code", query="hello", max_chars=0))["items"][0]
    assert github.seen[0].headers["Accept"] == "application/vnd.github.text-match+json"


async def test_an_incomplete_search_is_marked(tools: Served, github: GithubServer) -> None:
    github.script("search/repos", Reply(body={"total_count": 7, "incomplete_results": True, "items": []}))
    assert await tools.call("search_repositories", query="x") == {"items": [], "total": 7, "incomplete": True}


async def test_unicode_is_unchanged_in_both_directions(tools: Served, github: GithubServer) -> None:
    text = 'Grüße, 世界 \U0001f642\u202e \u2028 \x7f "quoted" \\ </script>'
    github.script("issues/get", Reply(body={**example("issues/get"), "title": text, "body": text}))
    await tools.call("create_issue", repo=REPO, title=text, body=text)
    assert github.seen[0].body == {"title": text, "body": text}
    issue = await tools.call("get_issue", **ISSUE)
    assert (issue["title"], issue["body"]) == (text, text)


async def test_a_change_and_a_read_follow_a_renamed_repository(tools: Served, github: GithubServer) -> None:
    place = f"{github.url}/repos/{REPO}/issues"
    github.script("issues/create", error(307, "Moved", {"Location": place}))
    github.script("issues/list-for-repo", error(301, "Moved", {"Location": place + "?per_page=5"}))
    await tools.call("create_issue", repo="octocat/Old", title="x")
    await tools.call("list_issues", repo="octocat/Old", per_page=5)
    assert [request.path["repo"] for request in github.seen] == ["Old", "Hello-World"] * 2
    assert github.seen[0].body == github.seen[1].body == {"title": "x"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("review_pull_request", {"number": 12, "event": "COMMENT"}, "requires a body"),
        (
            "review_pull_request",
            {"number": 12, "event": "APPROVE", "comments": [{"path": "a", "start_line": 4, "line": 4, "body": "x"}]},
            "start_line",
        ),
        ("update_issue", {"number": 1}, "title, body, state, labels or assignees"),
        ("request_reviewers", {"number": 12}, "at least one"),
        ("add_comment", {"number": 1, "body": ""}, "body"),
        ("list_issues", {"per_page": 101}, "per_page"),
        ("list_issues", {"page": 10_001}, "page"),
        ("delete_file", {"path": "/", "sha": "x", "message": "m"}, "path is empty"),
        ("write_file", {"path": "x", "content": "\ud800", "message": "m"}, "content"),
    ],
)
async def test_invalid_arguments_are_rejected_before_a_request(
    tool: str, arguments: dict[str, Any], message: str, tools: Served, github: GithubServer
) -> None:
    assert message in (await tools.fail(tool, repo=REPO, **arguments)).message
    assert github.seen == []


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("", None),
        ('<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=5>; rel="last"', 2),
        ('<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?per_page=3&page=3>; rel="next"', 3),
        ('<https://api.github.com/x?page=5>; rel="last"', None),
        ('<https://api.github.com/x?page=two>; rel="next"', None),
        ('<https://api.github.com/x?page=99999999999999999999>; rel="next"', None),
        ('<https://api.github.com/x?page=2&page=3>; rel="next"', None),
        ('<http://[broken?page=2>; rel="next"', None),
        ("<<<>>>; rel=next" * 1000, None),
    ],
)
async def test_the_next_page_is_read_from_the_link_header(link: str, page: int | None) -> None:
    assert next_page(link) == page
