"""Lists for callers with different scopes, and the number of lists that are made."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.catalogue import lists
from pegboard.plugin import ToolDefinition
from pegboard.types import ANONYMOUS, LOCAL, Caller, Supplied
from tests.host.hosting import Passing, failure, listed, make_host, pages, plugin_of, value

SCOPES: dict[str, list[str]] = {"a": ["read"], "b": ["read", "write"], "c": [], "d": ["write"]}


def kit_of(**scopes: list[str]) -> Toolkit:
    kit = Toolkit("t", prefix=False)
    for name, required in (scopes or SCOPES).items():
        kit.tool(name=name, description="Work.", scopes=required)(lambda: "done")

    @kit.tool
    async def found(context: Context) -> str:
        """List what the caller may use."""
        return "".join(tool.name for tool in await context.tools.list() if tool.name != "found")

    return kit


def ann(*scopes: str, subject: str = "ann") -> Caller:
    return Caller(subject, scopes=frozenset(scopes))


async def names(host: Host, caller: Caller, **fields: Any) -> str:
    return "".join(name for name in await listed(host, caller, **fields) if name != "found")


FOUND: list[tuple[Caller, str]] = [
    (ANONYMOUS, "c"),
    (ann(), "c"),
    (ann("other"), "c"),
    (ann("read"), "ac"),
    (ann("write", "other"), "cd"),
    (ann("read", "write"), "abcd"),
    (Caller(client_id="desk", scopes=frozenset(["read"])), "ac"),
    (Caller(scopes=frozenset(["read", "write"])), "c"),
    (LOCAL, "abcd"),
]


@pytest.mark.parametrize(("middleware", "page_size"), [((), 1), ((Passing(),), 50)], ids=["alone", "middleware"])
async def test_a_caller_without_the_scopes_of_a_tool_does_not_find_it(
    middleware: Any, page_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MAX_CACHED_CALLERS", 2)
    plugins = {"passing": plugin_of(middleware=middleware)}
    engine = Caller(client_id="worker")
    async with make_host(kit_of(), plugins=plugins, page_size=page_size) as host:
        for _ in range(2):
            for caller, expected in FOUND:
                assert await names(host, caller) == expected
                assert {page.private for page in await pages(host, caller)} == {True}
                assert await value(host, "found", caller=caller) == expected
                assert "".join(name for name in SCOPES if host.for_protocols.tool(name, caller)) == expected
            # a caller of the worker protocol may name users in a request, and then finds all tools
            assert await names(host, engine, supplied=Supplied()) == "abcd"
            assert await value(host, "found", caller=engine, supplied=Supplied()) == "abcd"
            assert await names(host, engine) == "c"


async def test_a_call_without_the_scopes_is_refused_with_their_names() -> None:
    async with make_host(kit_of()) as host:
        for caller in (ann(), ann("read"), ann("other")):
            outcome = await failure(host, "b", caller=caller)
            assert outcome.error.message == "This needs a token that allows: read, write."
        for caller in (ann("read", "write", "x"), Caller(trusted=True)):
            assert await value(host, "b", caller=caller) == "done"
        assert (await failure(host, "b", caller=ANONYMOUS)).error.message == "Unknown tool: b"


async def test_callers_share_the_lists_of_what_they_may_use() -> None:
    async with make_host(kit_of()) as host:
        seen: dict[str, set[int]] = {}
        for number in range(100):
            for scopes, expected in (((), "c"), (("read",), "ac"), (("read", "write"), "abcd")):
                caller = ann(*scopes, f"own-{number}", subject=f"user {number}")
                caller = caller._replace(expires_at=float(number), extra={"jti": number})
                (page,) = await pages(host, caller)
                seen.setdefault(expected, set()).add(id(page))
        (of_all,) = await pages(host, LOCAL)
    assert [len(ids) for ids in seen.values()] == [1, 1, 1]
    assert seen["abcd"] == {id(of_all)}


async def test_where_no_tool_requires_scopes_all_callers_share_one_public_list() -> None:
    async with make_host(kit_of(a=[], b=[])) as host:
        (page,) = await pages(host, LOCAL)
        for caller in (ann("read"), ann(), ANONYMOUS):
            assert (await pages(host, caller))[0] is page
        assert not page.private


def first_of(kit: Toolkit) -> ToolDefinition:
    return next(iter(kit.register_tools()))


async def test_tools_with_scopes_may_be_added_and_removed() -> None:
    async with make_host(kit_of(a=[]), page_size=2) as host:
        assert not (await pages(host, ann()))[0].private
        host.catalogue.add(first_of(kit_of(x=["read"])))
        assert [await names(host, caller) for caller in (ann(), ann("read"), LOCAL)] == ["a", "ax", "ax"]
        host.catalogue.add(first_of(kit_of(y=["write"])))
        assert [await names(host, caller) for caller in (ann("read"), ann("write"))] == ["ax", "ay"]
        assert (await pages(host, ann()))[0].private
        host.catalogue.remove("tools", "x", "y")
        assert await names(host, ann("read")) == "a"
        assert not (await pages(host, ann("read")))[0].private
