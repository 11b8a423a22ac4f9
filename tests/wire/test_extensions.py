"""An extension that a stranger's plugin brings, over standard streams and in both eras: the sample `acme_jobs`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.jobs import ADDED, CONFIG, DECLARED, JOBS, make_jobs_site
from tests.support.peer import META, Message
from tests.support.pool import CONFIG as HOST
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

NEWEST = (LEGACY[-1], MODERN[-1])
CALL = {"name": "mill_grind", "arguments": {"corn": "rye"}}


class Declaring:
    """A client of either era that declares some capabilities wherever that era has them declared."""

    def __init__(self, wire: Wire, revision: str, capabilities: Message) -> None:
        self.wire = wire
        self.modern = revision in MODERN
        self.capabilities = capabilities

    def params(self, params: Message) -> Message:
        if not self.modern:
            return params
        return {**params, "_meta": {f"{META}clientCapabilities": self.capabilities}}

    async def result(self, method: str, **params: Any) -> Message:
        return await self.wire.result(method, self.params(params), modern=self.modern)

    async def error(self, method: str, **params: Any) -> Message:
        return await self.wire.error(method, self.params(params), modern=self.modern)

    async def settled(self, job: str) -> Message:
        """The job, once it has ended."""
        while (detail := await self.result("jobs/get", jobId=job))["status"] == "working":
            pass
        return detail


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_jobs_site(tmp_path_factory.mktemp("jobs"))


async def opened(wire: Wire, revision: str, capabilities: Message) -> Declaring:
    wire.conversation.added = ADDED
    if revision in LEGACY:
        await wire.initialize(revision, capabilities=capabilities)
    return Declaring(wire, revision, capabilities)


@pytest_asyncio.fixture(params=NEWEST)
async def client(site: Path, request: pytest.FixtureRequest) -> AsyncIterator[Declaring]:
    """One that declares the extension."""
    async with Wire(config=HOST + CONFIG, site=site) as wire:
        yield await opened(wire, request.param, DECLARED)


@pytest_asyncio.fixture(params=NEWEST)
async def stranger(site: Path, request: pytest.FixtureRequest) -> AsyncIterator[Declaring]:
    """One that does not."""
    async with Wire(config=HOST + CONFIG, site=site) as wire:
        yield await opened(wire, request.param, {"extensions": {"com.acme/other": {}}})


async def capabilities(wire: Wire, revision: str) -> Message:
    if revision in LEGACY:
        return (await wire.initialize(revision))["capabilities"]  # type: ignore[no-any-return]
    return (await wire.result("server/discover", modern=True))["capabilities"]  # type: ignore[no-any-return]


@pytest.mark.requirement("EXT-04")
@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
async def test_the_extension_is_advertised_in_the_revisions_that_it_exists_in(site: Path, revision: str) -> None:
    async with Wire(config=HOST + CONFIG, site=site) as wire:
        expected = {"extensions": {JOBS: {"cancel": True}}} if revision >= "2025-06-18" else {}
        found = await capabilities(wire, revision)
        assert {key: found[key] for key in found if key in ("extensions", "experimental")} == expected


@pytest.mark.requirement("EXT-02")
@pytest.mark.parametrize("revision", NEWEST)
async def test_what_does_not_run_is_neither_advertised_nor_there(site: Path, revision: str) -> None:
    async with Wire(config=HOST, site=site) as wire:
        client = await opened(wire, revision, DECLARED)
        assert "extensions" not in (await capabilities(wire, revision) if client.modern else {})
        assert (await client.error("jobs/get", jobId="x"))["code"] == -32601
        await client.result("tools/call", name="mill_open_sluice", arguments={})
        assert (await client.result("tools/call", **CALL))["content"][0]["text"] == "flour of rye"


@pytest.mark.requirement("MSG-13")
async def test_a_call_ends_with_a_job_that_goes_on(client: Declaring) -> None:
    begun = await client.result("tools/call", **CALL)
    assert begun["resultType"] == "job"
    assert begun["status"] == "working"
    job = begun["jobId"]
    working = await client.result("jobs/get", jobId=job)
    assert (working["jobId"], working["status"]) == (job, "working")
    await client.result("tools/call", name="mill_open_sluice", arguments={})
    done = await client.settled(job)
    assert done["status"] == "completed"
    assert done["result"]["content"] == [{"type": "text", "text": "flour of rye"}]
    assert done.get("resultType") == ("complete" if client.modern else None)


async def test_a_job_ends_with_what_its_call_would_have_been_answered_with(client: Declaring) -> None:
    spoilt = (await client.result("tools/call", name="mill_spoil", arguments={"corn": "rye"}))["jobId"]
    wrong = (await client.result("tools/call", name="mill_spoil", arguments={}))["jobId"]
    collapsed = (await client.result("tools/call", name="mill_collapse", arguments={}))["jobId"]
    ended = await client.settled(spoilt)
    assert ended["status"] == "completed"
    assert ended["result"]["isError"]
    assert ended["result"]["content"][0]["text"] == "rye is mouldy"
    assert (await client.settled(wrong))["result"]["isError"]
    failed = await client.settled(collapsed)
    assert failed["status"] == "failed"
    assert failed["error"] == {"code": -32603, "message": "The mill is down."}


@pytest.mark.requirement("EXT-09")
async def test_a_job_is_cancelled_by_its_method_and_by_nothing_else(client: Declaring) -> None:
    job = (await client.result("tools/call", **CALL))["jobId"]
    await client.wire.notify("notifications/cancelled", {"requestId": 1})
    assert (await client.result("jobs/get", jobId=job))["status"] == "working"
    await client.result("jobs/cancel", jobId=job)
    assert (await client.settled(job))["status"] == "cancelled"
    await client.result("jobs/cancel", jobId=job)


async def test_a_tool_that_calls_another_gets_its_result(client: Declaring) -> None:
    await client.result("tools/call", name="mill_open_sluice", arguments={})
    result = await client.result("tools/call", name="mill_bake", arguments={"corn": "rye"})
    assert result["content"] == [{"type": "text", "text": "bread of flour of rye"}]


async def test_an_error_of_a_method_is_its_own(client: Declaring) -> None:
    error = await client.error("jobs/get", jobId="nobody's")
    assert error == {"code": -32602, "message": "There is no such job."}


async def test_a_notification_reaches_the_plugin(client: Declaring) -> None:
    job = (await client.result("tools/call", **CALL))["jobId"]
    await client.wire.notify("notifications/jobs/seen", client.params({"jobId": job}))
    while (await client.result("jobs/get", jobId=job))["seen"] == 0:
        pass
    await client.wire.notify("notifications/jobs/seen", client.params({"jobId": "nobody's"}))
    await client.wire.notify("notifications/jobs/unheard_of", client.params({}))
    assert (await client.result("jobs/get", jobId=job))["seen"] == 1


@pytest.mark.requirement("EXT-03", "MSG-14")
async def test_a_client_that_does_not_declare_it_waits_as_ever(stranger: Declaring) -> None:
    await stranger.result("tools/call", name="mill_open_sluice", arguments={})
    result = await stranger.result("tools/call", **CALL)
    assert result["content"] == [{"type": "text", "text": "flour of rye"}]
    assert "jobId" not in result


@pytest.mark.requirement("ERA-20", "EXT-03")
@pytest.mark.parametrize("method", ["jobs/get", "jobs/cancel"])
async def test_a_client_that_does_not_declare_it_is_told_what_is_missing(stranger: Declaring, method: str) -> None:
    error = await stranger.error(method, jobId="x")
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {JOBS: {}}}}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
async def test_it_does_not_exist_before_its_time(site: Path, revision: str) -> None:
    async with Wire(config=HOST + CONFIG, site=site) as wire:
        client = await opened(wire, revision, DECLARED)
        assert (await client.error("jobs/get", jobId="x"))["code"] == -32601


async def test_a_request_with_the_name_of_a_notification_is_no_method(client: Declaring) -> None:
    assert (await client.error("notifications/jobs/seen", jobId="x"))["code"] == -32601


@pytest_asyncio.fixture
async def listener(site: Path) -> AsyncIterator[Declaring]:
    """A client of 2026-07-28 that declares the extension."""
    async with Wire(config=HOST + CONFIG, site=site) as wire:
        yield await opened(wire, MODERN[-1], DECLARED)


async def test_a_subscription_hears_of_what_the_extension_has_to_tell(listener: Declaring) -> None:
    job = (await listener.result("tools/call", **CALL))["jobId"]
    wanted = {"notifications": {"jobIds": [job, "nobody's"], "toolsListChanged": True}}
    subscription = await listener.wire.begin("subscriptions/listen", listener.params(wanted), modern=True)
    told = await listener.wire.receive()
    assert told["method"] == "notifications/subscriptions/acknowledged"
    assert told["params"]["notifications"] == {"jobIds": [job], "toolsListChanged": True}
    await listener.result("tools/call", name="mill_open_sluice", arguments={})
    told = await listener.wire.receive()
    assert told["method"] == "notifications/jobs"
    assert (told["params"]["jobId"], told["params"]["status"]) == (job, "completed")
    assert told["params"]["result"]["content"] == [{"type": "text", "text": "flour of rye"}]
    assert told["params"]["_meta"] == {f"{META}subscriptionId": subscription}


async def test_a_subscription_to_nothing_that_is_there_is_acknowledged_as_such(listener: Declaring) -> None:
    await listener.wire.begin(
        "subscriptions/listen", listener.params({"notifications": {"jobIds": ["nobody's"]}}), modern=True
    )
    assert (await listener.wire.receive())["params"]["notifications"] == {}


async def test_a_subscription_that_a_plugin_refuses_does_not_begin(listener: Declaring) -> None:
    error = await listener.error("subscriptions/listen", notifications={"jobIds": "x"})
    assert error == {"code": -32602, "message": "jobIds must be a list"}


async def test_a_subscription_to_an_extension_is_for_those_who_declare_it(listener: Declaring) -> None:
    listener.capabilities = {}
    error = await listener.error("subscriptions/listen", notifications={"jobIds": []})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": DECLARED}
