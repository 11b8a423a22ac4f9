"""What clients of each revision see of what a tool's options say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support import options_kit
from tests.support.options_kit import VENDORS
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


# --- tools that belong to no toolkit


async def test_a_tool_is_listed_and_called_by_each_name_that_it_was_given(wire: Wire) -> None:
    here, there = await listed(wire, "anywhere"), await listed(wire, "somewhere")
    assert {**here, "name": "options_somewhere"} == there
    assert there.get("title") == ("Anywhere" if since(wire, "2025-06-18") else None)
    for name in ("options_anywhere", "options_somewhere"):
        result = await wire.result("tools/call", {"name": name, "arguments": {"times": 2}})
        assert result["content"] == [{"type": "text", "text": "here here "}]
