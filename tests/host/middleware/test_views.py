"""Lists that middleware has a say in: made once for a caller, and made anew when what is listed changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

import pytest

from pegboard import Context, Host, Toolkit
from pegboard.catalogue import filtered_lists
from pegboard.plugin import Gate, Middleware, ProtocolError
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, CallNext, Change, Failure, ItemKind, Listing, Outcome, Tool
from tests.host.hosting import call, failure, make_host, plugin_of, value

ANN, BEN = Caller("ann"), Caller("ben")


def make_kit(*names: str) -> Toolkit:
    kit = Toolkit("x")
    for name in names or ("a", "b", "c", "d"):
        kit.tool(name=name, description="Work.")(lambda: "done")
        kit.resource(f"x://{name}", name=name)(lambda: "text")
        kit.resource(f"x://{name}/{{of}}", name=name)(of)
        kit.prompt(name=name, description="Ask.")(lambda: "text")
    return kit


def of(of: str) -> str:
    return of


async def listed(
    host: Host, caller: Caller = LOCAL, method: str = "tools/list", key: str = "name"
) -> tuple[list[str], list[Listing]]:
    """The names in a list, and its pages."""
    pages: list[Listing] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        page = await host.dispatch(Call(method, {} if cursor is None else {"cursor": cursor}, caller))
        assert isinstance(page, Listing), page
        pages.append(page)
        cursor = page.next_cursor
    return [getattr(item, key) for page in pages for item in page.items], pages


class Editing(Middleware):
    """Makes of a list whatever a test wants, and counts."""

    def __init__(self, edit: Callable[[Listing, Caller], Any]) -> None:
        self.edit = edit
        self.calls: list[Call] = []

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Outcome:
        self.calls.append(call)
        listing = await call_next(call)
        assert isinstance(listing, Listing)
        given: Outcome = self.edit(listing, call.caller)
        return given


def without(*names: str) -> Callable[[Listing, Caller], Listing]:
    return lambda listing, _: Listing("tools", tuple(item for item in listing.items if item.name not in names))


def for_ann_alone(listing: Listing, caller: Caller) -> Listing:
    return listing if caller == ANN else Listing("tools", listing.items[:1])


def host_of(*middleware: Middleware, kit: Toolkit | None = None, **host: Any) -> Host:
    return make_host(kit or make_kit(), plugins={"m": plugin_of(middleware=middleware)}, **host)


async def test_a_list_is_made_of_everything_and_once() -> None:
    editing = Editing(without("x_b"))
    async with host_of(editing, page_size=2) as host:
        names, pages = await listed(host)
        assert names == ["x_a", "x_c", "x_d"]
        assert [len(page.items) for page in pages] == [2, 1]
        again = (await listed(host))[1]
    assert [one is other for one, other in zip(pages, again, strict=True)] == [True, True]
    assert [(one.method, one.params, one.caller, one.request_id) for one in editing.calls] == [
        ("tools/list", {}, LOCAL, None)
    ]


async def test_each_caller_has_a_list_and_those_who_see_the_same_share_it() -> None:
    editing = Editing(for_ann_alone)
    async with host_of(editing) as host:
        anns, bens = await listed(host, ANN), await listed(host, BEN)
        others = await listed(host, ANONYMOUS)
    assert (anns[0], bens[0]) == (["x_a", "x_b", "x_c", "x_d"], ["x_a"])
    assert others[1][0] is bens[1][0]
    assert [page.private for page in (*anns[1], *bens[1])] == [True, True]
    assert [one.caller for one in editing.calls] == [ANN, BEN, ANONYMOUS]


async def test_a_list_may_depend_on_all_that_is_known_of_a_caller_but_when_their_token_ends() -> None:
    def by_token(listing: Listing, caller: Caller) -> Listing:
        seen.append(caller)
        return (
            listing
            if "all" in caller.scopes or (caller.extra or {}).get("roles") == ["all"]
            else for_ann_alone(listing, BEN)
        )

    seen: list[Caller] = []
    callers = [
        Caller("ann", expires_at=1.0),
        Caller("ann", expires_at=2.0),
        Caller("ann", scopes=frozenset(("all",))),
        Caller("ann", extra={"roles": ["all"]}),
        Caller("ann", extra={"roles": []}),
        Caller("ann", extra={"roles": ["all"]}),
    ]
    async with host_of(Editing(by_token)) as host:
        assert [len((await listed(host, caller))[0]) for caller in callers] == [1, 1, 4, 4, 1, 4]
    assert len(seen) == 4
    assert {caller.expires_at for caller in seen} == {None}


async def test_a_change_of_the_catalogue_makes_it_anew_and_keeps_the_pages_that_are_as_they_were() -> None:
    editing = Editing(without("x_b"))
    async with host_of(editing, page_size=2) as host:
        before = (await listed(host))[1]
        host.catalogue.add(new)
        names, after = await listed(host)
        assert names == ["new", "x_a", "x_c", "x_d"]
        host.catalogue.remove("tools", "new")
        assert (await listed(host))[0] == ["x_a", "x_c", "x_d"]
        host.catalogue.add(zoo)
        assert (await listed(host))[1][0].items == before[0].items
    assert len(editing.calls) == 4
    assert after[0] is not before[0]


def new() -> str:
    """Be new."""
    return ""


def zoo() -> str:
    """Come last."""
    return ""


async def test_a_page_that_is_as_it_was_stays_the_same_object() -> None:
    async with host_of(Editing(without("x_b")), page_size=2) as host:
        before = (await listed(host))[1]
        host.catalogue.add(zoo)
        after = (await listed(host))[1]
    assert after[0] is before[0]
    assert after[1] is not before[1]


async def test_a_change_of_another_kind_leaves_it() -> None:
    editing = Editing(without("x_b"))
    async with host_of(editing) as host:
        before = (await listed(host))[1]
        host.emit(Change("prompts"))
        host.emit(Change("resource", "x://a"))
        await listed(host)
        assert len(editing.calls) == 1
        host.emit(Change("tools"))
        after = (await listed(host))[1]
    assert len(editing.calls) == 2
    assert after[0] is before[0]


async def test_entries_may_be_rewritten() -> None:
    def shout(listing: Listing, caller: Caller) -> Listing:
        items = [item._replace(description="Loud.") for item in listing.items if isinstance(item, Tool)]
        return Listing("tools", tuple(reversed(items)))

    async with host_of(Editing(shout)) as host:
        names, (page,) = await listed(host)
    assert names == ["x_a", "x_b", "x_c", "x_d"]
    assert {item.description for item in page.items} == {"Loud."}


async def test_the_outer_one_sees_what_the_inner_one_left() -> None:
    seen: list[int] = []

    def count(listing: Listing, caller: Caller) -> Listing:
        seen.append(len(listing.items))
        return listing

    outer, inner = Editing(count), Editing(without("x_a", "x_b"))
    plugins = {"outer": plugin_of(middleware=[outer]), "inner": plugin_of(middleware=[inner])}
    async with make_host(make_kit(), plugins=plugins, middleware=["outer"]) as host:
        await listed(host)
    assert seen == [2]


async def test_a_tool_that_is_hidden_in_a_list_can_be_called() -> None:
    async with host_of(Editing(without("x_b"))) as host:
        assert await value(host, "x_b") == "done"


def renamed(listing: Listing, caller: Caller) -> Listing:
    return Listing("tools", (listing.items[0]._replace(name="other"),))


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (renamed, "lists 'other', which is not there"),
        (lambda listing, _: Listing("tools", listing.items * 2), "lists 'x_a', which is there twice"),
        (lambda listing, _: Listing("tools", cast(Any, ("x_a",))), "lists str, which does not belong there"),
        (lambda listing, _: None, "returned NoneType for tools/list"),
    ],
    ids=["renamed", "twice", "no tools", "nothing"],
)
async def test_a_list_that_cannot_be_is_an_error_and_nobody_sees_more_than_they_may(
    edit: Any, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    editing = Editing(edit)
    async with host_of(editing) as host:
        outcome = await host.dispatch(Call("tools/list"))
        assert isinstance(outcome, Failure)
        assert outcome.error.message == "Internal error"
        editing.edit = without("x_b")
        assert (await listed(host))[0] == ["x_a", "x_c", "x_d"]
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "the middleware 'm' of plugin 'm' (Editing.on_list_tools)" in line
    assert cause in line


async def test_a_typed_error_is_the_answer() -> None:
    def refuse(listing: Listing, caller: Caller) -> Outcome:
        return Failure(ProtocolError(-32001, "Not now."))

    async with host_of(Editing(refuse)) as host:
        outcome = await host.dispatch(Call("tools/list"))
    assert isinstance(outcome, Failure)
    assert outcome.error.message == "Not now."


async def test_as_many_lists_are_kept_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filtered_lists, "MAX_CACHED_CALLERS", 2)
    editing = Editing(for_ann_alone)
    async with host_of(editing) as host:
        for caller in (ANN, BEN, LOCAL, BEN, LOCAL, ANN):
            await listed(host, caller)
    assert [one.caller for one in editing.calls] == [ANN, BEN, LOCAL, ANN]


async def test_tools_see_the_list_of_their_caller() -> None:
    kit = make_kit()

    @kit.tool
    async def look(context: Context) -> list[str]:
        """Look."""
        return [tool.name for tool in await context.tools.list()]

    async with host_of(Editing(for_ann_alone), kit=kit) as host:
        assert await value(host, "x_look", caller=BEN) == ["x_a"]
        assert await value(host, "x_look", caller=ANN) == ["x_a", "x_b", "x_c", "x_d", "x_look"]


# --- the gate


class ForAnn(Gate):
    """Hides everything called b from everybody but Ann."""

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return caller == ANN or name not in ("x_b", "x://b", "x://b/{of}", "x://b/1")


LISTS = {
    "tools/list": ("name", "x_b"),
    "resources/list": ("uri", "x://b"),
    "resources/templates/list": ("uri_template", "x://b/{of}"),
    "prompts/list": ("name", "x_b"),
}


@pytest.mark.parametrize("method", LISTS)
async def test_a_gate_hides_from_every_list(method: str) -> None:
    key, hidden = LISTS[method]
    async with host_of(ForAnn()) as host:
        assert hidden in (await listed(host, ANN, method, key))[0]
        names = (await listed(host, BEN, method, key))[0]
    assert hidden not in names
    assert len(names) == 3


@pytest.mark.parametrize(
    ("method", "params", "unknown"),
    [
        ("tools/call", {"name": "x_b"}, {"name": "x_q"}),
        ("resources/read", {"uri": "x://b"}, {"uri": "x://q"}),
        ("resources/read", {"uri": "x://b/1"}, {"uri": "y://q"}),
        ("prompts/get", {"name": "x_b"}, {"name": "x_q"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "x_b"}},
            {"ref": {"type": "ref/prompt", "name": "x_q"}},
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "x://b/{of}"}},
            {"ref": {"type": "ref/resource", "uri": "x://q/{of}"}},
        ),
    ],
)
async def test_a_gate_refuses_as_if_there_were_nothing(
    method: str, params: dict[str, Any], unknown: dict[str, Any]
) -> None:
    argument = {"argument": {"name": "of", "value": ""}} if method == "completion/complete" else {}
    async with host_of(ForAnn()) as host:
        hidden, missing = [await host.dispatch(Call(method, {**one, **argument}, BEN)) for one in (params, unknown)]
        for_ann = await host.dispatch(Call(method, {**params, **argument}, ANN))
    assert isinstance(hidden, Failure)
    assert isinstance(missing, Failure)
    assert type(hidden.error) is type(missing.error)
    text = missing.error.message.replace("x_q", "x_b").replace("x://q", "x://b")
    assert hidden.error.message == text
    assert not isinstance(for_ann, Failure) or "Unknown argument" in for_ann.error.message


async def test_a_gate_hides_from_protocols_too(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Gate):
        def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
            raise KeyError(name)

    async with host_of(ForAnn()) as host:
        assert [host.tool("x_b", caller) is not None for caller in (ANN, BEN)] == [True, False]
        assert host.tool("x_a", BEN) is not None
    async with host_of(Broken()) as host:
        assert host.tool("x_a", ANN) is None
        assert (await failure(host, "x_a", caller=ANN)).error.message == "Internal error"
    assert "(Broken.on_call_tool) raised KeyError" in caplog.text


async def test_a_gate_that_allows_stands_in_nobodys_way() -> None:
    async with host_of(Gate()) as host:
        assert (await call(host, "x_b")) is not None
        assert (await failure(host, "x_q")).error.message == "Unknown tool: x_q"
        assert len((await listed(host))[0]) == 4
