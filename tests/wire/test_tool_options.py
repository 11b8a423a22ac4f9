"""What clients of each revision see of what a tool's options say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support import options_kit
from tests.support.options_kit import VENDORS
from tests.support.peer import META
from tests.support.pool import Pool, make_site
from tests.support.schemas import REVISIONS
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

METADATA = "pegboard/metadata"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def optional(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    """Hosts with the toolkit `options`."""
    async with Pool(make_site(tmp_path_factory.mktemp("site"), {"options": options_kit})) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="session", params=REVISIONS)
async def wire(optional: Pool, request: pytest.FixtureRequest) -> Wire:
    """Each revision there is."""
    return await optional.get(request.param)


def since(wire: Wire, first: str) -> bool:
    return wire.modern or str(wire.conversation.revision) >= first


async def listed(wire: Wire, name: str) -> dict[str, Any]:
    """A tool as the client sees it."""
    (found,) = [tool for tool in (await wire.result("tools/list"))["tools"] if tool["name"] == f"options_{name}"]
    assert isinstance(found, dict)
    return found


# --- metadata, annotations, `_meta`


async def test_the_kind_of_a_tool_is_in_its_meta_beside_that_of_vendors(wire: Wire) -> None:
    tool = await listed(wire, "classified")
    if not since(wire, "2025-06-18"):
        assert "_meta" not in tool
        return
    assert tool["_meta"] == {
        **VENDORS,
        METADATA: {
            "classification": {"service_domains": ["email", "pigeon_post"]},
            "behavior": {"operations": ["delete"], "read_only": False, "destructive": True, "idempotent": True},
            "extras": {"idp": "entraID", "nested": {"levels": [1, 2]}},
        },
    }


@pytest.mark.requirement("TOOL-21")
async def test_the_hints_come_from_what_a_tool_does(wire: Wire) -> None:
    hints = (await listed(wire, "classified")).get("annotations")
    known = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
    assert hints == (known if since(wire, "2025-03-26") else None)


async def test_annotations_win_over_metadata(wire: Wire) -> None:
    tool = await listed(wire, "overruled")
    known = {"readOnlyHint": False, "idempotentHint": True, "openWorldHint": False}
    assert tool.get("annotations") == (known if since(wire, "2025-03-26") else None)
    if since(wire, "2025-06-18"):
        assert tool["_meta"] == {METADATA: {"behavior": {"read_only": True, "idempotent": True}}}


@pytest.mark.requirement("TOOL-21")
async def test_annotations_of_ones_own_stand_beside_those_of_the_protocol(wire: Wire) -> None:
    tool = await listed(wire, "annotated")
    assert "_meta" not in tool
    if not since(wire, "2025-03-26"):
        assert "annotations" not in tool
        return
    assert tool["annotations"] == {
        "title": "All of them",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
        "com.example/audited": True,
        "reviewers": ["a", {"b": None}],
    }


# --- versions, deprecation


async def test_a_version_of_its_own_is_in_the_meta_of_a_tool(wire: Wire) -> None:
    tool = await listed(wire, "versioned")
    known = {"com.example/own": 1, "pegboard/version": "1.4.0"}
    assert tool.get("_meta") == (known if since(wire, "2025-06-18") else None)


OLD = ["deprecated_by_option", "deprecated_by_decorator", "deprecated_elsewhere"]


@pytest.mark.parametrize("name", OLD)
async def test_what_is_deprecated_is_described_so(wire: Wire, name: str) -> None:
    tool = await listed(wire, name)
    assert tool["description"] == "[DEPRECATED: use somewhere instead] Be old."
    assert "_meta" not in tool


@pytest.mark.parametrize("modern", [False, True])
async def test_whoever_calls_it_is_told_each_time_and_the_operator_once(optional: Pool, modern: bool) -> None:
    async with optional.new() as wire:
        await wire.initialize()
        if not modern:
            await wire.result("logging/setLevel", {"level": "warning"})
        for name in [f"options_{one}" for one in OLD]:
            call: dict[str, Any] = {"name": name, "arguments": {}}
            if modern:
                call["_meta"] = {f"{META}logLevel": "warning"}
            text = f"{name} is deprecated: use somewhere instead"
            for _ in range(2):
                assert (await wire.result("tools/call", call, modern=modern))["isError"] is False
            told = [one["params"] for one in await wire.settle() if one["params"]["data"] == text]
            assert told == [{"level": "warning", "logger": name, "data": text}] * 2
        await wire.close()
        assert [wire.stderr.count(f"options_{one} is deprecated") for one in OLD] == [1, 1, 1]


@pytest.mark.parametrize("modern", [False, True])
async def test_who_does_not_listen_is_not_told(optional: Pool, modern: bool) -> None:
    async with optional.new() as wire:
        await wire.initialize()
        call: dict[str, Any] = {"name": "options_deprecated_by_option", "arguments": {}}
        if modern:
            call["_meta"] = {f"{META}logLevel": "error"}
        else:
            await wire.result("logging/setLevel", {"level": "error"})
        await wire.result("tools/call", call, modern=modern)
        assert await wire.settle() == []


# --- tools that belong to no toolkit


async def test_a_tool_is_listed_and_called_by_each_name_that_it_was_given(wire: Wire) -> None:
    here, there = await listed(wire, "anywhere"), await listed(wire, "somewhere")
    assert {**here, "name": "options_somewhere"} == there
    assert there.get("title") == ("Anywhere" if since(wire, "2025-06-18") else None)
    for name in ("options_anywhere", "options_somewhere"):
        result = await wire.result("tools/call", {"name": name, "arguments": {"times": 2}})
        assert result["content"] == [{"type": "text", "text": "here here "}]
