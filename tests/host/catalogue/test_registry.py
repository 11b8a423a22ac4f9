"""Tools, resources and prompts that plugins add, update and remove while the host runs, also in threads."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard import (
    Context,
    Host,
    NotFoundError,
    PluginConfig,
    PromptResult,
    ResourceResult,
    ToolDefinitionError,
    Toolkit,
    ToolResult,
)
from pegboard.errors import ToolInputSchemaError
from pegboard.plugin import (
    Catalogue,
    Plugin,
    PluginContext,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
    hookimpl,
)
from pegboard.types import Call, CallNext, Change, Failure, ItemKind, Listing, Outcome
from tests.host.hosting import WAIT, failure, got, listed, make_host, pages, plugin_of, until, value, work


def other_work() -> str:
    """Do some other work."""
    return "done otherwise"


def named(name: str, function: Callable[..., Any] = work) -> ToolDefinition:
    return ToolDefinition(function, name=name)


GROWN = plugin_of(tools=[named("first")])


KINDS: dict[ItemKind, tuple[Callable[..., Any], str, Call, type[Any]]] = {
    "tools": (ToolDefinition, "work", Call("tools/call", {"name": "work"}), ToolResult),
    "resources": (
        lambda function, **named: ResourceDefinition("x://work", function, **named),
        "x://work",
        Call("resources/read", {"uri": "x://work"}),
        ResourceResult,
    ),
    "prompts": (PromptDefinition, "work", Call("prompts/get", {"name": "work"}), PromptResult),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_item_is_added_updated_and_removed(kind: ItemKind) -> None:
    define, name, use, result = KINDS[kind]
    async with make_host() as host:
        for change in (host.catalogue.update, lambda definition: host.catalogue.remove(kind, name)):
            with pytest.raises(ToolDefinitionError, match=f"there is no {kind[:-1]} '{name}' of plugin 'program'"):
                change(define(work))
        assert host.catalogue.add(define(work)) == (name,)
        first = await got(result, host, use.method, **use.params)
        assert host.catalogue.update(define(other_work, name="work")) == (name,)
        assert await got(result, host, use.method, **use.params) != first
        with pytest.raises(ToolDefinitionError, match="'gone'"):  # all of them, or none
            host.catalogue.remove(kind, name, "gone")
        assert await listed(host, method=f"{kind}/list") == [name]
        host.catalogue.remove(kind, name)
        assert await listed(host, method=f"{kind}/list") == []
        gone = await got(Failure, host, use.method, **use.params)
        assert isinstance(gone.error, NotFoundError)


async def test_pages_of_schemas_that_are_equal_but_not_the_same_are_different() -> None:
    async with make_host() as host:
        for default in (1, True):

            def numbered(number: int = default) -> str:
                """Take a number."""
                return ""

            host.catalogue.add(named("work", numbered))
            (page,) = await pages(host)
            (item,) = page.items
            assert item.input_schema["properties"]["number"]["default"] is default  # type: ignore[union-attr]
            host.catalogue.remove("tools", "work")


async def test_a_toolkits_tools_carry_its_name_and_have_its_settings() -> None:
    class Config(PluginConfig):
        size: int = 3

    def seen(context: Context) -> int:
        """Return a setting."""
        size: int = context.config.size
        return size

    async with make_host(Toolkit("my_kit", config=Config), tool_names="pascal") as host:
        catalogue = host.report.plugins[0].context.catalogue
        assert catalogue.add(seen) == ("MyKit_Seen",)
        assert await value(host, "MyKit_Seen") == 3
        assert host.assembly.tools["MyKit_Seen"].tool.owner == "my_kit"
        catalogue.remove("tools", "seen")
        catalogue.add(seen, named("MyKit_Seen"))
        catalogue.remove("tools", "MyKit_Seen")  # a name on the wire comes before a plugin's own
        assert len(await listed(host)) == 1


async def test_a_plugin_cannot_change_what_another_brought_or_add_a_contested_name() -> None:
    async with make_host(Toolkit("grown"), plugins={"grown": GROWN}) as host:
        before = host.assembly
        own = host.catalogue
        (kits,) = (plugin.context.catalogue for plugin in host.report.plugins if plugin.origin.kind == "toolkit")
        for change in (own.add, own.update, lambda definition: own.remove("tools", definition.name)):
            with pytest.raises(ToolDefinitionError, match=r"^tool 'first' .* from plugin 'grown'"):
                change(named("first"))
        with pytest.raises(ToolDefinitionError, match="from plugin 'grown'"):  # not by the toolkit of that name
            kits.remove("tools", "first")
        assert host.assembly is before
    async with make_host(plugins={"a": GROWN, "b": GROWN}) as host:
        with pytest.raises(ToolDefinitionError, match="tool 'first' is claimed by two other plugins"):
            host.catalogue.add(named("first"))
        assert await listed(host) == []


def undescribed() -> str:
    return "x"


def untyped(x) -> str:  # type: ignore[no-untyped-def] # noqa: ANN001 - the case under test
    """Take anything."""
    return "x"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (named("work"), "tool 'work' exists already, from plugin 'program'; use update to replace it"),
        (untyped, f"tool 'untyped' ({__file__}:{untyped.__code__.co_firstlineno}): parameter 'x' has no type"),
        (ToolDefinition(undescribed), "it has no description"),
        (5, "5 must be a definition or a function"),
    ],
)
async def test_an_invalid_addition_raises_and_adds_nothing(definition: Any, message: str) -> None:
    received: list[Change] = []
    async with make_host() as host:
        host.catalogue.add(work)
        before = host.assembly
        host.watch(received.append)
        with pytest.raises(ToolDefinitionError) as caught:
            host.catalogue.add(named("fine"), definition)
        assert message in str(caught.value)
        assert isinstance(caught.value, ToolInputSchemaError) == (definition is untyped)
        with pytest.raises(ToolDefinitionError, match="unknown kind 'tool'; there are: prompts, resources, tools"):
            host.catalogue.remove("tool", "work")  # type: ignore[arg-type]
        assert host.assembly is before
    assert received == []


async def test_a_disabled_tool_is_not_served_and_listeners_are_not_called() -> None:
    received: list[Change] = []
    async with make_host(disabled_tools=["bad_*"]) as host:
        host.watch(received.append)
        for change in (host.catalogue.add, host.catalogue.update):
            assert change(named("bad_one")) == ("bad_one",)
            assert await listed(host) == []
            (unserved,) = host.assembly.unserved
            assert (unserved.name, unserved.owner) == ("bad_one", "program")
            assert "disabled by 'bad_*'" in unserved.reason
        host.catalogue.remove("tools", "bad_one")
        assert host.assembly.unserved == ()
    assert received == []


async def test_additions_before_the_start_are_served_from_the_start() -> None:
    host = make_host()
    definitions = work, undescribed, ResourceDefinition("x://a", work), PromptDefinition(work)
    assert host.catalogue.add(*definitions) == ("work", "undescribed", "x://a", "work")
    for change in (lambda: host.catalogue.update(named("work")), lambda: host.catalogue.remove("tools", "work")):
        with pytest.raises(ToolDefinitionError, match="the host has not started"):
            change()
    async with host:
        assert await value(host, "work") == "done"
        assert await listed(host, method="resources/list") == ["x://a"]
        assert await listed(host, method="prompts/list") == ["work"]
        (problem,) = host.problems
        assert "tool 'undescribed'" in str(problem)


async def test_a_plugin_may_add_in_a_hook_and_in_its_lifespan_and_nothing_outlives_the_host() -> None:
    catalogues: list[Catalogue] = []

    class Growing(Plugin):
        @hookimpl
        def register_tools(self, context: PluginContext) -> list[ToolDefinition]:
            catalogues.append(context.catalogue)
            context.catalogue.add(named("early"))
            return [named("first")]

    starting = Toolkit("starting")

    @starting.lifespan
    async def live(config: None) -> AsyncIterator[None]:
        assert catalogues[-1].add(named("late")) == ("late",)
        yield

    host = make_host(starting, plugins={"growing": Growing})
    async with host:
        catalogues[0].add(named("second"))
        assert await listed(host) == ["early", "first", "late", "second"]
    async with host:
        assert await listed(host) == ["early", "first", "late"]
        with pytest.raises(ToolDefinitionError, match="is not enabled in this host"):
            catalogues[0].add(named("second"))


TOOLS = Change("tools")


async def test_a_change_is_announced_once_for_each_kind_when_it_is_visible() -> None:
    received: list[tuple[str, int, int]] = []
    async with make_host() as host:
        assert [host.for_protocols.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, False, False]
        host.watch(lambda change: received.append((change.kind, len(host.assembly.tools), len(host.assembly.prompts))))
        host.catalogue.add(PromptDefinition(work), named("a"), named("b"))
        host.catalogue.remove("prompts", "work")
        host.catalogue.add()
        assert received == [("tools", 2, 1), ("prompts", 2, 1), ("prompts", 2, 0)]
        assert [host.for_protocols.offers(kind) for kind in ("tools", "resources", "prompts")] == [True, False, True]


async def test_a_listener_that_stops_changes_more_or_raises_affects_no_other(caplog: pytest.LogCaptureFixture) -> None:
    received: list[Change] = []

    def broken(change: Change) -> None:
        raise ValueError("broken")

    def listener(change: Change) -> None:
        stop()
        stop()
        host.catalogue.add(PromptDefinition(work))

    host = make_host()
    host.emit(TOOLS)  # not started
    async with host:
        host.watch(received.append)
        host.watch(broken)
        stop = host.watch(listener)
        host.catalogue.add(work)
        assert await listed(host, method="prompts/list") == ["work"]
    host.emit(TOOLS)  # stopped
    assert received == [TOOLS, Change("prompts")]
    assert "ValueError: broken" in caplog.text


@pytest.mark.parametrize("held", ["function", "middleware"])
async def test_a_call_in_flight_ends_as_it_began(held: str) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def hold(call: Call, call_next: CallNext) -> Outcome:
        if held == "middleware":
            began.set()
            await go.wait()
        return await call_next(call)

    async def slow() -> str:
        """Wait."""
        began.set()
        await go.wait()
        return "the first"

    async with make_host(plugins={"hold": plugin_of(middleware=[hold])}) as host:
        host.catalogue.add(slow)
        task = asyncio.create_task(value(host, "slow"))
        await began.wait()
        if held == "function":
            host.catalogue.update(named("slow", other_work))
        host.catalogue.remove("tools", "slow")
        go.set()
        assert await task == "the first"
        assert isinstance((await failure(host, "slow")).error, NotFoundError)


class Heavy:
    def __init__(self, host: Host) -> None:
        self.host = host

    def __call__(self, context: Context) -> str:
        """Go, and leave another."""
        self.host.catalogue.remove("tools", context.tool)
        self.host.catalogue.add(named("after"))
        return "done"


class HeavyAsync(Heavy):
    async def __call__(self, context: Context) -> str:  # type: ignore[override]
        """Go, and leave another."""
        return super().__call__(context)


@pytest.mark.parametrize("kind", [Heavy, HeavyAsync])
async def test_a_tool_may_remove_itself_and_leaves_nothing_behind(kind: type[Heavy]) -> None:
    async with make_host(threads=1) as host:
        heavy = kind(host)
        gone = weakref.ref(heavy)
        host.catalogue.add(named("once", heavy))
        assert await value(host, "once") == "done"
        assert await listed(host) == ["after"]
        del heavy
        assert await value(host, "after") == "done"  # a thread drops a function when it starts the next one
        gc.collect()
        assert gone() is None


THREADS, ROUNDS = 4, 15


def change_for_a_while(host: Host, number: int, failures: list[BaseException]) -> None:
    try:
        for turn in range(ROUNDS):
            name = f"t{number}_{turn}"
            host.catalogue.add(named(name), named(f"{name}_gone"))
            host.catalogue.update(named(name, other_work))
            host.catalogue.remove("tools", f"{name}_gone")
            try:
                host.catalogue.add(named(f"shared_{turn}"))  # of several threads, one can
            except ToolDefinitionError as error:
                failures.append(error)
    except BaseException as error:  # noqa: BLE001 - the test looks at it
        failures.append(error)


async def all_pages(host: Host, second: Host | None = None) -> list[str]:
    """Return all names that a host lists. A second host may list the pages after the first."""
    names: list[str] = []
    params: dict[str, Any] = {}
    while True:
        outcome = await got(Listing, host, "tools/list", **params)
        names += [item.name for item in outcome.items]
        if outcome.next_cursor is None:
            return names
        params, host = {"cursor": outcome.next_cursor}, second or host
        await asyncio.sleep(0)


async def test_threads_change_the_catalogue_while_it_is_read_and_called() -> None:
    failures: list[BaseException] = []
    received: list[tuple[Change, int]] = []
    always = [f"always{number}" for number in range(10)]
    async with make_host(page_size=3) as host:
        host.catalogue.add(*map(named, always))
        host.watch(lambda change: received.append((change, threading.get_ident())))
        threads = [threading.Thread(target=change_for_a_while, args=(host, n, failures)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            names = await all_pages(host)
            assert names == sorted(set(names))
            assert set(always) <= set(names)
            assert await value(host, "always3") == "done"
        await until(lambda: len(received) == THREADS * ROUNDS * 3 + ROUNDS)
        refused = [error for error in failures if "exists already" in str(error)]
        assert len(refused) == len(failures) == (THREADS - 1) * ROUNDS
        added = [f"t{n}_{turn}" for n in range(THREADS) for turn in range(ROUNDS)]
        expected = sorted([*always, *added, *(f"shared_{turn}" for turn in range(ROUNDS))])
        assert await all_pages(host) == list(host.assembly.tools) == expected
        assert [bound.name for bound in host.assembly.tools.values()] == list(host.assembly.tools)
    assert set(received) == {(TOOLS, threading.get_ident())}  # listeners run on the event loop


async def test_a_definition_that_is_slow_to_compile_does_not_block_others() -> None:
    entered, go = threading.Event(), threading.Event()

    def slow(config: Any) -> bool:
        entered.set()
        return go.wait(WAIT)

    async with make_host() as host:
        adding = asyncio.create_task(asyncio.to_thread(host.catalogue.add, named("slow")._replace(enabled=slow)))
        await asyncio.to_thread(entered.wait, WAIT)
        host.catalogue.add(named("quick"))
        assert await listed(host) == ["quick"]
        go.set()
        await adding
        assert await listed(host) == ["quick", "slow"]


NAMES = st.sets(st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,6}", fullmatch=True), min_size=1, max_size=12)


@pytest.mark.requirement("LIST-01")
@settings(max_examples=25)
@given(before=NAMES, after=NAMES, size=st.integers(1, 5))
def test_readers_miss_nothing_that_stays_and_read_nothing_twice(before: set[str], after: set[str], size: int) -> None:
    """The list may change between two pages, and another host may serve the second page."""
    first, second = make_host(page_size=size), make_host(page_size=size)
    for host, names in ((first, before), (second, after)):
        host.catalogue.add(*map(named, names))
        host.load()
    read_names = asyncio.run(all_pages(first, second))
    assert read_names == sorted(set(read_names))
    assert before & after <= set(read_names) if len(before) > size else set(read_names) == before
