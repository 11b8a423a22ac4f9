"""Both eras on one pipe, message by message: sections 1.2, 1.5 and 18.3 of the requirements."""

from __future__ import annotations

import pytest

from tests.support.pool import Pool
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.requirement("ERA-21")
async def test_a_modern_request_is_served_within_a_session(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize("2025-06-18")
        assert (await wire.call("fixture_about", modern=True))["structuredContent"]["revision"] == "2026-07-28"
        assert (await wire.call("fixture_about"))["structuredContent"]["revision"] == "2025-06-18"
        assert "supportedVersions" in await wire.result("server/discover", modern=True)


@pytest.mark.requirement("ERA-21", "LIST-11")
async def test_a_session_begins_after_modern_requests(pool: Pool) -> None:
    """A client whose probe took too long comes with `initialize` though its `server/discover` was answered."""
    async with pool.new() as wire:
        probe = await wire.begin("server/discover", modern=True)
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
        handshake = await wire.begin("initialize", opening)
        assert "result" in await wire.answer(probe)
        assert (await wire.answer(handshake))["result"]["protocolVersion"] == "2025-11-25"
        assert "resultType" not in await wire.result("tools/list")
        assert (await wire.result("tools/list", modern=True))["resultType"] == "complete"


@pytest.mark.requirement("ERA-15")
async def test_a_modern_request_does_not_open_a_session(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.result("tools/list", modern=True)
        assert (await wire.error("tools/list"))["code"] == -32600


@pytest.mark.requirement("ERA-21", "ERR-06", "RES-03")
async def test_the_two_eras_answer_each_in_its_own_words(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize()
        asked = {"uri": "fixture://missing"}
        assert (await wire.error("resources/read", asked))["code"] == -32002
        assert (await wire.error("resources/read", asked, modern=True))["code"] == -32602


@pytest.mark.requirement("ERA-16")
async def test_many_requests_of_both_eras_at_once_are_each_answered_in_their_own(pool: Pool) -> None:
    async with pool.new() as wire:
        await wire.initialize("2025-03-26")
        asked = [await wire.begin("tools/list", modern=bool(turn % 2)) for turn in range(40)]
        answers = [(await wire.answer(request_id))["result"] for request_id in asked]
        assert ["resultType" in answer for answer in answers] == [bool(turn % 2) for turn in range(40)]


@pytest.mark.requirement("ERA-21")
@pytest.mark.parametrize("envelope", [{}, {"progressToken": "p"}, {"traceparent": "00-0-0-00"}, {"x/y": 1}])
async def test_meta_without_a_version_is_no_sign_of_the_modern_era(legacy: Wire, envelope: dict[str, object]) -> None:
    """Section 1.2: legacy requests carry `_meta` too."""
    assert "resultType" not in await legacy.result("tools/list", {"_meta": envelope})
