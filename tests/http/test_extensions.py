"""An extension that a stranger's plugin brings, over HTTP: headers, statuses, sessions. The sample `acme_jobs`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.http import Served, http_config
from tests.support.http_mcp import Exchanged, Session, Streaming, call, exchange, message, mirrored, modern
from tests.support.jobs import ADDED, CONFIG, DECLARED, make_jobs_site
from tests.support.peer import META
from tests.support.recorder import Conversation
from tests.support.schemas import MODERN

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    site: Path = make_jobs_site(tmp_path_factory.mktemp("jobs"))
    async with Served(site, http_config(more=CONFIG)) as served:
        yield served


async def ask(
    served: Served, one: dict[str, Any], name: str | None, capabilities: dict[str, Any] = DECLARED
) -> Exchanged:
    """A modern request with this `Mcp-Name`, None for none."""
    conversation = Conversation()
    conversation.added = ADDED
    one = modern(one, **{f"{META}clientCapabilities": capabilities})
    changes = {} if one["method"] == "tools/call" else {"Mcp_Name": name}
    async with await served.connect() as line:
        return await exchange(line, json.dumps(one).encode(), mirrored(one, **changes), conversation)


async def a_job(served: Served) -> str:
    begun = (await ask(served, call("mill_grind", {"corn": "rye"}), None)).result
    assert begun["resultType"] == "job"
    job: str = begun["jobId"]
    return job


@pytest.mark.requirement("EXT-08")
async def test_the_name_of_a_job_is_mirrored(served: Served) -> None:
    job = await a_job(served)
    asked = message("jobs/get", {"jobId": job})
    assert (await ask(served, asked, job)).result["status"] == "working"
    assert (await ask(served, asked, None)).refused == (400, -32020)
    assert (await ask(served, asked, "another")).refused == (400, -32020)
    assert (await ask(served, message("jobs/get", {}), job)).refused == (400, -32020)


@pytest.mark.requirement("ERA-20", "EXT-03")
async def test_a_client_that_does_not_declare_it_is_refused_before_anything_runs(served: Served) -> None:
    refused = await ask(served, message("jobs/get", {"jobId": "x"}), "x", {})
    assert refused.refused == (400, -32021)
    assert refused.last["error"]["data"] == {"requiredCapabilities": DECLARED}


async def test_a_method_that_nobody_brings_is_not_there(served: Served) -> None:
    assert (await ask(served, message("jobs/list", {}), None)).refused == (404, -32601)


async def test_an_error_of_the_method_itself_is_an_answer(served: Served) -> None:
    assert (await ask(served, message("jobs/get", {"jobId": "x"}), "x")).refused == (200, -32602)


@pytest.mark.requirement("EXT-09")
async def test_a_job_goes_on_when_the_peer_of_its_call_is_gone(served: Served) -> None:
    job = await a_job(served)
    assert (await ask(served, message("jobs/get", {"jobId": job}), job)).result["status"] == "working"
    await ask(served, message("jobs/cancel", {"jobId": job}), job)
    status = "working"
    while status == "working":
        status = (await ask(served, message("jobs/get", {"jobId": job}), job)).result["status"]
    assert status == "cancelled"


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", *MODERN])
async def test_a_notification_reaches_the_plugin(served: Served, revision: str) -> None:
    job = await a_job(served)
    heard: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/jobs/seen", "params": {"jobId": job}}
    if revision in MODERN:
        heard["params"]["_meta"] = {f"{META}clientCapabilities": DECLARED}
        async with await served.connect() as line:
            fields = [("Content-Type", "application/json"), ("MCP-Protocol-Version", revision)]
            fields.append(("Accept", "application/json, text/event-stream"))
            told = await exchange(line, json.dumps(heard).encode(), fields)
    else:
        session = Session(served, revision, capabilities=DECLARED)
        session.conversation.added = ADDED
        await session.open()
        told = await session.post(heard)
    assert told.status == 202
    while (await ask(served, message("jobs/get", {"jobId": job}), job)).result["seen"] == 0:
        pass


async def test_sessions_have_it_too(served: Served) -> None:
    session = Session(served, "2025-11-25", capabilities=DECLARED)
    session.conversation.added = ADDED
    opened = await session.open()
    assert opened.result["capabilities"]["extensions"] == {"com.acme/jobs": {"cancel": True}}
    begun = (await session.post(call("mill_grind", {"corn": "oats"}))).result
    assert begun["status"] == "working"
    assert (await session.post(message("jobs/get", {"jobId": begun["jobId"]}))).result["status"] == "working"
    stranger = Session(served, "2025-11-25")
    stranger.conversation.added = ADDED
    await stranger.open()
    assert (await stranger.post(message("jobs/get", {"jobId": begun["jobId"]}))).refused == (200, -32021)


async def test_a_subscription_hears_of_what_the_extension_has_to_tell(served: Served) -> None:
    job = await a_job(served)
    listen = message("subscriptions/listen", {"notifications": {"jobIds": [job]}})
    listen = modern(listen, **{f"{META}clientCapabilities": DECLARED})
    streaming = Streaming(await served.connect())
    streaming.conversation.added = ADDED
    await streaming.begin(listen, mirrored(listen))
    assert streaming.first["params"]["notifications"] == {"jobIds": [job]}
    await ask(served, message("jobs/cancel", {"jobId": job}), job)
    told = await streaming.next()
    assert (told["method"], told["params"]["status"]) == ("notifications/jobs", "cancelled")
    assert told["params"]["_meta"] == {f"{META}subscriptionId": listen["id"]}
    streaming.abort()


async def test_a_subscription_to_an_extension_is_for_those_who_declare_it(served: Served) -> None:
    listen = message("subscriptions/listen", {"notifications": {"jobIds": []}})
    assert (await ask(served, listen, None, {})).refused == (400, -32021)
