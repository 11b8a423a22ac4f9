"""The token appears nowhere: in no outcome, no log line, no request to another host, no representation."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import TOKEN, GithubServer, Reply, Rogue, Silence, error, limited
from toolkits.github.tests.support.world import REPO, invalid

ECHO = f"Bearer {TOKEN} at http://127.0.0.1/repos?access_token={TOKEN}"


@pytest.fixture
def offered() -> set[str]:
    return {"get_issue", "merge_pull_request", "search_code", "whoami"}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Every line that anything logs, at every level, with its stack trace."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    root = logging.getLogger()
    handler = Keep()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    pegboard = logging.getLogger("pegboard")
    pegboard_before = pegboard.level
    pegboard.setLevel(logging.DEBUG)
    yield found
    root.removeHandler(handler)
    root.setLevel(before)
    pegboard.setLevel(pegboard_before)


def everything(served: Served, outcome: Any, lines: list[str]) -> str:
    error = outcome.error if hasattr(outcome, "error") else None
    shown = [repr(outcome), str(outcome), *lines, repr(served.host.assembly.tools["github_whoami"].owner.state)]
    if error is not None:
        shown += [str(error.to_payload()), repr(error.__cause__), repr(error.args)]
    return "\n".join(shown)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        error(401, ECHO),
        error(403, ECHO),
        error(404, ECHO),
        limited(429, ECHO, {"Retry-After": "5"}),
        error(500, ECHO),
        Rogue(ECHO.encode()),
        Rogue(ECHO.encode(), 502),
        Rogue(b"{", broken=True),
        Rogue(b"", 301, {"Location": f"https://evil.example/?token={TOKEN}"}),
        Rogue(b"", 404, {"X-GitHub-Request-Id": ECHO, "X-Accepted-GitHub-Permissions": ECHO}),
        Rogue(b"", 403, {"X-GitHub-Request-Id": TOKEN, "X-GitHub-SSO": ECHO}),
        Silence(),
    ],
)
async def test_reading(
    answer: Reply | Rogue | Silence | None, serve: Serve, github: GithubServer, lines: list[str]
) -> None:
    served = await serve(timeout_seconds=0.3 if isinstance(answer, Silence) else 30)
    if answer is not None:
        github.script("issues/get", answer)
    outcome = await served.outcome("get_issue", repo=REPO, number=1347)
    assert TOKEN not in everything(served, outcome, lines)


@pytest.mark.parametrize("status", [400, 405, 409, 422])
async def test_changing(status: int, tools: Served, github: GithubServer, lines: list[str]) -> None:
    body = invalid(ECHO, {"code": "custom", "field": TOKEN, "message": ECHO}).body
    github.script("pulls/merge", Rogue(json.dumps(body).encode(), status))
    outcome = await tools.outcome("merge_pull_request", repo=REPO, number=12)
    assert TOKEN not in everything(tools, outcome, lines)
    assert "://" not in outcome.error.message  # type: ignore[union-attr]


async def test_nobody_listens(serve: Serve, unused_port: int, lines: list[str]) -> None:
    served = await serve(base_url=f"http://127.0.0.1:{unused_port}")
    assert TOKEN not in everything(served, await served.outcome("whoami"), lines)
    assert any("ClientConnectorError" in line for line in lines)  # the operator can see why


async def test_what_is_there_is_no_http(serve: Serve, lines: list[str]) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{TOKEN} {ECHO}\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    served = await serve(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert TOKEN not in everything(served, await served.outcome("whoami"), lines)
    assert any("(token)" in line for line in lines)
    server.close()
    await server.wait_closed()


async def test_the_message_holds_no_url_and_no_query(tools: Served, github: GithubServer) -> None:
    for answer in (error(404, "x"), error(500, "x"), Rogue(b"<"), Rogue(b"{", broken=True)):
        github.script("search/code", answer)
        message = (await tools.fail("search_code", query="needle-in-the-query")).message
        assert "needle" not in message
        assert "://" not in message
        assert "127.0.0.1" not in message


@pytest.mark.parametrize("token", ["ghp_ä", "ghp a", "ghp\tb", "ghp\x7f", "ghp\r\nX-Evil: 1"])
async def test_what_cannot_be_a_token_is_not_sent_and_not_shown(
    token: str, serve: Serve, github: GithubServer, lines: list[str]
) -> None:
    served = await serve(token=token)
    outcome = await served.outcome("whoami")
    assert "The GitHub token is invalid" in everything(served, outcome, [])
    assert token not in everything(served, outcome, lines)
    assert github.seen == []


async def test_a_problem_with_github_tells_the_log_the_id_of_the_request(
    tools: Served, github: GithubServer, lines: list[str]
) -> None:
    github.script("issues/get", error(500, "Server Error"))
    await tools.fail("get_issue", repo=REPO, number=1347)
    assert any("-> 500, request id 0D1E:2F3A:4B5C6D:7E8F90:66AABBCC" in line for line in lines)
