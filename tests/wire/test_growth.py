"""What a server offers comes and goes while it runs: lists, cursors, capabilities. Sections 2.4 and 7, trap 49."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.pool import CONFIG, GROWING, make_growing_site
from tests.support.schemas import LEGACY, MODERN
from tests.support.wire import Wire

METHODS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
EXAMPLES = {"tools": "late", "resources": "x://late", "prompts": "late"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_growing_site(tmp_path_factory.mktemp("growing"))


@pytest_asyncio.fixture
async def wire(site: Path) -> AsyncIterator[Wire]:
    """A host that may grow, two items on a page."""
    async with Wire(config=f"{CONFIG}{GROWING}page_size = 2\n", site=site) as wire:
        yield wire


async def listed(wire: Wire, kind: str, *, modern: bool) -> list[str]:
    """All the names of a list."""
    names: list[str] = []
    params: dict[str, Any] | None = None
    while True:
        page = await wire.result(METHODS[kind], params, modern=modern)
        names += [item["uri" if kind == "resources" else "name"] for item in page[kind]]
        if "nextCursor" not in page:
            return names
        params = {"cursor": page["nextCursor"]}


async def grow(wire: Wire, kind: str, *names: str, **more: str) -> None:
    found = await wire.call("grow", kind=kind, names=names, modern=True, **more)
    assert found["structuredContent"] == list(names)


async def shrink(wire: Wire, kind: str, *names: str) -> None:
    assert (await wire.call("shrink", kind=kind, names=names, modern=True))["isError"] is False


@pytest.mark.parametrize("modern", [True, False])
async def test_a_list_shows_what_there_is_now_though_its_pages_are_kept(wire: Wire, modern: bool) -> None:
    if not modern:
        await wire.initialize()
    assert await listed(wire, "tools", modern=modern) == ["grow", "shrink"]
    await grow(wire, "tools", "c", "a", "z")
    assert await listed(wire, "tools", modern=modern) == ["a", "c", "grow", "shrink", "z"]
    assert (await wire.call("z", modern=modern))["content"][0]["text"] == "z"
    await shrink(wire, "tools", "a", "z")
    assert await listed(wire, "tools", modern=modern) == ["c", "grow", "shrink"]
    gone = await wire.request("tools/call", {"name": "z", "arguments": {}}, modern=modern)
    assert gone["error"]["code"] == -32602


@pytest.mark.requirement("LIST-01")
async def test_a_cursor_goes_on_behind_what_is_gone(wire: Wire) -> None:
    """Section 7 and trap 50: it holds all that is needed."""
    await grow(wire, "tools", "a", "b", "c", "d")
    page = await wire.result("tools/list", modern=True)
    assert [tool["name"] for tool in page["tools"]] == ["a", "b"]
    await shrink(wire, "tools", "b", "c")
    page = await wire.result("tools/list", {"cursor": page["nextCursor"]}, modern=True)
    assert [tool["name"] for tool in page["tools"]] == ["d", "grow"]


@pytest.mark.requirement("ERA-08", "ERA-09")
@pytest.mark.parametrize("kind", ["resources", "prompts"])
async def test_a_capability_comes_with_the_first_of_its_kind(wire: Wire, kind: str) -> None:
    """Section 2.4: declared is what is served, and what is not declared is no method."""
    name = EXAMPLES[kind]
    discovered = await wire.result("server/discover", modern=True)
    assert kind not in discovered["capabilities"]
    assert (await wire.error(METHODS[kind], modern=True))["code"] == -32601
    await grow(wire, kind, name)
    discovered = await wire.result("server/discover", modern=True)
    assert kind in discovered["capabilities"]
    assert await listed(wire, kind, modern=True) == [name]
    await shrink(wire, kind, name)
    assert await listed(wire, kind, modern=True) == []
    assert kind in (await wire.result("server/discover", modern=True))["capabilities"]


@pytest.mark.requirement("ERA-07", "ERA-08", "PROMPT-07")
@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("kind", ["resources", "prompts"])
async def test_a_session_has_what_its_handshake_advertised_and_no_more(
    wire: Wire, site: Path, kind: str, revision: str
) -> None:
    """Section 2.4: the session was told that there is none of it."""
    handshake = await wire.initialize(revision)
    assert kind not in handshake["capabilities"]
    await grow(wire, kind, EXAMPLES[kind])
    assert (await wire.error(METHODS[kind], modern=False))["code"] == -32601
    assert await listed(wire, kind, modern=True) == [EXAMPLES[kind]]


@pytest.mark.requirement("ERA-07")
@pytest.mark.parametrize("kind", ["resources", "prompts"])
async def test_a_session_that_begins_later_has_what_came(wire: Wire, kind: str) -> None:
    await grow(wire, kind, EXAMPLES[kind])
    assert kind in (await wire.initialize())["capabilities"]
    assert await listed(wire, kind, modern=False) == [EXAMPLES[kind]]
    await shrink(wire, kind, EXAMPLES[kind])
    assert await listed(wire, kind, modern=False) == []


@pytest.mark.requirement("LIST-08")
async def test_all_pages_of_a_list_may_be_kept_by_the_same_people(wire: Wire) -> None:
    """Section 7, trap 49: who may keep a list does not change between its pages; here everybody sees the same."""
    await grow(wire, "tools", "a", "b", "c")
    scopes = set()
    cursor: str | None = None
    while True:
        page = await wire.result("tools/list", None if cursor is None else {"cursor": cursor}, modern=True)
        scopes.add(page["cacheScope"])
        if (cursor := page.get("nextCursor")) is None:
            break
    assert scopes == {"public"}


@pytest.mark.requirement("LIST-08", "LIST-09")
async def test_a_list_of_which_others_see_less_is_private_on_every_page(wire: Wire) -> None:
    await grow(wire, "tools", "z", scope="x")
    await grow(wire, "prompts", "p")
    first = await wire.result("tools/list", modern=True)
    second = await wire.result("tools/list", {"cursor": first["nextCursor"]}, modern=True)
    assert {first["cacheScope"], second["cacheScope"]} == {"private"}
    assert (await wire.result("prompts/list", modern=True))["cacheScope"] == "public"
    await shrink(wire, "tools", "z")
    assert (await wire.result("tools/list", modern=True))["cacheScope"] == "public"


@pytest.mark.parametrize("revision", [LEGACY[-1], MODERN[-1]])
async def test_a_cursor_of_any_name_is_a_page(wire: Wire, revision: str) -> None:
    """Section 7: whether there is such a name is nobody's business."""
    if revision in LEGACY:
        await wire.initialize(revision)
    for name in ("a", "grow", "never there", "\u00e9", "\x00", "zz"):
        cursor = base64.urlsafe_b64encode(f"tools:{name}".encode()).decode()
        page = await wire.result("tools/list", {"cursor": cursor}, modern=revision in MODERN)
        assert [tool["name"] for tool in page["tools"]] == [one for one in ("grow", "shrink") if one > name]


TTL = """
[plugins.mcp]
list_ttl_ms = 10
tools_ttl_ms = 0
prompts_ttl_ms = 30
"""


@pytest.mark.requirement("LIST-05")
async def test_each_kind_of_list_may_be_kept_for_as_long_as_the_operator_says(site: Path) -> None:
    """Section 7, caching."""
    async with Wire(config=CONFIG + GROWING + TTL, site=site) as wire:
        await grow(wire, "resources", "x://a")
        await grow(wire, "prompts", "a")
        methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover")
        found = [(await wire.result(method, modern=True))["ttlMs"] for method in methods]
        assert found == [0, 10, 10, 30, 10]
        read = await wire.result("resources/read", {"uri": "x://a"}, modern=True)
        assert (read["ttlMs"], read["cacheScope"]) == (0, "private")


@pytest.mark.requirement("LIST-11")
async def test_the_content_of_a_resource_may_be_kept_where_its_author_says_so(wire: Wire) -> None:
    await grow(wire, "resources", "x://kept")
    read = await wire.result("resources/read", {"uri": "x://kept"}, modern=True)
    assert (read["ttlMs"], read["cacheScope"]) == (5000, "public")
    await wire.initialize()
    assert set(await wire.result("resources/read", {"uri": "x://kept"}, modern=False)) == {"contents"}
