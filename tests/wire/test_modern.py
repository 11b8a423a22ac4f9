"""The modern era: sections 1.1, 1.3 (as far as a pipe has it), 1.5, 1.6 and 7 of the requirements."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.peer import META, modern_meta
from tests.support.pool import Pool
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVED = [*MODERN, *reversed(LEGACY)]
"""Every revision that is served, the modern one first."""


def meta(**changes: Any) -> dict[str, Any]:
    """The `_meta` of a request with some of the protocol's own members changed; None removes one."""
    changed = modern_meta() | {f"{META}{name}": value for name, value in changes.items()}
    return {"_meta": {name: value for name, value in changed.items() if value is not None}}


@pytest.mark.requirement("ERA-08", "ERA-13", "EXT-07", "UTIL-16")
async def test_discover_says_what_is_served(modern: Wire) -> None:
    result = await modern.result("server/discover")
    assert result["supportedVersions"] == SERVED
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "prompts": {"listChanged": True},
        "logging": {},
    }
    assert result["instructions"] == "Only for tests."
    assert result["cacheScope"] == "public"
    assert result["ttlMs"] >= 0


@pytest.mark.requirement("ERA-13")
async def test_discover_may_come_first(pool: Pool) -> None:
    """Section 1.5: clients that know both eras begin with it, under an id of their own."""
    async with pool.new() as wire:
        answer = await wire.request("server/discover", id="server-discover-probe-1", modern=True)
        assert answer["result"]["supportedVersions"] == SERVED


@pytest.mark.requirement("MSG-13", "MSG-24")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("server/discover", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "fixture_add", "arguments": {"a": 1}}),
        ("tools/call", {"name": "fixture_refuse", "arguments": {"reason": "x"}}),
        ("tools/call", {"name": "fixture_add", "arguments": {}}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "fixture://text"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "fixture_review"}),
    ],
)
async def test_every_result_says_that_it_is_complete_and_who_gave_it(
    modern: Wire, method: str, params: dict[str, Any]
) -> None:
    """Section 1.1 and trap 10: failed calls included."""
    result = await modern.result(method, params)
    assert result["resultType"] == "complete"
    assert result["_meta"][f"{META}serverInfo"] == {
        "name": "wire-tests",
        "version": "9.8.7",
        "title": "Wire tests",
        "websiteUrl": "https://example.invalid/",
    }


async def test_pages_of_one_list_share_their_cache_scope(pool: Pool) -> None:
    async with pool.new("[host]\npage_size = 2\n") as wire:
        wire.modern = True
        first = await wire.result("tools/list")
        second = await wire.result("tools/list", {"cursor": first["nextCursor"]})
        assert first["cacheScope"] == second["cacheScope"]


@pytest.mark.requirement("MSG-25")
@pytest.mark.parametrize("info", [None, {"name": "c", "version": "1"}])
async def test_a_client_need_not_say_who_it_is(modern: Wire, info: Any) -> None:
    """Section 1.1."""
    assert "tools" in await modern.result("tools/list", meta(clientInfo=info))


@pytest.mark.requirement("ASK-27", "ERA-15", "ERA-18", "MSG-25")
async def test_nothing_is_remembered_of_an_earlier_request(modern: Wire) -> None:
    """Section 1.1: who asks is told by each request alone."""
    asked = {"name": "fixture_about", "arguments": {}}
    first = await modern.result("tools/call", asked | meta(clientInfo={"name": "first", "version": "1"}))
    second = await modern.result("tools/call", asked)
    assert first["structuredContent"]["client"] == "first"
    assert second["structuredContent"]["client"] == ""


# --- what is refused, and in which order (section 1.3)


@pytest.mark.requirement("ERA-10", "ERA-11", "UTIL-09", "UTIL-20")
@pytest.mark.parametrize(
    "params",
    [
        meta(clientCapabilities=None),
        meta(clientCapabilities=[]),
        meta(clientCapabilities="{}"),
        meta(protocolVersion=20260728),
        meta(protocolVersion=["2026-07-28"]),
        meta(protocolVersion=False),
        meta(clientInfo="me"),
        meta(clientInfo={}),
        meta(clientInfo={"name": "no version"}),
        meta(clientInfo={"name": 1, "version": "1"}),
        meta(logLevel="chatty"),
        meta(logLevel=3),
        {"_meta": modern_meta(progressToken=True)},
        {"_meta": modern_meta(progressToken=None)},
        {"_meta": modern_meta(progressToken=1.5)},
        {"_meta": modern_meta(progressToken={})},
    ],
)
async def test_an_envelope_that_is_incomplete_or_of_wrong_types_is_refused(modern: Wire, params: Any) -> None:
    """Steps c and d: -32602, never the legacy path, though the version may be the only member that is there."""
    assert (await modern.error("tools/list", params, modern=False))["code"] == -32602


@pytest.mark.requirement("ERA-12")
@pytest.mark.parametrize("version", ["1900-01-01", "2026-07-29", "9999-12-31", "", *LEGACY])
async def test_a_version_that_is_not_served_this_way_is_named_with_those_that_are(modern: Wire, version: str) -> None:
    """Step f and section 1.6: legacy revisions have no form for a single request."""
    error = await modern.error("tools/list", meta(protocolVersion=version))
    assert error["code"] == -32022
    assert error["data"] == {"supported": SERVED, "requested": version}


@pytest.mark.requirement("ERA-14")
async def test_discover_too_names_the_versions_when_asked_in_another(modern: Wire) -> None:
    error = await modern.error("server/discover", meta(protocolVersion="1900-01-01"))
    assert error["data"]["supported"] == (await modern.result("server/discover"))["supportedVersions"]


@pytest.mark.requirement("ERA-11")
async def test_an_incomplete_envelope_comes_before_its_version(modern: Wire) -> None:
    """Step c before f."""
    params = meta(protocolVersion="1900-01-01", clientCapabilities=None)
    assert (await modern.error("tools/list", params, modern=False))["code"] == -32602


@pytest.mark.requirement("ERA-12")
async def test_the_version_comes_before_the_method(modern: Wire) -> None:
    """Step f before i."""
    assert (await modern.error("no/such", meta(protocolVersion="1900-01-01")))["code"] == -32022


@pytest.mark.requirement("ERR-03")
@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
        "tasks/list",
        "tasks/result",
        "tasks/get",
        "no/such",
        "",
    ],
)
async def test_what_is_removed_or_absent_is_method_not_found(modern: Wire, method: str) -> None:
    """Step i and A-16."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "level": "info", "notifications": {}}
    assert (await modern.error(method, params))["code"] == -32601


async def test_the_method_comes_before_its_parameters(modern: Wire) -> None:
    """Step i before l."""
    assert (await modern.error("tools/cal", {"name": 5}))["code"] == -32601


@pytest.mark.parametrize("level", ["debug", "emergency"])
async def test_asking_for_logs_that_never_come_is_no_error(modern: Wire, level: str) -> None:
    """Section 7: a level is a wish."""
    await modern.result("tools/call", {"name": "fixture_echo", "arguments": {"text": "x"}} | meta(logLevel=level))
    assert await modern.settle() == []


@pytest.mark.requirement("MSG-19")
@pytest.mark.parametrize("key", ["traceparent", "com.example/anything", "future", f"{META}future"])
async def test_what_else_the_envelope_carries_is_ignored(modern: Wire, key: str) -> None:
    assert "tools" in await modern.result("tools/list", {"_meta": {key: {"x": [None]}}})
