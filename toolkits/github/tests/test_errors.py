"""GitHub's refusals become errors that a model can act on, without what it must not see."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from pegboard import ErrorKind, UpstreamError
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer, Reply, Rogue, error
from toolkits.github.tests.support.world import REPO, invalid

ISSUE = f"Issue 1347 of '{REPO}'"
WRONG = "GitHub rejected the token: it is invalid or expired. Renew it, or the secret GITHUB_TOKEN of the operator."
FORBIDDEN = "GitHub forbids this: the token lacks a permission, or the repository does not allow it."


@pytest.fixture
def offered() -> set[str]:
    return {"create_issue", "get_issue", "list_issues", "search_issues", "update_issue", "whoami"}


@pytest.mark.parametrize(
    ("reply", "status", "kind", "retry", "message"),
    [
        (
            error(401, "Bad credentials"),
            401,
            ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
            False,
            WRONG,
        ),
        (error(403, "Forbidden"), 403, ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR, False, FORBIDDEN),
        (
            error(403, "No")._replace(headers={"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}),
            403,
            ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
            False,
            FORBIDDEN + " Required: issues=write; pull_requests=write.",
        ),
        (
            error(403, "No")._replace(headers={"X-Accepted-GitHub-Permissions": "<script>; a=write"}),
            403,
            ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
            False,
            FORBIDDEN,
        ),
        (
            error(403, "SSO")._replace(headers={"X-GitHub-SSO": "required; url=https://github.com/orgs/o/sso?token=A"}),
            403,
            ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR,
            False,
            "The organization requires single sign-on: authorize the token for it.",
        ),
        (
            error(404, "Not Found"),
            404,
            ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND,
            False,
            f"{ISSUE} was not found: it does not exist, or the token cannot see it. Check the names.",
        ),
        (
            error(410, "This issue was deleted"),
            410,
            ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST,
            False,
            f"{ISSUE} was deleted, or the feature is disabled for the repository.",
        ),
        (
            error(451, "Repository access blocked"),
            451,
            ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST,
            False,
            f"{ISSUE} is unavailable for legal reasons.",
        ),
        (
            error(500, "Server Error"),
            500,
            ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR,
            True,
            "GitHub failed (status 500). Try again later.",
        ),
        (
            Reply(502, {"message": "Server Error"}),
            502,
            ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR,
            True,
            "GitHub failed (status 502). Try again later.",
        ),
        (
            error(301, "Moved Permanently")._replace(headers={"Location": "https://elsewhere.example/repos/a/b"}),
            301,
            ErrorKind.UPSTREAM_RUNTIME_UNMAPPED,
            False,
            f"{ISSUE} may have moved: GitHub sent a redirect (status 301) that the tools do not follow.",
        ),
    ],
)
async def test_a_refusal(
    reply: Reply, status: int, kind: ErrorKind, retry: bool, message: str, tools: Served, github: GithubServer
) -> None:
    github.script("issues/get", reply)
    error = await tools.fail("get_issue", repo=REPO, number=1347)
    assert isinstance(error, UpstreamError)
    assert (error.status_code, error.kind, error.can_retry) == (status, kind, retry)
    assert error.message == message


async def test_a_wrong_token(serve: Serve) -> None:
    served = await serve(token="ghp_wrong")
    assert (await served.fail("whoami")).status_code == 401


async def test_a_repository_that_is_not_there(tools: Served) -> None:
    error = await tools.fail("list_issues", repo="octocat/nothing")
    assert error.message == (
        "The repository 'octocat/nothing' was not found: it does not exist, or the token cannot see it. "
        "Check the names."
    )


def field(name: str, code: str, **more: Any) -> dict[str, Any]:
    return {"resource": "Issue", "field": name, "code": code, **more}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (invalid("Validation Failed", field("title", "missing_field")), "Validation Failed; title: missing_field."),
        (
            invalid("Validation Failed", field("base", "invalid", message="base is unknown.", value="x")),
            "Validation Failed; base: base is unknown.",
        ),
        (invalid("Validation Failed", {"code": "custom", "message": "No commits."}), "Validation Failed; No commits."),
        (
            invalid("m", *[field(f"f{number}", "invalid") for number in range(9)]),
            "m; f0: invalid; f1: invalid; f2: invalid; f3: invalid; f4: invalid.",
        ),
        (invalid("x" * 5000), "x" * 200 + "."),
        (
            invalid("Validation Failed", field("title", "custom", message="y" * 5000)),
            "Validation Failed; title: " + "y" * 120 + ".",
        ),
        (invalid("See https://docs.github.com/rest?a=b for more\n\x00\x1b[31m now"), "See (URL) for more [31m now."),
        (invalid(f"The token {TOKEN} may not"), "The token (token) may not."),
    ],
)
async def test_what_github_says_of_a_wrong_request_is_told_short_and_clean(
    reply: Reply, told: str, tools: Served, github: GithubServer
) -> None:
    github.script("issues/update", reply)
    error = await tools.fail("update_issue", repo=REPO, number=1347, title="x")
    assert error.status_code == 422
    assert error.message.replace("....", ".") == f"GitHub refuses this: {told}"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"message": 5, "errors": "x"}', b'{"errors": [null, [], 7]}']
)
async def test_a_refusal_of_another_form_is_told_by_its_status(
    body: bytes, tools: Served, github: GithubServer
) -> None:
    github.script("issues/update", Rogue(body, 422))
    error = await tools.fail("update_issue", repo=REPO, number=1347, title="x")
    assert error.message == "GitHub refuses this (status 422)."
    github.script("issues/get", Rogue(body, 418))
    assert (await tools.fail("get_issue", repo=REPO, number=1347)).message == "GitHub refuses the request (status 418)."


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Log in to the proxy</html>",
        b'{"number": 1347',
        b"\xff\xfe",
        b"NaN",
        b"null",
        b"[]",
        b"{}",
        b"",
        b'{"number": 1347, "user": 7}',
        b"[" * 100_000,
    ],
)
async def test_an_answer_that_is_not_githubs_is_an_error_and_half_a_result_never(
    body: bytes, tools: Served, github: GithubServer
) -> None:
    github.script("issues/get", Rogue(body))
    error = await tools.fail("get_issue", repo=REPO, number=1347)
    assert (error.status_code, error.can_retry) == (502, True)
    assert "The response does not come from GitHub's API" in error.message
    github.script("issues/list-for-repo", Rogue(body.replace(b"[]", b"[7]")))
    assert (await tools.fail("list_issues", repo=REPO)).status_code == 502
    github.script("search/issues-and-pull-requests", Rogue(body))
    assert (await tools.fail("search_issues", query="is:issue")).status_code == 502


@pytest.mark.parametrize("wrong", [{"user": 7}, {"labels": 7}, {"labels": [7]}, {"milestone": "v1"}])
async def test_a_member_of_another_form_is_an_error(wrong: dict[str, Any], tools: Served, github: GithubServer) -> None:
    issue = {**example("issues/get"), **wrong}
    github.script("issues/get", Rogue(json.dumps(issue).encode()))
    assert (await tools.fail("get_issue", repo=REPO, number=1347)).status_code == 502
    github.script("issues/list-for-repo", Rogue(json.dumps([issue]).encode()))
    assert (await tools.fail("list_issues", repo=REPO)).status_code == 502


async def test_after_a_change_an_answer_that_is_not_githubs_warns_of_repeating(
    tools: Served, github: GithubServer
) -> None:
    for body in (b"{", b"{}"):
        github.script("issues/create", Rogue(body, 201))
        error = await tools.fail("create_issue", repo=REPO, title="x")
        assert error.can_retry is False
        assert "check before you try again" in error.message


async def test_an_answer_that_is_too_large_is_given_up(serve: Serve, github: GithubServer) -> None:
    served = await serve(max_answer_bytes=65_536)
    github.script("issues/get", Rogue(b" " * 65_537))
    error = await served.fail("get_issue", repo=REPO, number=1347)
    assert error.message == "GitHub's response is larger than 65536 bytes. Request less, such as fewer items per page."
    assert error.can_retry is True


async def test_a_small_answer_that_unpacks_to_a_large_one_is_given_up(serve: Serve, github: GithubServer) -> None:
    served = await serve(max_answer_bytes=65_536)
    bomb = gzip.compress(json.dumps({"x": "y" * 50_000_000}).encode())
    github.script("issues/get", Rogue(bomb, headers={"Content-Encoding": "gzip"}))
    assert "larger than 65536 bytes" in (await served.fail("get_issue", repo=REPO, number=1347)).message


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_after_a_change_a_problem_of_githubs_warns_of_repeating(
    status: int, tools: Served, github: GithubServer
) -> None:
    github.script("issues/create", Rogue(b"", status))
    error = await tools.fail("create_issue", repo=REPO, title="x")
    assert (error.status_code, error.can_retry) == (status, False)
    assert "Try again later" not in error.message
    assert "check before you try again" in error.message


async def test_after_a_change_an_answer_that_is_too_large_warns_of_repeating(
    serve: Serve, github: GithubServer
) -> None:
    served = await serve(max_answer_bytes=65_536, write=True)
    github.script("issues/create", Rogue(b" " * 65_537, 201))
    error = await served.fail("create_issue", repo=REPO, title="x")
    assert error.can_retry is False
    assert "check before you try again" in error.message
