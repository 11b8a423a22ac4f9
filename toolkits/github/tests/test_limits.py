"""Rate limits: both kinds become an error that says how long to wait."""

from __future__ import annotations

import pytest

from pegboard import ErrorKind, UpstreamError, UpstreamRateLimitError
from toolkit_github import problems
from toolkits.github.tests.support.hosting import Served
from toolkits.github.tests.support.server import GithubServer, Reply, error, limited
from toolkits.github.tests.support.world import REPO

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"
NOW = 1792567680
PRIMARY = (
    "API rate limit exceeded for user ID 1. If you reach out to GitHub Support for help, please include the ID 0D1E."
)
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@pytest.fixture
def offered() -> set[str]:
    return {"create_issue", "get_issue", "search_code"}


def primary(seconds: int, **more: str) -> dict[str, str]:
    return {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + seconds), "Date": DATE, **more}


@pytest.mark.parametrize(
    ("status", "message", "headers", "wait_ms"),
    [
        (403, PRIMARY, primary(90), 91_000),
        (429, PRIMARY, primary(90), 91_000),
        (403, PRIMARY, primary(-500), 1000),
        (403, PRIMARY, primary(10**9), 24 * 3600 * 1000),
        (429, PRIMARY, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, 60_000),
        (403, SECONDARY, {"Retry-After": "30"}, 30_000),
        (429, SECONDARY, {"Retry-After": "0"}, 1000),
        (403, SECONDARY, primary(900, **{"Retry-After": "30"}), 30_000),
        (403, SECONDARY, {"Retry-After": "Wed, 21 Oct 2026 07:28:45 GMT", "Date": DATE}, 45_000),
        (403, SECONDARY, {"Retry-After": "later"}, 60_000),
        (403, SECONDARY, {"Retry-After": "Thu, 99 Oct 9999 00:00:00 GMT"}, 60_000),
        (403, SECONDARY, {}, 60_000),
        (429, "Slow down", {}, 60_000),
    ],
)
async def test_a_limit_says_how_long_to_wait(
    status: int, message: str, headers: dict[str, str], wait_ms: int, tools: Served, github: GithubServer
) -> None:
    github.script("issues/get", limited(status, message, headers))
    error = await tools.fail("get_issue", repo=REPO, number=1347)
    assert isinstance(error, UpstreamRateLimitError)
    assert (error.kind, error.status_code) == (ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT, 429)
    assert (error.retry_after_ms, error.can_retry) == (wait_ms, True)
    assert len(github.seen) == 1  # asking again at once would make it worse


@pytest.mark.parametrize(
    ("seconds", "told"), [("1", "1 seconds"), ("119", "119 seconds"), ("120", "2 minutes"), ("3541", "60 minutes")]
)
async def test_the_message_tells_the_time_in_words(
    seconds: str, told: str, tools: Served, github: GithubServer
) -> None:
    github.script("search/code", limited(403, SECONDARY, {"Retry-After": seconds}))
    error = await tools.fail("search_code", query="x")
    assert error.message == f"GitHub's rate limit is reached. Try again in {told}, not before."


async def test_without_a_date_our_own_clock_counts(
    tools: Served, github: GithubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problems, "time", lambda: float(NOW))
    github.script("issues/get", limited(403, PRIMARY, {**primary(60), "Date": "nonsense"}))
    assert (await tools.fail("get_issue", repo=REPO, number=1347)).retry_after_ms == 61_000


@pytest.mark.parametrize(
    "reply",
    [
        error(403, "Resource not accessible by personal access token"),
        limited(403, "Must have admin rights to Repository.", {"X-RateLimit-Remaining": "12"}),
        error(404, "Not Found"),
        limited(404, "Not Found", {"Retry-After": "5"}),
    ],
)
async def test_other_refusals_are_no_limits(reply: Reply, tools: Served, github: GithubServer) -> None:
    github.script("issues/get", reply)
    error = await tools.fail("get_issue", repo=REPO, number=1347)
    assert isinstance(error, UpstreamError)
    assert not isinstance(error, UpstreamRateLimitError)
    assert error.retry_after_ms is None


async def test_a_limit_is_met_by_changes_too(tools: Served, github: GithubServer) -> None:
    github.script("issues/create", limited(403, SECONDARY, {"Retry-After": "30"}))
    assert (await tools.fail("create_issue", repo=REPO, title="x")).retry_after_ms == 30_000
