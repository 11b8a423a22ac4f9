"""Lists that middleware edits: made once for each caller, and made anew when the catalogue changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

import pytest

from pegboard import Context, Host, ResourceContents, ResourceResult, Toolkit
from pegboard.catalogue import lists
from pegboard.plugin import Gate, Middleware, ProtocolError, ToolDefinition
from pegboard.types import ANONYMOUS, LOCAL, Call, Caller, CallNext, Change, Failure, ItemKind, Listing, RawResult
from tests.host.hosting import failure, got, listed, make_host, pages, plugin_of, value, work

ANN, BEN = Caller("ann"), Caller("ben")


def make_kit() -> Toolkit:
    kit = Toolkit("x")
    for name in "abcd":
        kit.tool(name=name, description="Work.")(lambda: "done")
        kit.resource(f"x://{name}", name=name)(lambda: "text")
        kit.resource(f"x://{name}/{{of}}", name=name)(of)
        kit.prompt(name=name, description="Ask.")(lambda: "text")
    return kit


def of(of: str) -> str:
    return of


class Editing(Middleware):
    """Edits lists as a test says, and records the calls."""

    def __init__(self, edit: Callable[[Listing, Caller], Any]) -> None:
        self.edit = edit
        self.calls: list[Call] = []

    async def on_list_tools(self, call: Call, call_next: CallNext) -> Any:
        self.calls.append(call)
        listing = await call_next(call)
        assert isinstance(listing, Listing)
        return self.edit(listing, call.caller)


def without_b(listing: Listing, caller: Caller) -> Listing:
    return Listing("tools", tuple(item for item in listing.items if item.name != "x_b"))


def for_ann_alone(listing: Listing, caller: Caller) -> Listing:
    return listing if caller == ANN else Listing("tools", listing.items[:1])


def hosting(*middleware: Middleware, kit: Toolkit | None = None, **host: Any) -> Host:
    return make_host(kit or make_kit(), plugins={"m": plugin_of(middleware=middleware)}, **host)


async def test_a_list_is_edited_whole_and_once() -> None:
    editing = Editing(without_b)
    async with hosting(editing, page_size=2) as host:
        first = await pages(host)
        assert [[item.name for item in page.items] for page in first] == [["x_a", "x_c"], ["x_d"]]
        again = await pages(host)
        assert await value(host, "x_b") == "done"  # a list hides; only a gate refuses
    assert [page is other for page, other in zip(first, again, strict=True)] == [True, True]
    (request,) = editing.calls
    assert (request.method, request.params, request.caller, request.request_id) == ("tools/list", {}, LOCAL, None)


async def test_each_caller_has_a_private_list_and_equal_pages_are_shared() -> None:
    editing = Editing(for_ann_alone)
    kit = make_kit()

    @kit.tool
    async def look(context: Context) -> list[str]:
        """Look."""
        return [tool.name for tool in await context.tools.list()]

    async with hosting(editing, kit=kit) as host:
        assert await listed(host, ANN) == ["x_a", "x_b", "x_c", "x_d", "x_look"]
        assert await listed(host, BEN) == ["x_a"]
        (of_ben,), (of_a_stranger,) = await pages(host, BEN), await pages(host, ANONYMOUS)
        assert await value(host, "x_look", caller=BEN) == ["x_a"]
    assert of_ben is of_a_stranger
    assert of_ben.private
    assert [call.caller for call in editing.calls] == [ANN, BEN, ANONYMOUS]


async def test_a_list_depends_on_all_that_is_known_of_a_caller_except_the_end_of_the_token() -> None:
    def by_token(listing: Listing, caller: Caller) -> Listing:
        seen.append(caller)
        known = "all" in caller.scopes or (caller.extra or {}).get("roles") == ["all"]
        return listing if known else for_ann_alone(listing, BEN)

    seen: list[Caller] = []
    callers = [
        Caller("ann", expires_at=1.0),
        Caller("ann", expires_at=2.0),
        Caller("ann", scopes=frozenset(("all",))),
        Caller("ann", extra={"roles": ["all"]}),
        Caller("ann", extra={"roles": []}),
        Caller("ann", extra={"roles": ["all"]}),
    ]
    async with hosting(Editing(by_token)) as host:
        assert [len(await listed(host, caller)) for caller in callers] == [1, 1, 4, 4, 1, 4]
    assert len(seen) == 4
    assert {caller.expires_at for caller in seen} == {None}


async def test_a_change_of_the_catalogue_makes_a_list_anew() -> None:
    editing = Editing(without_b)
    async with hosting(editing, page_size=2) as host:
        await pages(host)
        host.emit(Change("prompts"))
        host.emit(Change("resource", "x://a"))
        await pages(host)
        assert len(editing.calls) == 1
        host.catalogue.add(ToolDefinition(work, name="zoo"))
        assert await listed(host) == ["x_a", "x_c", "x_d", "zoo"]
        host.catalogue.add(ToolDefinition(work, name="new"))
        assert await listed(host) == ["new", "x_a", "x_c", "x_d", "zoo"]
        host.catalogue.remove("tools", "new", "zoo")
        assert await listed(host) == ["x_a", "x_c", "x_d"]
    assert len(editing.calls) == 4


@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        (
            lambda listing, _: Listing("tools", (listing.items[0]._replace(name="z"),)),
            "lists 'z', which does not exist",
        ),
        (lambda listing, _: Listing("tools", listing.items * 2), "lists 'x_a' twice"),
        (lambda listing, _: Listing("tools", cast(Any, ("x_a",))), "returned a list with an item of type str"),
        (lambda listing, _: None, "returned NoneType for tools/list"),
    ],
    ids=["renamed", "twice", "no tools", "nothing"],
)
async def test_invalid_lists_are_errors_and_not_kept(edit: Any, cause: str, caplog: pytest.LogCaptureFixture) -> None:
    editing = Editing(edit)
    async with hosting(editing) as host:
        assert (await got(Failure, host, "tools/list")).error.message == "Internal error"
        editing.edit = without_b
        assert await listed(host) == ["x_a", "x_c", "x_d"]
        editing.edit = lambda listing, caller: Failure(ProtocolError(-32001, "Not now."))
        assert (await got(Failure, host, "tools/list", caller=ANN)).error.message == "Not now."
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "the middleware 'm' of plugin 'm' (Editing.on_list_tools)" in line
    assert cause in line


async def test_the_number_of_kept_lists_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "MAX_CACHED_CALLERS", 2)
    editing = Editing(for_ann_alone)
    async with hosting(editing) as host:
        for caller in (ANN, BEN, LOCAL, BEN, LOCAL, ANN):
            await listed(host, caller)
    assert [call.caller for call in editing.calls] == [ANN, BEN, LOCAL, ANN]


class ForAnn(Gate):
    """Hides every item called b from all callers but Ann."""

    def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
        return caller == ANN or name not in ("x_b", "x://b", "x://b/{of}", "x://b/1")


@pytest.mark.parametrize(
    ("method", "hidden"),
    [
        ("tools/list", "x_b"),
        ("resources/list", "x://b"),
        ("resources/templates/list", "x://b/{of}"),
        ("prompts/list", "x_b"),
    ],
)
async def test_a_gate_hides_from_every_list(method: str, hidden: str) -> None:
    async with hosting(ForAnn()) as host:
        of_ann, of_ben = [await listed(host, caller, method) for caller in (ANN, BEN)]
    assert hidden in of_ann
    assert of_ben == [name for name in of_ann if name != hidden]


ARGUMENT = {"argument": {"name": "of", "value": ""}}


@pytest.mark.parametrize(
    ("method", "hidden", "missing"),
    [
        ("tools/call", {"name": "x_b"}, {"name": "x_q"}),
        ("resources/read", {"uri": "x://b/1"}, {"uri": "y://q"}),
        ("prompts/get", {"name": "x_b"}, {"name": "x_q"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "x://b/{of}"}, **ARGUMENT},
            {"ref": {"type": "ref/resource", "uri": "x://q/{of}"}, **ARGUMENT},
        ),
    ],
)
async def test_a_gate_refuses_as_if_there_were_nothing(method: str, hidden: Any, missing: Any) -> None:
    async with hosting(ForAnn()) as host:
        of_hidden, of_missing = [await got(Failure, host, method, caller=BEN, **params) for params in (hidden, missing)]
        for_ann = await host.dispatch(Call(method, hidden, ANN))
    assert type(of_hidden.error) is type(of_missing.error)
    expected = of_missing.error.message.replace("x_q", "x_b").replace("x://q", "x://b")
    assert of_hidden.error.message == expected
    assert not isinstance(for_ann, Failure) or "Unknown argument" in for_ann.error.message


async def test_a_gate_hides_from_protocols_and_one_that_fails_hides_all(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Gate):
        def allows(self, kind: ItemKind, name: str, caller: Caller) -> bool:
            raise KeyError(name)

    async with hosting(Gate(), ForAnn()) as host:
        assert [host.for_protocols.tool("x_b", caller) is not None for caller in (ANN, BEN)] == [True, False]
        assert host.for_protocols.tool("x_a", BEN) is not None
        assert await value(host, "x_a", caller=BEN) == "done"
    async with hosting(Broken()) as host:
        assert host.for_protocols.tool("x_a", ANN) is None
        assert (await failure(host, "x_a", caller=ANN)).error.message == "Internal error"
    assert "(Broken.on_call_tool) raised KeyError" in caplog.text


@pytest.mark.requirement("LIST-09")
@pytest.mark.parametrize(("gates", "scope"), [([], "public"), ([Gate()], "private")])
async def test_what_a_gate_may_hide_is_never_cached_for_all(gates: list[Middleware], scope: str) -> None:
    kit = Toolkit("x")
    kit.resource("x://own")(lambda: ResourceResult((ResourceContents("x://own", ""),), public=True))
    kit.resource("x://raw")(lambda: RawResult({"contents": [], "cacheScope": "public"}))
    async with hosting(*gates, kit=kit) as host:
        own = await got(ResourceResult, host, "resources/read", caller=ANN, uri="x://own")
        raw = await got(RawResult, host, "resources/read", caller=ANN, uri="x://raw")
    assert (own.public, raw.value["cacheScope"]) == (scope == "public", scope)
