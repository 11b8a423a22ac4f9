"""Encoded results: pages are kept while they are listed, caching fields, and outcomes that cannot be encoded."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest

from pegboard import Toolkit, ToolResult
from pegboard.plugin import Middleware, ProtocolError
from pegboard.testing import connect
from pegboard.types import Call, CallNext, Identity, Listing, Outcome, Tool
from pegboard_plugins.mcp.listing_objects import listing_object
from pegboard_plugins.mcp.result_encoder import CacheableKind, ResultEncoder
from pegboard_plugins.mcp.revisions import SESSION_REVISIONS, STATELESS_REVISIONS
from tests.host.hosting import plugin_of

TTL: dict[CacheableKind, int] = {"tools": 1, "resources": 2, "templates": 3, "prompts": 4, "discovery": 5}


def encoder(revision: str = STATELESS_REVISIONS[0]) -> ResultEncoder:
    return ResultEncoder(revision, Identity("tests", "1"), TTL)


def page(*, private: bool = False) -> Listing:
    return Listing("tools", (Tool("tool", "Work.", {"type": "object"}),), private=private)


def test_a_page_is_encoded_once_and_kept_while_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []

    def counting(listing: Listing, revision: str) -> dict[str, Any]:
        encoded.append(id(listing))
        return listing_object(listing, revision)

    monkeypatch.setattr("pegboard_plugins.mcp.result_encoder.listing_object", counting)
    one, twin, encodes = page(), page(), encoder()
    assert len({encodes.answer(1, "tools/list", listing) for listing in (one, one, twin, one, twin)}) == 1
    assert encoded == [id(one), id(twin)]
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


@pytest.mark.requirement("LIST-07", "LIST-11")
def test_clients_may_keep_pages_in_the_stateless_era_only() -> None:
    for private, scope in ((True, "private"), (False, "public")):
        found = json.loads(encoder().answer(1, "tools/list", page(private=private)))["result"]
        assert (found["ttlMs"], found["cacheScope"]) == (1, scope)
    found = json.loads(encoder(SESSION_REVISIONS[-1]).answer(1, "tools/list", page(private=True)))["result"]
    assert set(found) == {"tools"}


kit = Toolkit("x")


@kit.tool
def one() -> str:
    """Return a string."""
    return "1"


@pytest.mark.parametrize("changes", [{"value": object()}, {"meta": 5}], ids=["value", "type"])
async def test_an_outcome_that_cannot_be_encoded_is_an_error_with_an_id(
    changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Spoiling(Middleware):
        async def on_call_tool(self, call: Call, call_next: CallNext) -> Outcome:
            outcome = await call_next(call)
            assert isinstance(outcome, ToolResult)
            return outcome._replace(**changes)

    async with connect(kit, plugins={"spoiler": plugin_of(middleware=[Spoiling()])}, revision="2026-07-28") as client:
        with pytest.raises(ProtocolError, match="Internal error") as caught:
            await client.call("one")
    assert f"error {caught.value.data['errorId']} in tools/call 'x_one': TypeError: " in caplog.text
