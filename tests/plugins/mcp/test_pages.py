"""What the plugin `mcp` keeps of the pages of lists: as long as the page is listed, and for those who may see it."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest

from pegboard.types import Identity, Listing, Tool
from pegboard_plugins.mcp.listing_objects import listing_object
from pegboard_plugins.mcp.result_encoder import CacheableResult, ResultEncoder
from pegboard_plugins.mcp.revisions import SESSION_REVISIONS, STATELESS_REVISIONS

TTL: dict[CacheableResult, int] = {"tools": 1, "resources": 2, "templates": 3, "prompts": 4, "discovery": 5}


def encoder(revision: str = STATELESS_REVISIONS[0]) -> ResultEncoder:
    return ResultEncoder(revision, Identity("tests", "1"), TTL)


def page(name: str = "tool", *, private: bool = False) -> Listing:
    return Listing("tools", (Tool(name, "Work.", {"type": "object"}),), private=private)


def result(answer: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer)["result"]
    return found


def test_a_page_is_encoded_once_and_an_equal_one_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Listing] = []

    def counting(listing: Listing, revision: str) -> dict[str, Any]:
        encoded.append(listing)
        return listing_object(listing, revision)

    monkeypatch.setattr("pegboard_plugins.mcp.result_encoder.listing_object", counting)
    one, twin, encodes = page(), page(), encoder()
    answers = {encodes.answer(1, "tools/list", listing) for listing in (one, one, twin, one, twin)}
    assert len(answers) == 1
    assert encoded == [one, twin]


def test_a_page_that_is_listed_no_more_is_kept_no_more() -> None:
    encodes, listing = encoder(), page()
    encodes.answer(1, "tools/list", listing)
    gone = weakref.ref(listing)
    del listing
    gc.collect()
    assert gone() is None


@pytest.mark.requirement("LIST-07")
@pytest.mark.parametrize(("private", "scope"), [(True, "private"), (False, "public")])
def test_who_may_keep_a_page_is_whoever_sees_the_same(private: bool, scope: str) -> None:
    found = result(encoder().answer(1, "tools/list", page(private=private)))
    assert (found["ttlMs"], found["cacheScope"]) == (1, scope)


@pytest.mark.parametrize("kind", ["tools", "resources", "templates", "prompts"])
def test_each_kind_is_kept_for_its_own_time(kind: Any) -> None:
    assert result(encoder().answer(1, "", Listing(kind, ())))["ttlMs"] == TTL[kind]


@pytest.mark.requirement("LIST-11")
@pytest.mark.parametrize("revision", SESSION_REVISIONS)
def test_sessions_hear_nothing_of_keeping(revision: str) -> None:
    assert set(result(encoder(revision).answer(1, "tools/list", page(private=True)))) == {"tools"}
