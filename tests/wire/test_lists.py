"""Lists: pages, order, and the members that each revision knows. Sections 2.5 and 7, trap 22, clients.md 19, 20, 23."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.pool import CONFIG, Pool
from tests.support.schemas import LEGACY, MODERN, definitions
from tests.support.wire import Wire

pytestmark = pytest.mark.asyncio(loop_scope="session")

LISTS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}
DEFINITIONS = {"tools": "Tool", "resources": "Resource", "prompts": "Prompt"}
IDENTIFIERS = {"tools": "name", "resources": "uri", "prompts": "name"}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def short_pages(fixture_site: Path) -> AsyncIterator[Pool]:
    """Hosts with two items on a page."""
    async with Pool(fixture_site, CONFIG + "page_size = 2\n") as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="session", params=(LEGACY[-1], MODERN[-1]))
async def paged(short_pages: Pool, request: pytest.FixtureRequest) -> Wire:
    """A host with two items on a page, in either era."""
    return await short_pages.get(request.param)


async def pages(wire: Wire, method: str) -> list[dict[str, Any]]:
    """All pages of a list."""
    found = [await wire.result(method)]
    while "nextCursor" in found[-1]:
        found.append(await wire.result(method, {"cursor": found[-1]["nextCursor"]}))
    return found


@pytest.mark.requirement("LIST-03")
@pytest.mark.parametrize(("method", "kind"), LISTS.items())
async def test_pages_put_together_are_the_whole_list(paged: Wire, wire: Wire, method: str, kind: str) -> None:
    found = await pages(paged, method)
    assert [len(page[kind]) for page in found[:-1]] == [2] * (len(found) - 1)
    assert 0 < len(found[-1][kind]) <= 2
    names = [item[IDENTIFIERS[kind]] for page in found for item in page[kind]]
    assert names == [item[IDENTIFIERS[kind]] for item in (await wire.result(method))[kind]]
    assert len(set(names)) == len(names) > 2


@pytest.mark.requirement("LIST-02")
@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["nonsense", "MTA=!", "0", 5, 0, False, [], {}, "\u00e9", "//79"], ids=repr)
async def test_a_cursor_that_is_none_of_ours_is_refused(paged: Wire, method: str, cursor: Any) -> None:
    """Section 7: -32602."""
    assert (await paged.error(method, {"cursor": cursor}))["code"] == -32602


@pytest.mark.requirement("LIST-02")
async def test_a_cursor_of_another_list_is_refused_and_an_empty_one_begins_anew(paged: Wire) -> None:
    first = await paged.result("tools/list")
    assert (await paged.result("tools/list", {"cursor": ""}))["tools"] == first["tools"]
    assert (await paged.error("resources/list", {"cursor": first["nextCursor"]}))["code"] == -32602


@pytest.mark.requirement("ERA-15", "ERA-17", "LIST-01", "LIST-04")
async def test_a_cursor_works_on_another_instance(paged: Wire, short_pages: Pool) -> None:
    """Section 7 and trap 50: it holds all that is needed."""
    cursor = (await paged.result("tools/list"))["nextCursor"]
    async with short_pages.new() as other:
        there = await other.result("tools/list", {"cursor": cursor}, modern=True)
        assert there["tools"] == (await paged.result("tools/list", {"cursor": cursor}, modern=True))["tools"]


@pytest.mark.parametrize("method", [*LISTS, "resources/templates/list"])
@pytest.mark.parametrize("params", [None, {}, {"_meta": {"progressToken": 1}}])
async def test_a_list_needs_no_parameters_in_a_session(session: Wire, method: str, params: Any) -> None:
    """clients.md 23: a list may be asked for at any time."""
    assert await session.result(method, params)


async def test_there_are_no_templates(every: Wire) -> None:
    assert (await every.result("resources/templates/list"))["resourceTemplates"] == []


@pytest.mark.requirement("TOOL-07")
async def test_tools_come_in_the_order_of_names_every_time(every: Wire) -> None:
    """Section 11.6."""
    names = [tool["name"] for tool in (await every.result("tools/list"))["tools"]]
    assert names == sorted(names)
    assert [tool["name"] for tool in (await every.result("tools/list"))["tools"]] == names


@pytest.mark.requirement("ERA-07", "RES-15", "TOOL-21", "TOOL-23")
@pytest.mark.parametrize(("method", "kind"), LISTS.items())
async def test_nothing_is_listed_that_the_revision_does_not_know(every: Wire, method: str, kind: str) -> None:
    """Section 2.5: the schemas are open, so that only this test sees a member that came with a later revision."""
    revision = every.conversation.revision or "2026-07-28"
    known = definitions(revision)
    for item in (await every.result(method))[kind]:
        assert item.keys() <= known[DEFINITIONS[kind]]["properties"].keys()
        if "annotations" in item:
            assert item["annotations"].keys() <= known["ToolAnnotations"]["properties"].keys()


FULL_ECHO = {
    "name": "fixture_echo",
    "title": "Echo",
    "description": "Say it back.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "what to say back"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "annotations": {"title": "Echo it", "readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
}


@pytest.mark.requirement("TOOL-21")
@pytest.mark.parametrize(
    ("revision", "without"),
    [
        ("2024-11-05", {"title", "annotations"}),
        ("2025-03-26", {"title"}),
        ("2025-06-18", set()),
        ("2025-11-25", set()),
        ("2026-07-28", set()),
    ],
)
async def test_a_tool_is_listed_with_all_that_the_revision_knows(pool: Pool, revision: str, without: set[str]) -> None:
    wire = await pool.get(revision)
    (echo,) = [tool for tool in (await wire.result("tools/list"))["tools"] if tool["name"] == "fixture_echo"]
    assert echo == {key: value for key, value in FULL_ECHO.items() if key not in without}


@pytest.mark.requirement("TOOL-21")
@pytest.mark.parametrize(
    ("revision", "listed"),
    [
        ("2024-11-05", set()),
        ("2025-03-26", set()),
        ("2025-06-18", {"object"}),
        ("2025-11-25", {"object"}),
        ("2026-07-28", {"object", "array", "integer"}),
    ],
)
async def test_output_schemas_are_listed_as_far_as_the_revision_has_them(
    pool: Pool, revision: str, listed: set[str]
) -> None:
    """Section 11.3: from 2025-06-18 on with an object at the root, in 2026-07-28 of any kind."""
    wire = await pool.get(revision)
    tools = (await wire.result("tools/list"))["tools"]
    kinds = {tool["outputSchema"].get("type") for tool in tools if "outputSchema" in tool}
    assert kinds - {"null"} == listed


@pytest.mark.requirement("SCHEMA-09", "TOOL-01")
async def test_every_tool_can_be_read_by_every_client(every: Wire) -> None:
    """clients.md 20, section 11.5: a name, a description and an object's schema; one bad tool spoils the whole list."""
    for tool in (await every.result("tools/list"))["tools"]:
        assert tool["inputSchema"]["type"] == "object"
        assert tool["description"]
        assert len(tool["name"]) <= 64


async def test_the_context_is_no_parameter(legacy: Wire) -> None:
    (greet,) = [tool for tool in (await legacy.result("tools/list"))["tools"] if tool["name"] == "fixture_greet"]
    assert greet["inputSchema"]["properties"].keys() == {"name"}
    assert "required" not in greet["inputSchema"]


def nulls(value: Any, path: str = "") -> Iterator[str]:
    """Where a value holds null."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from nulls(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from nulls(item, f"{path}[]")


@pytest.mark.requirement("LIST-03")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        *((method, {}) for method in LISTS),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "fixture://text"}),
        ("prompts/get", {"name": "fixture_exchange"}),
        ("tools/call", {"name": "fixture_echo", "arguments": {"text": "x"}}),
        ("tools/call", {"name": "fixture_nothing"}),
        ("tools/call", {"name": "fixture_refuse", "arguments": {"reason": "x"}}),
    ],
)
async def test_what_is_absent_is_left_out_and_never_null(every: Wire, method: str, params: dict[str, Any]) -> None:
    """clients.md 19 and trap 37: one null in an optional member fails a whole list in real clients."""
    left = {path for path in nulls(await every.result(method, params)) if not path.endswith(("default", "[]"))}
    assert left - {".structuredContent"} == set()
