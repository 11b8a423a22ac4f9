"""The token never appears in outcomes, logs, representations, or requests to other hosts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from toolkits.github.tests.conftest import Serve, Served
from toolkits.github.tests.support.examples import example
from toolkits.github.tests.support.server import REPO, TOKEN, GithubServer, Reply, Rogue, Silence, Storage, error

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = f"Bearer {TOKEN} at http://127.0.0.1/repos?access_token={TOKEN}"
ISSUE = {"repo": REPO, "number": 1347}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """All log lines of all levels, with stack traces."""
    records: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(self.format(record))

    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "pegboard")
    handler = Keep()
    logging.getLogger().addHandler(handler)
    yield records
    logging.getLogger().removeHandler(handler)


def everything(served: Served, outcome: Any, lines: list[str]) -> str:
    error = outcome.error if hasattr(outcome, "error") else None
    shown = [repr(outcome), str(outcome), *lines, repr(served.host.assembly.tools["github_whoami"].owner.state)]
    if error is not None:
        shown += [str(error.to_payload()), repr(error.__cause__), repr(error.args)]
    return "\n".join(shown)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        error(401, ECHO),
        error(404, ECHO),
        error(429, ECHO, {"Retry-After": "5"}),
        error(500, ECHO),
        Rogue(ECHO.encode()),
        Rogue(b"{", broken=True),
        Rogue(b"", 301, {"Location": f"https://evil.example/?token={TOKEN}"}),
        Rogue(b"", 404, {"X-GitHub-Request-Id": ECHO, "X-Accepted-GitHub-Permissions": ECHO}),
        Rogue(b"", 403, {"X-GitHub-Request-Id": TOKEN, "X-GitHub-SSO": ECHO}),
        Silence(),
    ],
)
async def test_no_response_reveals_the_token(
    reply: Reply | Rogue | Silence | None, serve: Serve, github: GithubServer, lines: list[str]
) -> None:
    served = await serve(timeout_seconds=0.3 if isinstance(reply, Silence) else 30)
    if reply is not None:
        github.script("issues/get", reply)
    outcome = await served.outcome("get_issue", **ISSUE)
    assert TOKEN not in everything(served, outcome, lines)


@pytest.mark.parametrize("status", [400, 409, 422])
async def test_no_rejected_change_reveals_the_token(
    status: int, tools: Served, github: GithubServer, lines: list[str]
) -> None:
    body = {"message": ECHO, "errors": [{"code": "custom", "field": TOKEN, "message": ECHO}]}
    github.script("pulls/merge", Rogue(json.dumps(body).encode(), status))
    outcome: Any = await tools.outcome("merge_pull_request", repo=REPO, number=12)
    assert TOKEN not in everything(tools, outcome, lines)
    assert "://" not in outcome.error.message


async def test_no_network_error_reveals_the_token(serve: Serve, unused_port: int, lines: list[str]) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{TOKEN} {ECHO}\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    for port in (unused_port, server.sockets[0].getsockname()[1]):
        served = await serve(base_url=f"http://127.0.0.1:{port}")
        assert TOKEN not in everything(served, await served.outcome("whoami"), lines)
    server.close()
    await server.wait_closed()
    assert any("ClientConnectorError" in line for line in lines)
    assert any("(token)" in line for line in lines)


async def test_messages_contain_no_url_and_no_query(tools: Served, github: GithubServer) -> None:
    for reply in (error(404, "x"), error(500, "x"), Rogue(b"<"), Rogue(b"{", broken=True)):
        github.script("search/code", reply)
        message = (await tools.fail("search_code", query="needle-in-the-query")).message
        assert not any(text in message for text in ("needle", "://", "127.0.0.1"))


@pytest.mark.parametrize("token", ["ghp_ä", "ghp a", "ghp\x7f", "ghp\r\nX-Evil: 1"])
async def test_an_invalid_token_is_neither_sent_nor_shown(
    token: str, serve: Serve, github: GithubServer, lines: list[str]
) -> None:
    served = await serve(token=token)
    outcome = await served.outcome("whoami")
    assert "The GitHub token is invalid" in everything(served, outcome, [])
    assert token not in everything(served, outcome, lines)
    assert github.seen == []


async def test_the_token_does_not_follow_a_redirect_to_another_host(
    tools: Served, github: GithubServer, storage: Storage
) -> None:
    for status, operation, tool, arguments in (
        (301, "issues/get", "get_issue", {}),
        (307, "issues/get", "get_issue", {}),
        (307, "issues/update", "update_issue", {"title": "x"}),
    ):
        github.script(operation, error(status, "Moved", {"Location": storage.url + "/repos/a/b/issues/1"}))
        assert (await tools.fail(tool, **ISSUE, **arguments)).status_code == status
    assert storage.headers == []


async def test_redirects_of_changes_and_in_a_circle_are_not_followed(tools: Served, github: GithubServer) -> None:
    moved = error(301, "Moved", {"Location": f"{github.url}/repos/octocat/Hello-World/issues/1347"})
    github.script("issues/update", moved)
    assert (await tools.fail("update_issue", **ISSUE, title="x")).status_code == 301
    assert len(github.seen) == 1
    github.script("issues/get", *[moved] * 10)
    assert (await tools.fail("get_issue", **ISSUE)).status_code == 301
    assert len(github.seen) == 5


async def test_an_enterprise_server_is_requested_below_its_path(serve: Serve) -> None:
    async with GithubServer("/api/v3") as enterprise, Storage() as storage:
        served = await serve(base_url=enterprise.url + "/")
        enterprise.log, storage.content = storage.url, b"done"
        enterprise.script("repos/get", error(301, "Moved", {"Location": f"{enterprise.url}/repos/{REPO}"}))
        assert (await served.call("get_repository", repo="octocat/Old"))["repo"] == REPO
        assert (await served.call("get_job_log", repo=REPO, job_id=399444496))["text"] == "done"
        assert enterprise.faults == []
        assert len(enterprise.seen) == 3


async def test_cookies_are_not_stored(serve: Serve, github: GithubServer) -> None:
    """Cookies of an IP address would not be stored anyway. The server reports a `Cookie` header as a fault."""
    served = await serve(base_url=github.url.replace("127.0.0.1", "localhost"))
    operation = "users/get-authenticated"
    github.script(operation, Reply(200, example(operation), {"Set-Cookie": "a=b"}))
    for _ in range(2):
        await served.call("whoami")
    assert len(github.seen) == 2


async def test_the_log_has_the_request_id_of_a_failure(tools: Served, github: GithubServer, lines: list[str]) -> None:
    github.script("issues/get", error(500, "Server Error"))
    await tools.fail("get_issue", **ISSUE)
    assert any("-> 500, request id 0D1E:2F3A:4B5C6D:7E8F90:66AABBCC" in line for line in lines)
