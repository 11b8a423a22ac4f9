"""An extension that a third-party plugin contributes: the sample `acme_jobs`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.jobs import ADDED, CONFIG, DECLARED, JOBS, make_jobs_site
from tests.support.mcp_client import NEWEST, HttpClient, McpClient, McpServer, until
from tests.support.peer import META, Message
from tests.support.schemas import MODERN

CALL: dict[str, Any] = {"name": "mill_grind", "arguments": {"corn": "rye"}}
FLOUR = [{"type": "text", "text": "flour of rye"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_jobs_site(tmp_path_factory.mktemp("jobs"))


@pytest_asyncio.fixture(loop_scope="session")
async def jobs(site: Path) -> AsyncIterator[McpServer]:
    async with McpServer("http", site, more=CONFIG, added=ADDED) as server:
        yield server


async def requested(client: McpClient, method: str, **params: Any) -> Any:
    """Send a request of the extension, over HTTP with the header field that it requires. Return the reply."""
    if isinstance(client, HttpClient):
        client.fields = [("Mcp-Name", params["jobId"])] if client.modern and "jobId" in params else []
    reply = await client.request(method, params)
    if isinstance(client, HttpClient):
        client.fields = []
    return reply


async def begun(client: McpClient, tool: str = "mill_grind", **arguments: Any) -> str:
    """Call a tool that becomes a job, and return the job's id."""
    job: str = (await client.call(tool, **arguments))["jobId"]
    return job


async def found(client: McpClient, job: str) -> Message:
    """Return a job."""
    return (await requested(client, "jobs/get", jobId=job)).result  # type: ignore[no-any-return]


async def ended(client: McpClient, job: str) -> Message:
    """Wait until a job has ended, and return it."""
    while (detail := await found(client, job))["status"] == "working":
        pass
    return detail


@pytest_asyncio.fixture(loop_scope="session", params=[("stdio", NEWEST[0]), ("http", NEWEST[1])], ids=str)
async def client(site: Path, request: pytest.FixtureRequest) -> AsyncIterator[McpClient]:
    """A client that declares the extension."""
    transport, revision = request.param
    async with McpServer(transport, site, more=CONFIG, added=ADDED) as server:
        yield await server.client(revision, DECLARED)


@pytest.mark.requirement("EXT-04")
async def test_the_extension_is_advertised_and_there_in_the_revisions_that_it_exists_in(jobs: McpServer) -> None:
    for revision in ("2025-03-26", "2025-06-18", MODERN[-1]):
        client = await jobs.client(revision, DECLARED)
        exists = revision >= "2025-06-18"
        extensions = (await client.server())["capabilities"].get("extensions")
        assert extensions == ({JOBS: {"cancel": True}} if exists else None)
        reply = await requested(client, "jobs/get", jobId="x")
        assert (reply.error["code"], reply.status) in ((-32602 if exists else -32601, limit) for limit in (None, 200))
        if exists:
            assert (await client.error("jobs/list", {"jobId": "x"}))["code"] == -32601


@pytest.mark.requirement("EXT-09", "MSG-13")
async def test_a_call_becomes_a_job_that_goes_on_after_its_connection(client: McpClient) -> None:
    created = await client.result("tools/call", CALL)
    assert (created["resultType"], created["status"]) == ("job", "working")
    job = created["jobId"]
    working = await found(client, job)
    assert (working["jobId"], working["status"]) == (job, "working")
    await client.notify("notifications/jobs/seen", client.params({"jobId": job}, client.modern))

    async def seen() -> bool:
        return bool((await found(client, job))["seen"])

    await until(seen)  # a notification reaches the plugin
    await client.call("mill_open_sluice")
    done = await ended(client, job)
    assert (done["status"], done["result"]["content"]) == ("completed", FLOUR)
    assert done.get("resultType") == ("complete" if client.modern else None)
    failed = await ended(client, await begun(client, "mill_collapse"))
    assert (failed["status"], failed["error"]["code"]) == ("failed", -32603)
    assert await client.text("mill_bake", corn="rye") == "bread of flour of rye"  # inside another tool


@pytest.mark.requirement("ERA-20", "EXT-02", "EXT-03", "MSG-14")
async def test_a_client_that_does_not_declare_it_waits_for_calls_and_cannot_use_it(jobs: McpServer, site: Path) -> None:
    async with McpServer("http", site) as without:  # the extension does not run there
        client = await without.client(MODERN[-1], DECLARED)
        assert "extensions" not in (await client.server())["capabilities"]
        assert (await client.error("jobs/get", {"jobId": "x"}))["code"] == -32601
    for revision in NEWEST:
        stranger = await jobs.client(revision, {"extensions": {"com.acme/other": {}}})
        await stranger.call("mill_open_sluice")
        assert (await stranger.result("tools/call", CALL))["content"] == FLOUR
        for method in ("jobs/get", "jobs/cancel"):
            reply = await requested(stranger, method, jobId="x")
            assert (reply.error["code"], reply.error["data"]) == (-32021, {"requiredCapabilities": DECLARED})
            assert reply.status == (400 if stranger.modern else 200)


@pytest.mark.requirement("ERA-20")
async def test_a_subscription_hears_of_the_extension(jobs: McpServer) -> None:
    client = await jobs.client(MODERN[-1], DECLARED)
    job = await begun(client, corn="rye")
    unknown = await client.begin("subscriptions/listen", {"notifications": {"jobIds": ["nobody's"]}})
    assert (await unknown.next())["params"]["notifications"] == {}
    wanted = {"jobIds": [job, "nobody's"], "toolsListChanged": True}
    subscription = await client.begin("subscriptions/listen", {"notifications": wanted})
    assert (await subscription.next())["params"]["notifications"] == {**wanted, "jobIds": [job]}
    await client.call("mill_open_sluice")
    notice = await subscription.next()
    assert (notice["method"], notice["params"]["jobId"]) == ("notifications/jobs", job)
    assert (notice["params"]["status"], notice["params"]["result"]["content"]) == ("completed", FLOUR)
    assert notice["params"]["_meta"] == {f"{META}subscriptionId": subscription.id}
    refused = await client.error("subscriptions/listen", {"notifications": {"jobIds": "x"}})
    assert refused == {"code": -32602, "message": "jobIds must be a list"}
    client.capabilities = {}
    undeclared = await client.request("subscriptions/listen", {"notifications": {"jobIds": []}})
    assert (undeclared.error["code"], undeclared.error["data"]) == (-32021, {"requiredCapabilities": DECLARED})


@pytest.mark.requirement("EXT-08")
async def test_the_name_of_a_job_is_mirrored_in_a_header(jobs: McpServer) -> None:
    client = await jobs.client(MODERN[-1], DECLARED)
    job = await begun(client, corn="rye")
    assert (await found(client, job))["status"] == "working"
    assert (await client.result("jobs/get", {"jobId": job}))["status"] == "working"  # clients leave it out
    params: dict[str, Any]
    for name, params in (("another", {"jobId": job}), (job, {})):
        client.fields = [("Mcp-Name", name)]
        reply = await client.request("jobs/get", params)
        assert (reply.status, reply.error["code"]) == (400, -32020)
