"""The client of the test kit: what it sends is MCP, and what it gives is what a test of a toolkit wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest

from pegboard import Completion, ErrorKind, Toolkit
from pegboard.plugin import ProtocolError, TransportError
from pegboard_testing import TestClient, ToolFailed, connect
from tests.pegboard_testing import kits
from tests.support.recorder import Conversation


@pytest.fixture(params=["2026-07-28", "2025-11-25", "2024-11-05"])
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def recorded(**options: Any) -> AsyncIterator[TestClient]:
    """A client whose messages are all held against the official schema."""
    async with connect(kits.kit, secrets={"AGENCY_KEY": "k"}, **options) as client:
        yield client
    conversation = Conversation()
    for direction, message in client.traffic:
        if direction == "sent":
            conversation.sent(message)
        else:
            conversation.received(message)
    assert conversation.checked > 0


async def test_a_tool_is_called_by_any_of_its_names(revision: str) -> None:
    async with recorded(revision=revision, user="ada", config={"home": "Basel"}) as client:
        for name in ("route", "trips_route"):
            assert (await client.call(name, {"to": "Rome"})).value == "Basel to Rome for ada"
        route = await client.call("route", to="Oslo")
        prices = await client.call("prices", cities=["Bern"])
        nothing = await client.call("nothing")
    assert (route.name, route.text, route.is_error) == ("trips_route", "Basel to Oslo for ada", False)
    structured = revision >= "2025-06-18"
    assert prices.structured == ({"Bern": 40} if structured else None)
    assert prices.value == {"Bern": 40}
    assert nothing.value is None


async def test_a_string_of_digits_is_the_same_in_every_revision(revision: str) -> None:
    kit = Toolkit("codes")

    @kit.tool
    def code() -> Annotated[str, "the code"]:
        """Return a code."""
        return "42"

    async with connect(kit, revision=revision) as client:
        assert (await client.call("code")).value == "42"


async def test_an_error_has_fields_for_programs() -> None:
    async with recorded() as client:
        result, other = await client.call("again"), await client.call("prices", cities=[])
    error = result.error
    assert (error.message, error.kind, error.can_retry) == ("too early\n\nWait.", ErrorKind.TOOL_RUNTIME_RETRY, True)
    assert (error.retry_after_ms, error.status_code, error.error_id, error.cause) == (50, None, None, None)
    with pytest.raises(ToolFailed, match="trips_again failed: too early") as caught:
        result.value  # noqa: B018 - reading it is the test
    assert caught.value.result is result
    with pytest.raises(AssertionError, match="trips_prices succeeded and returned"):
        other.error  # noqa: B018


async def test_an_unexpected_error_is_masked_for_the_client_only() -> None:
    async with recorded() as client:
        result = await client.call("crash")
    assert "mistake" not in result.text
    assert result.error.error_id
    assert result.error.error_id in result.text
    assert isinstance(result.error.cause, KeyError)
    with pytest.raises(ToolFailed) as caught:
        result.value  # noqa: B018
    assert caught.value.__cause__ is result.error.cause


async def test_wrong_arguments_are_a_result_and_an_unknown_tool_an_error() -> None:
    async with recorded() as client:
        assert "to" in (await client.call("route")).error.message
        with pytest.raises(ProtocolError, match="Unknown tool: nowhere"):
            await client.call("nowhere")


async def test_lists_are_read_page_by_page(revision: str) -> None:
    async with recorded(revision=revision, hostconfig={"host": {"page_size": 2}}) as client:
        assert len(await client.tools()) == 11
        assert [resource["uri"] for resource in await client.resources()] == ["trips://home", "trips://map"]
        assert [template["uriTemplate"] for template in await client.templates()] == ["trips://cities/{name}"]
        assert [prompt["name"] for prompt in await client.prompts()] == ["trips_plan"]
    assert sum(b'"tools/list"' in message for _, message in client.traffic) == 6


async def test_resources_prompts_and_completions_are_read(revision: str) -> None:
    async with recorded(revision=revision) as client:
        home = await client.read("trips://home")
        world = await client.read("trips://map")
        assert (await client.read("trips://cities/Rome")).text == "City of Rome"
        with pytest.raises(ProtocolError):
            await client.read("trips://nowhere")
        prompt = await client.prompt("plan", style="broad")
        assert (await client.prompt("trips_plan", {})).text.startswith("Plan, brief.")
        assert await client.complete("plan", "style", "br") == Completion(("brief", "broad"), 2, False)
    assert (home.text, home.data, home.contents[0]["mimeType"]) == ("Bern", b"Bern", "text/plain")
    assert (world.text, world.data) == ("", bytes(range(256)))
    assert prompt.text == "Plan, broad.\nWhere to?"
    assert [message["role"] for message in prompt.messages] == ["user", "assistant"]


async def test_logs_and_progress_are_kept(revision: str) -> None:
    async with recorded(revision=revision) as client:
        await client.call("tell")
    assert [(log.level, log.data) for log in client.logs] == [("debug", {"message": "looking", "step": 1})]
    assert [tuple(report) for report in client.progress] == [(1, 2, "half" if revision >= "2025-03-26" else None)]


async def test_changes_are_notified_after_listen(revision: str) -> None:
    async with recorded(revision=revision) as client:
        await client.listen("trips://home")
        await client.call("tell")
        notice = await client.heard("notifications/resources/updated")
        assert notice["params"]["uri"] == "trips://home"


async def test_a_cancelled_request_is_cancelled_at_the_host(revision: str) -> None:
    async with recorded(revision=revision) as client:
        waiting = asyncio.create_task(client.call("forever"))
        await client.heard("notifications/progress")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert "cancelled" in (await client.call("ends")).text


async def test_waiting_ends_with_the_timeout() -> None:
    async with connect(kits.kit, timeout=0.05) as client:
        with pytest.raises(TimeoutError, match=r"no response to tools/call within 0\.05 seconds"):
            await client.call("forever")
        with pytest.raises(TimeoutError, match=r"no notifications/x within 0\.05 seconds"):
            await client.heard("notifications/x")


async def test_calls_fail_after_the_end() -> None:
    async with connect(kits.kit) as client:
        waiting = asyncio.create_task(client.call("forever"))
        await client.heard("notifications/progress")
    with pytest.raises(TransportError, match="the connection with the host has ended"):
        await waiting
