"""Errors of GitHub, rate limits and network failures as errors that a model can act on."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest

from pegboard import ErrorKind, NetworkTransportError, UpstreamError, UpstreamRateLimitError
from toolkit_github import problems
from toolkits.github.tests.conftest import Serve, Served
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import REPO, TOKEN, GithubServer, Reply, Rogue, Silence, error

pytestmark = pytest.mark.asyncio(loop_scope="module")

ISSUE = {"repo": REPO, "number": 1347}
ITS_NAME = f"Issue 1347 of '{REPO}'"
WRONG = "GitHub rejected the token: it is invalid or expired."
FORBIDDEN = "GitHub forbids this: the token lacks a permission, or the repository does not allow it."
PERHAPS = " GitHub may have made the change: check before you try again."
AUTH, SERVER = ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR, ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR
BAD_REQUEST = ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (error(401, "Bad credentials"), AUTH, WRONG),
        (
            error(403, "No", {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}),
            AUTH,
            FORBIDDEN + " Required: issues=write; pull_requests=write.",
        ),
        (error(403, "No", {"X-Accepted-GitHub-Permissions": "<script>; a=write"}), AUTH, FORBIDDEN),
        (
            error(403, "SSO", {"X-GitHub-SSO": "required; url=https://github.com/orgs/o/sso?token=A"}),
            AUTH,
            "The organization requires single sign-on: authorize the token for it.",
        ),
        (
            error(404, "Not Found"),
            ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND,
            f"{ITS_NAME} was not found: it does not exist, or the token cannot see it. Check the names.",
        ),
        (
            error(410, "This issue was deleted"),
            BAD_REQUEST,
            f"{ITS_NAME} was deleted, or the feature is disabled for the repository.",
        ),
        (error(451, "Blocked"), BAD_REQUEST, f"{ITS_NAME} is unavailable for legal reasons."),
        (error(500, "Server Error"), SERVER, "GitHub failed (status 500). Try again later."),
        (
            error(301, "Moved Permanently", {"Location": "https://elsewhere.example/repos/a/b"}),
            ErrorKind.UPSTREAM_RUNTIME_UNMAPPED,
            f"{ITS_NAME} may have moved: GitHub sent a redirect (status 301) that the tools do not follow.",
        ),
    ],
)
async def test_an_error_status(
    reply: Reply, kind: ErrorKind, message: str, tools: Served, github: GithubServer
) -> None:
    github.script("issues/get", reply)
    failed = await tools.fail("get_issue", **ISSUE)
    assert isinstance(failed, UpstreamError)
    assert (failed.status_code, failed.kind, failed.can_retry) == (reply.status, kind, reply.status == 500)
    assert failed.message == message


def invalid(message: str, *errors: dict[str, Any]) -> bytes:
    return json.dumps(error(422, message, errors=list(errors)).body).encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            invalid("Validation Failed", {"field": "title", "code": "missing_field"}),
            "Validation Failed; title: missing_field.",
        ),
        (
            invalid(
                "Validation Failed", {"field": "base", "code": "invalid", "message": "base is unknown.", "value": "x"}
            ),
            "Validation Failed; base: base is unknown.",
        ),
        (
            invalid("m", *[{"field": f"f{n}", "code": "bad"} for n in range(9)]),
            "m; f0: bad; f1: bad; f2: bad; f3: bad; f4: bad.",
        ),
        (invalid("x" * 5000), "x" * 200 + "."),
        (invalid("m", {"field": "f", "code": "custom", "message": "y" * 5000}), "m; f: " + "y" * 120 + "."),
        (invalid("See https://docs.github.com/rest?a=b for more\n\x00\x1b[31m now"), "See (URL) for more [31m now."),
        (invalid(f"The token {TOKEN} may not"), "The token (token) may not."),
    ],
)
async def test_the_message_of_a_rejected_request_is_short_and_clean(
    body: bytes, message: str, tools: Served, github: GithubServer
) -> None:
    github.script("issues/update", Rogue(body, 422))
    failed = await tools.fail("update_issue", **ISSUE, title="x")
    assert failed.status_code == 422
    assert failed.message.replace("....", ".") == f"GitHub refuses this: {message}"


async def test_a_conflict_is_named(tools: Served, github: GithubServer) -> None:
    github.script("pulls/merge", error(409, "Head branch was modified."))
    failed = await tools.fail("merge_pull_request", repo=REPO, number=12)
    assert failed.message == "The change conflicts with the current state: Head branch was modified."


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"message": 5, "errors": "x"}', b'{"errors": [null, [], 7]}']
)
async def test_an_error_with_an_unexpected_body_shows_the_status(
    body: bytes, tools: Served, github: GithubServer
) -> None:
    github.script("issues/update", Rogue(body, 422))
    assert (await tools.fail("update_issue", **ISSUE, title="x")).message == "GitHub refuses this (status 422)."
    github.script("issues/get", Rogue(body, 418))
    assert (await tools.fail("get_issue", **ISSUE)).message == "GitHub refuses the request (status 418)."


def issue(**change: Any) -> bytes:
    return json.dumps({**example("issues/get"), **change}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Log in to the proxy</html>", b'{"number": 1347', b"\xff\xfe", b"NaN", b"null", b"[]", b"{}", b"",
        b"[" * 100_000, issue(user=7), issue(labels=[7]), issue(milestone="v1"),
    ],
)  # fmt: skip
async def test_a_response_of_another_form_is_an_error_without_a_result(
    body: bytes, tools: Served, github: GithubServer
) -> None:
    github.script("issues/get", Rogue(body))
    failed = await tools.fail("get_issue", **ISSUE)
    assert (failed.status_code, failed.can_retry) == (502, True)
    assert "The response does not come from GitHub's API" in failed.message
    github.script("issues/list-for-repo", Rogue(b"[7]" if body == b"[]" else body))
    assert (await tools.fail("list_issues", repo=REPO)).status_code == 502
    github.script("search/issues-and-pull-requests", Rogue(body))
    assert (await tools.fail("search_issues", query="is:issue")).status_code == 502


async def test_a_large_or_compressed_response_is_read_up_to_the_limit(serve: Serve, github: GithubServer) -> None:
    served = await serve(max_answer_bytes=65_536)
    bomb = gzip.compress(json.dumps({"x": "y" * 50_000_000}).encode())
    github.script("issues/get", Rogue(b" " * 65_537), Rogue(bomb, headers={"Content-Encoding": "gzip"}))
    for _ in range(2):
        failed = await served.fail("get_issue", **ISSUE)
        assert failed.message == (
            "GitHub's response is larger than 65536 bytes. Request less, such as fewer items per page."
        )
        assert failed.can_retry


@pytest.mark.parametrize(
    "reply",
    [
        Rogue(b"{", 201),
        Rogue(b"{}", 201),
        Rogue(b"", 502),
        Rogue(b" " * 65_537, 201),
        Rogue(b"{", broken=True),
        Silence(),
    ],
)
async def test_an_uncertain_change_warns_against_a_blind_retry(
    reply: Rogue | Silence, serve: Serve, github: GithubServer
) -> None:
    timeout = 0.5 if isinstance(reply, Silence) else 30
    served = await serve(max_answer_bytes=65_536, timeout_seconds=timeout, write=True)
    github.script("issues/create", reply)
    failed = await served.fail("create_issue", repo=REPO, title="x")
    assert failed.message.endswith(PERHAPS)
    assert failed.can_retry is False


async def test_an_unreachable_server_is_a_network_error(serve: Serve, unused_port: int) -> None:
    served = await serve(base_url=f"http://127.0.0.1:{unused_port}", write=True)
    for tool, arguments in (("whoami", {}), ("create_issue", {"repo": REPO, "title": "x"})):
        failed = await served.fail(tool, **arguments)
        assert (failed.kind, failed.can_retry) == (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True)
        assert failed.message == "GitHub cannot be reached."


async def test_a_time_out_and_a_lost_connection_may_be_retried_for_reads(serve: Serve, github: GithubServer) -> None:
    impatient, patient = await serve(timeout_seconds=0.5), await serve()
    github.script("issues/get", Silence(), Rogue(b'{"number": 1347', broken=True))
    late = await impatient.fail("get_issue", **ISSUE)
    lost = await patient.fail("get_issue", **ISSUE)
    assert isinstance(late, NetworkTransportError)
    assert late.kind == ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
    assert (late.message, lost.message) == ("GitHub did not respond in time.", "The connection to GitHub was lost.")
    assert late.can_retry
    assert lost.can_retry
    assert (await patient.call("get_issue", **ISSUE))["number"] == 1347


async def test_a_cancelled_call_closes_its_connection(tools: Served, github: GithubServer) -> None:
    github.script("issues/get", Silence())
    call = asyncio.create_task(tools.outcome("get_issue", **ISSUE))
    async with asyncio.timeout(5):
        await github.waiting.wait()
        call.cancel()
        await asyncio.wait([call])
        await github.abandoned.wait()
    assert call.cancelled()
    assert (await tools.call("get_issue", **ISSUE))["number"] == 1347


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
NOW = 1792567680
PRIMARY = "API rate limit exceeded for user ID 1."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


def primary(seconds: int, **more: str) -> dict[str, str]:
    return {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + seconds), "Date": DATE, **more}


@pytest.mark.parametrize(
    ("status", "message", "headers", "wait_ms"),
    [
        (403, PRIMARY, primary(90), 91_000),
        (429, PRIMARY, primary(-500), 1000),
        (403, PRIMARY, primary(10**9), 24 * 3600 * 1000),
        (403, PRIMARY, primary(60, Date="nonsense"), 61_000),
        (429, PRIMARY, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, 60_000),
        (403, SECONDARY, primary(900, **{"Retry-After": "30"}), 30_000),
        (429, SECONDARY, {"Retry-After": "0"}, 1000),
        (403, SECONDARY, {"Retry-After": "Wed, 21 Oct 2026 07:28:45 GMT", "Date": DATE}, 45_000),
        (403, SECONDARY, {"Retry-After": "Thu, 99 Oct 9999 00:00:00 GMT"}, 60_000),
        (403, SECONDARY, {}, 60_000),
        (429, "Slow down", {}, 60_000),
    ],
)
async def test_a_rate_limit_states_the_delay(
    status: int,
    message: str,
    headers: dict[str, str],
    wait_ms: int,
    tools: Served,
    github: GithubServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problems, "time", lambda: float(NOW))
    github.script("issues/get", error(status, message, headers))
    failed = await tools.fail("get_issue", **ISSUE)
    assert isinstance(failed, UpstreamRateLimitError)
    assert (failed.kind, failed.status_code) == (ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, 429)
    assert (failed.retry_after_ms, failed.can_retry) == (wait_ms, True)
    assert len(github.seen) == 1, "the tool must not retry at once"


@pytest.mark.parametrize(("seconds", "delay"), [("119", "119 seconds"), ("3541", "60 minutes")])
async def test_the_delay_is_stated_in_words(seconds: str, delay: str, tools: Served, github: GithubServer) -> None:
    github.script("search/code", error(403, SECONDARY, {"Retry-After": seconds}))
    failed = await tools.fail("search_code", query="x")
    assert failed.message == f"GitHub's rate limit is reached. Try again in {delay}, not before."


@pytest.mark.parametrize(
    "reply",
    [
        error(403, "Must have admin rights to Repository.", {"X-RateLimit-Remaining": "12"}),
        error(404, "Not Found", {"Retry-After": "5"}),
    ],
)
async def test_other_errors_are_not_rate_limits(reply: Reply, tools: Served, github: GithubServer) -> None:
    github.script("issues/get", reply)
    assert not isinstance(await tools.fail("get_issue", **ISSUE), UpstreamRateLimitError)
