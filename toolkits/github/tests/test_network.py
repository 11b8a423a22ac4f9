"""No answer, or not all of it."""

from __future__ import annotations

import asyncio

import pytest

from pegboard import ErrorKind, NetworkTransportError
from toolkits.github.tests.support.hosting import Serve, Served
from toolkits.github.tests.support.server import GithubServer, Rogue, Silence
from toolkits.github.tests.support.world import REPO

DONE_PERHAPS = " GitHub may have made the change: check before you try again."


@pytest.fixture
def offered() -> set[str]:
    return {"create_issue", "get_issue", "update_issue", "whoami"}


async def test_nobody_listens(serve: Serve, unused_port: int) -> None:
    served = await serve(base_url=f"http://127.0.0.1:{unused_port}", write=True)
    for tool, arguments in (("whoami", {}), ("create_issue", {"repo": REPO, "title": "x"})):
        error = await served.fail(tool, **arguments)
        assert isinstance(error, NetworkTransportError)
        assert (error.kind, error.can_retry) == (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True)
        assert error.message == "GitHub cannot be reached."


@pytest.mark.parametrize(("tool", "changes"), [("get_issue", False), ("update_issue", True)])
async def test_no_answer_in_time(tool: str, changes: bool, serve: Serve, github: GithubServer) -> None:
    served = await serve(timeout_seconds=0.5, write=True)
    github.script("issues/update" if changes else "issues/get", Silence())
    error = await served.fail(tool, repo=REPO, number=1347, **({"title": "x"} if changes else {}))
    assert (error.kind, error.can_retry) == (ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT, not changes)
    assert error.message == "GitHub did not respond in time." + (DONE_PERHAPS if changes else "")


@pytest.mark.parametrize(("tool", "changes"), [("get_issue", False), ("update_issue", True)])
async def test_an_answer_that_breaks_off(tool: str, changes: bool, tools: Served, github: GithubServer) -> None:
    github.script("issues/update" if changes else "issues/get", Rogue(b'{"number": 1347', broken=True))
    error = await tools.fail(tool, repo=REPO, number=1347, **({"title": "x"} if changes else {}))
    assert isinstance(error, NetworkTransportError)
    assert (error.kind, error.can_retry) == (ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED, not changes)
    assert error.message == "The connection to GitHub was lost." + (DONE_PERHAPS if changes else "")


async def test_what_is_there_is_no_http(serve: Serve) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    served = await serve(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    error = await served.fail("whoami")
    assert error.kind == ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
    server.close()
    await server.wait_closed()


async def test_after_a_failure_the_next_call_succeeds(tools: Served, github: GithubServer) -> None:
    github.script("issues/get", Rogue(b"{", broken=True))
    await tools.fail("get_issue", repo=REPO, number=1347)
    assert (await tools.call("get_issue", repo=REPO, number=1347))["number"] == 1347
